"""`wheelspin replay`: play recorded sessions through the guard, and report what it would have done."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from wheelspin.cli._options import add_config_to, config_of, sides_of
from wheelspin.cli._sessions import add_sessions_to, exit_code, form_of, play_each
from wheelspin.core.presets import NUMBERS
from wheelspin.errors import ConfigError, Fault
from wheelspin.replay.compare import Comparison
from wheelspin.replay.engine import ReplayedEvent
from wheelspin.replay.recording import Recording
from wheelspin.replay.summary import FileReport, Summary
from wheelspin.transcripts.base import Compacted, ToolCalled, ToolReturned

__all__ = ["add_to"]

_TYPES = {ToolCalled: "call", ToolReturned: "result", Compacted: "compaction"}


def add_to(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = verbs.add_parser(
        "replay",
        help="play recorded sessions through the guard",
        description=(
            "Play recorded sessions through the guard, and report where it would have warned, blocked calls and ended "
            "runs, and what that would have saved. With --compare, show two configurations side by side, and each run "
            "in which they differ."
        ),
    )
    add_sessions_to(parser)
    add_config_to(parser, default="the built-in defaults, with the detectors enabled")
    parser.add_argument(
        "--compare",
        metavar="FILE|PRESET",
        help=f"compare with a second configuration file or preset ({', '.join(NUMBERS)})",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print the report as JSON")
    form.add_argument(
        "--verdicts", action="store_true", help="print one JSON line for each call, result and compaction"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Play the files and print the report."""
    if options.compare is not None:
        return _compare(options)
    config, agent = config_of(options)
    summary = Summary(notices=config.resolve(agent).notices if config else ())

    def play(recording: Recording) -> FileReport:
        replay = recording.replay(config, agent=agent)
        if options.verdicts:
            for replayed in recording.play(replay):
                _write_verdict(recording.path, replayed)
        else:
            recording.scan(replay)
        return recording.report(replay, config)

    play_each(options, summary, play)
    if options.verdicts:
        _report_unread(summary)
    elif options.json or summary.files or not summary.failures:
        form_of(options).write(summary, sys.stdout)
    return exit_code(summary)


def _compare(options: argparse.Namespace) -> int:
    if options.verdicts:
        fault = Fault("", "it cannot be combined with `--verdicts`", hint="leave out one of them")
        raise ConfigError("--compare", [fault])
    comparison = Comparison(*sides_of(options))
    summary = comparison.summary
    play_each(options, summary, comparison.play)
    if options.json or summary.files or not summary.failures:
        form_of(options).write_comparison(comparison, sys.stdout)
    return exit_code(summary)


def _report_unread(summary: Summary) -> None:
    for file in summary.files:
        for line, what in file.problems[:1]:
            places = "1 place" if file.problem_count == 1 else f"{file.problem_count:,} places"
            first = f"the first at {file.unit} {line}: {what}"
            print(f"wheelspin: {file.path}: {places} could not be read, {first}", file=sys.stderr)


def _write_verdict(path: Path, replayed: ReplayedEvent) -> None:
    kind = _TYPES.get(type(replayed.event))
    if kind is None:
        return
    verdict, finding = replayed.verdict, replayed.verdict.finding
    line = {
        "file": str(path),
        "line": replayed.event.line,
        "type": kind,
        "action": verdict.due,
        "level": finding.level if finding else None,
        "detector": finding.detector if finding else None,
        "count": finding.count if finding else None,
        "code": verdict.code,
        "reason": "the call was blocked, so its result is skipped" if replayed.skipped else verdict.reason or None,
    }
    print(json.dumps(line, ensure_ascii=False))
