"""Compare Wheelspin with its peers: `python -m evaluation --help`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from evaluation import runs as recordings
from evaluation.measure import SETTINGS, Candidate, candidates, measure
from evaluation.peers import PEERS
from evaluation.runs import Run, recorded
from evaluation.synthetic import synthetic
from evaluation.tables import about, show, write

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "evaluation.md"
ENVIRONMENTS = ROOT / ".venv-eval"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a table for each set of runs, and with `--write` update the documentation."""
    options = _options(arguments)
    chosen = [each for each in candidates(options.environments) if _is_wanted(each, options)]
    progress = Console(stderr=True, highlight=False, soft_wrap=True)
    for name, runs in _sets():
        rows = []
        for candidate in chosen:
            with progress.status(f"{name} runs: {candidate.name}"):
                rows.append(measure(candidate, runs))
            if rows[-1].details:
                progress.print(rows[-1].details, markup=False)
        show(f"{name} runs: {about(runs)}", rows)
        if options.write:
            write(PAGE, name, runs, rows, datetime.now(tz=UTC).date())
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m evaluation", description="Compare Wheelspin with its peers.")
    names = [*SETTINGS, *(peer.name for peer in PEERS)]
    parser.add_argument(
        "--only",
        action="append",
        choices=names,
        metavar="NAME",
        help=f"measure only this detector (repeatable): {', '.join(names)}",
    )
    parser.add_argument("--no-peers", action="store_true", help="measure Wheelspin alone")
    parser.add_argument("--write", action="store_true", help="write the tables into docs/evaluation.md")
    parser.add_argument(
        "--environments",
        type=Path,
        default=ENVIRONMENTS,
        metavar="DIR",
        help="folder with the environments of the peers, which are created if missing (default: .venv-eval)",
    )
    options = parser.parse_args(arguments)
    if options.write and (options.only or options.no_peers):
        parser.error("--write needs all rows of the tables: omit --only and --no-peers")
    if options.no_peers and options.only and not set(options.only) & set(SETTINGS):
        parser.error("--no-peers excludes everything that --only names")
    return options


def _is_wanted(candidate: Candidate, options: argparse.Namespace) -> bool:
    if options.no_peers and candidate.name not in SETTINGS:
        return False
    return not options.only or candidate.name in options.only


def _sets() -> Iterator[tuple[str, list[Run]]]:
    if recordings.RECORDED.exists():
        yield "recorded", list(recorded(recordings.RECORDED))
    else:
        print("The recorded runs were not found, so only the synthetic ones are measured.")
    yield "synthetic", list(synthetic())


if __name__ == "__main__":
    sys.exit(main())
