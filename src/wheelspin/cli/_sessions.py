"""What the commands that play recorded sessions share: finding the files, the progress bar, and unreadable files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from wheelspin.errors import TranscriptError
from wheelspin.replay.recording import Recording
from wheelspin.replay.summary import FileReport, Summary
from wheelspin.reports import Form, form_named
from wheelspin.transcripts import READERS

__all__ = ["add_sessions_to", "exit_code", "form_of", "play_each"]

_SUFFIXES = (".jsonl", ".json", ".traj", ".jsonl.gz", ".json.gz", ".traj.gz")
_LONG_WORK = 8 << 20
"""Total size, in bytes, from which a progress bar is shown."""
_BAD_INPUT = 2


def add_sessions_to(parser: argparse.ArgumentParser) -> None:
    """Add the paths and `--format`."""
    names = [reader.name for reader in READERS]
    parser.add_argument(
        "paths", nargs="+", type=Path, metavar="FILE|DIR", help="session file, or folder to search for sessions"
    )
    parser.add_argument(
        "--format",
        choices=names,
        metavar="NAME",
        help=f"format of the sessions, instead of detecting it: {', '.join(names)}",
    )


def play_each(options: argparse.Namespace, summary: Summary, play: Callable[[Recording], FileReport]) -> None:
    """
    Play the files that the user named, and the sessions in the folders that the user named.

    Args:
        options: The parsed command line.
        summary: Collects the report of each file, and the files that cannot be read.
        play: Plays one file and returns its report.
    """
    files = list(_files(options.paths, summary))
    with _progress(files) as moved:
        for path, is_named in files:
            try:
                file = play(Recording(path, options.format, moved(path)))
            except TranscriptError as problem:
                if is_named:
                    summary.failures.append(problem.diagnostics())
                else:
                    summary.skipped_files.append(path)
            else:
                summary.files.append(file)


def form_of(options: argparse.Namespace) -> Form:
    """Return the form of report that the user asked for."""
    return form_named("plain_json" if options.json else "terminal")


def exit_code(summary: Summary) -> int:
    """Report the files that cannot be read, and return the exit code."""
    for failure in summary.failures:
        print(f"wheelspin: {failure}", file=sys.stderr)
    return _BAD_INPUT if summary.failures else 0


def _files(paths: list[Path], summary: Summary) -> Iterator[tuple[Path, bool]]:
    """Yield the files to play, each with whether the user named it, rather than a folder that contains it."""
    for path in paths:
        if not _holds(path.is_dir):
            yield path, True
            continue
        found = sorted(file for file in path.rglob("*") if file.name.endswith(_SUFFIXES) and _holds(file.is_file))
        if not found:
            problem = TranscriptError(
                str(path), "this folder contains no sessions", f"Session files end in {', '.join(_SUFFIXES)}."
            )
            summary.failures.append(problem.diagnostics())
        for file in found:
            yield file, False


def _holds(question: Callable[[], bool]) -> bool:
    """Answer a question about a path; "no" if the path cannot be accessed, because reading it reports why."""
    try:
        return question()
    except OSError:
        return False


@contextmanager
def _progress(files: list[tuple[Path, bool]]) -> Iterator[Callable[[Path], Callable[[int], object] | None]]:
    """Show a progress bar on the terminal if there is much to read."""
    sizes = {path: path.stat().st_size for path, _ in files if _holds(path.is_file)}
    if sum(sizes.values()) < _LONG_WORK or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("replay", total=sum(sizes.values()))
        done = 0

        def moved(path: Path) -> Callable[[int], object]:
            nonlocal done
            before, done = done, done + sizes.get(path, 0)
            bar.update(task, description=path.name[-40:], completed=before)
            return lambda position: bar.update(task, completed=before + position)

        yield moved
