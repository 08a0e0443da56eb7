"""`wheelspin explain`: show how the guard judges a trajectory, call by call, or how it compares an outcome."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import Any

from wheelspin.cli._options import add_config_to, config_of
from wheelspin.cli._table import print_table
from wheelspin.core.events import Action, Outcome, Verdict
from wheelspin.core.identifiers import read_json
from wheelspin.core.known_tools import TOOLS
from wheelspin.core.masks import masked_kinds
from wheelspin.core.outcome_reading import comparable
from wheelspin.core.outcome_status import SUCCESSFUL, OutcomeStatus
from wheelspin.core.settings import Settings
from wheelspin.core.status_reading import status_of
from wheelspin.notation import NOTATION, Played, play

__all__ = ["add_to"]


def add_to(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = verbs.add_parser(
        "explain",
        help="show how the guard judges a trajectory, call by call, or how it compares an outcome",
        description=f"{_DESCRIPTION}\n\n{NOTATION}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    subject = parser.add_mutually_exclusive_group(required=True)
    subject.add_argument("trajectory", nargs="?", help="calls in the notation above, such as 'A1*12 | A1*3'")
    subject.add_argument(
        "--outcome", metavar="TEXT", help="output of a tool: show how it is compared and which parts are masked"
    )
    parser.add_argument("--tool", default="tool", metavar="NAME", help="tool that the outcome is from (default: tool)")
    parser.add_argument("--failed", action="store_true", help="the outcome was flagged as an error")
    add_config_to(parser, default="the built-in defaults, with the detectors enabled")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    config, agent = config_of(options)
    settings = config.for_agent(agent) if config else Settings(enabled=True)
    if options.outcome is not None:
        print_table(("outcome", ""), _outcome_rows(options, settings), ())
        return 0
    moves = play(options.trajectory, settings)
    notices = config.resolve(agent).notices if config else ()
    print_table(("call", "move", "verdict", "reason"), _rows(moves, settings), notices)
    return 0


_DESCRIPTION = """\
Show how the guard judges a trajectory, call by call. With --outcome, show how the guard compares an outcome: outcomes
that compare as equal are no progress."""
_STATUSES = {
    OutcomeStatus.SUCCESS: "success",
    OutcomeStatus.MUTATION: "mutation: a success of a tool that is declared to change something",
    OutcomeStatus.FAILURE: "failure",
    OutcomeStatus.OUTAGE: "outage: a service behind the tool is down",
    OutcomeStatus.REFUSAL: "refusal: someone refused the call",
    OutcomeStatus.WAIT: "wait: the work is not finished yet",
}


def _outcome_rows(options: argparse.Namespace, settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield the status of an outcome and how it is compared, as rows of a table."""
    text: object = read_json(options.outcome)
    outcome = Outcome.error(options.outcome) if options.failed else Outcome.result(text)
    tool = TOOLS.extended(hints=dict(settings.tool_hints)).look_up(options.tool, {})
    status = status_of(tool, outcome)
    _, value = comparable(tool, outcome, status)
    if options.failed and isinstance(value, list):
        value = value[1]
    yield "status", _STATUSES[status]
    yield "compared as", _escaped(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    if status in SUCCESSFUL:
        yield "masked", "nothing: a success is compared as it is, except for what `toolHints` declare"
    else:
        yield "masked", ", ".join(masked_kinds(options.outcome)) or "nothing"


def _rows(moves: list[Played], settings: Settings) -> Iterator[tuple[str, str, str, str]]:
    """Yield a row for each move; equal moves in a row that are allowed share one."""
    quiet: list[Played] = []
    for move in moves:
        if quiet and not (_is_quiet(move) and move.token == quiet[-1].token):
            yield _quiet_row(quiet)
            quiet = []
        if _is_quiet(move):
            quiet.append(move)
        else:
            yield from _finding_rows(move, settings)
    if quiet:
        yield _quiet_row(quiet)


def _is_quiet(move: Played) -> bool:
    return move.verdict is not None and move.verdict.finding is None and not (move.after and move.after.stops)


def _quiet_row(moves: list[Played]) -> tuple[str, str, str, str]:
    first, last = moves[0].call, moves[-1].call
    numbers = f"{first}" if first == last else f"{first}-{last}"
    return numbers, _escaped(moves[0].token), "allow", ""


def _finding_rows(move: Played, settings: Settings) -> Iterator[tuple[str, str, str, str]]:
    if move.verdict is None:
        yield "", _escaped(move.token), "", _sign(move.token, settings)
        return
    yield str(move.call), _escaped(move.token), _styled(move.verdict), _why(move.verdict)
    if move.after is not None and move.after.stops:
        yield "", "outcome", _styled(move.after), _why(move.after)


def _sign(token: str, settings: Settings) -> str:
    if token == "/":
        return "a new run: counting starts over"
    if token == "|!":
        return "a failed compaction does not arm the post-compaction guard"
    if settings.enabled is False:
        return "a compaction; the post-compaction guard is off"
    return f"a compaction: the post-compaction guard is armed for {settings.window_size} attempts"


def _why(verdict: Verdict) -> str:
    finding = verdict.finding
    if finding is None:
        return ""
    note = " (warning not repeated yet)" if verdict.action is Action.ALLOW else ""
    return _escaped(f"{finding.detector}: {verdict.reason}{note}")


def _styled(verdict: Verdict) -> str:
    from wheelspin.reports.terminal import STYLES

    style = STYLES.get(verdict.action)
    return f"[{style}]{verdict.action}[/{style}]" if style else str(verdict.action)


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text)
