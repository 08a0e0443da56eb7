"""`wheelspin replay`: recorded sessions through the guard, as if it had been there."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from wheelspin.cli._options import add_config_to, config_of
from wheelspin.config import Config
from wheelspin.core.settings import Settings
from wheelspin.errors import ConfigError, TranscriptError
from wheelspin.replay import Judged, Replay
from wheelspin.report import FileReport, Summary
from wheelspin.reports import report_named
from wheelspin.source import Source
from wheelspin.transcript import Answered, Asked, Compacted
from wheelspin.transcripts import READERS, reader_for

__all__ = ["add_to"]

_SUFFIXES = (".jsonl", ".json", ".traj", ".jsonl.gz", ".json.gz", ".traj.gz")
_LONG_WORK = 8 << 20
"""Bytes from which on a progress bar is shown."""
_BAD_INPUT = 2
_TYPES = {Asked: "call", Answered: "result", Compacted: "compaction"}


def add_to(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = verbs.add_parser(
        "replay",
        help="play recorded sessions through the guard",
        description=(
            "Play recorded sessions through the guard as if it had been there: where it would have warned, blocked and "
            "ended a run, and what that would have saved. Without --config the detectors are on, at their defaults."
        ),
    )
    names = [reader.name for reader in READERS]
    parser.add_argument("paths", nargs="+", type=Path, metavar="FILE|DIR", help="sessions, or folders of them")
    add_config_to(parser, without="the defaults, switched on")
    parser.add_argument(
        "--format", choices=names, metavar="NAME", help=f"the format, if it is known: {', '.join(names)}"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="write the report as JSON")
    form.add_argument(
        "--verdicts", action="store_true", help="write one JSON line for each call, result and compaction"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Play the files, and write the report."""
    config, agent = config_of(options)
    summary = Summary(notices=config.resolve(agent).notices if config else ())
    files = list(_files(options.paths, summary))
    with _progress(files) as moved:
        for path, is_named in files:
            try:
                report = _play(path, config, agent, options, moved(path))
            except TranscriptError as problem:
                if is_named:
                    summary.failures.append(problem.diagnostics())
                else:
                    summary.passed_over.append(path)
            else:
                summary.files.append(report)
    if options.verdicts:
        _tell_unread(summary)
    elif options.json or summary.files or not summary.failures:
        report_named("plain_json" if options.json else "terminal")(summary, sys.stdout)
    for failure in summary.failures:
        print(f"wheelspin: {failure}", file=sys.stderr)
    return _BAD_INPUT if summary.failures else 0


def _files(paths: list[Path], summary: Summary) -> Iterator[tuple[Path, bool]]:
    """Give the files to play, and whether each was named or found in a folder."""
    for path in paths:
        if not path.is_dir():
            yield path, True
            continue
        found = sorted(file for file in path.rglob("*") if file.is_file() and file.name.endswith(_SUFFIXES))
        if not found:
            problem = TranscriptError(
                str(path), "there is no session in this folder", f"Sessions end in {', '.join(_SUFFIXES)}."
            )
            summary.failures.append(problem.diagnostics())
        for file in found:
            yield file, False


def _play(
    path: Path,
    config: Config | None,
    agent: str | None,
    options: argparse.Namespace,
    moved: Callable[[int], object] | None,
) -> FileReport:
    source = Source(path, moved)
    reader = reader_for(source, options.format)
    is_own_log = reader.name == "events"
    settings = Settings() if is_own_log else Settings(enabled=True)
    replay = Replay(config, agent=agent, settings=settings, tools=reader.tools)
    try:
        if options.verdicts:
            for judged in replay.play(reader.read(source)):
                _write_verdict(path, judged)
        else:
            replay.scan(reader.read(source))
    except ConfigError as problem:
        raise TranscriptError(
            str(path), f"its configuration is wrong: {problem.diagnostics()}", "Mend that line."
        ) from None
    notices = list(replay.notices if config is None else ())
    if config is None and is_own_log and not replay.is_configured:
        notices.append("it holds no configuration: the detectors are off, as they are by default; see `--config`")
    if not replay.runs:
        notices.append("there is no tool call in it")
    return FileReport(
        path, reader.title, replay.runs, reader.place, source.problems, source.problem_count, tuple(notices)
    )


def _tell_unread(summary: Summary) -> None:
    for file in summary.files:
        for line, what in file.problems[:1]:
            many = "1 place was not read" if file.problem_count == 1 else f"{file.problem_count:,} places were not read"
            first = f"the first is {file.place} {line}: {what}"
            print(f"wheelspin: {file.path}: {many}, {first}", file=sys.stderr)


def _write_verdict(path: Path, judged: Judged) -> None:
    kind = _TYPES.get(type(judged.event))
    if kind is None:
        return
    verdict, finding = judged.verdict, judged.verdict.finding
    line = {
        "file": str(path),
        "line": judged.event.line,
        "type": kind,
        "action": verdict.action,
        "level": finding.level if finding else None,
        "detector": finding.detector if finding else None,
        "count": finding.count if finding else None,
        "code": verdict.code,
        "reason": "the call was blocked, so its result is skipped" if judged.skipped else verdict.reason or None,
    }
    print(json.dumps(line, ensure_ascii=False))


@contextmanager
def _progress(files: list[tuple[Path, bool]]) -> Iterator[Callable[[Path], Callable[[int], object] | None]]:
    """Show a bar on the terminal while the work is long."""
    sizes = {path: path.stat().st_size for path, _ in files if path.is_file()}
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
