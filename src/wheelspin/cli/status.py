"""`wheelspin status` and `show`: list the guarded runs, and show the record of one."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from wheelspin.cli._stored import runs_named, stored_runs
from wheelspin.cli._table import print_table
from wheelspin.errors import ConfigError, Fault
from wheelspin.stores.base import StoredRun
from wheelspin.userfiles.paths import store_path

__all__ = ["add_to"]

_MOST = 20
_SHORT = 8
"""Number of characters of an id that are shown, if they are enough to distinguish it."""
_FIELDS = (
    *("host", "session_id", "run_id", "agent_id", "updated", "calls", "warnings", "blocks", "code", "reason"),
    *("tool", "detector", "count", "threshold", "ended_at_call", "ended_at", "signatures", "allowed_by", "allowed_at"),
)
"""The fields of a record in the order in which they are printed; empty ones are left out."""
_LABELS = {"host": "agent", "agent_id": "sub-agent"}
"""The labels of fields that differ from their names."""


def add_to(verbs: Any) -> None:
    """Add both verbs to the parser."""
    status = verbs.add_parser(
        "status",
        help="list the most recent guarded runs, and why they were ended",
        description="List the most recent guarded runs, with their warnings and blocked calls, and why they ended.",
    )
    status.add_argument(
        "--most", type=int, default=_MOST, metavar="N", help=f"maximum number of runs (default: {_MOST})"
    )
    status.add_argument("--json", action="store_true", help="print JSON")
    status.set_defaults(run=_status)
    show = verbs.add_parser(
        "show",
        help="print the record of a run",
        description="Print the record of a run: its counts, why it was ended, and which calls are blocked.",
    )
    show.add_argument("run_id", metavar="RUN", help="id of a run or session, or the beginning of one")
    show.add_argument("--json", action="store_true", help="print JSON")
    show.set_defaults(run=_show)


def _status(options: argparse.Namespace) -> int:
    runs = stored_runs(max(1, options.most))
    if options.json:
        json.dump([_as_dict(run) for run in runs], sys.stdout, indent=2)
        print()
        return 0
    if not runs:
        print("no runs have been guarded yet; see `wheelspin install --help`")
        return 0
    shorts = _short(runs)
    rows = [
        (
            run.key.host,
            shorts[_id(run)],
            _ago(run.updated),
            str(run.record["calls"]),
            str(run.record["warnings"]),
            str(run.record["blocks"]),
            run.record["code"] or "",
        )
        for run in runs
    ]
    print_table(("agent", "run", "last call", "calls", "warned", "blocked", "ended by"), rows, ())
    return 0


def _show(options: argparse.Namespace) -> int:
    found = runs_named(options.run_id)
    if not found:
        hint = "`wheelspin status` lists the runs in the store"
        raise ConfigError(store_path(), [Fault("", f"there is no run {options.run_id!r}", hint=hint)])
    if options.json:
        json.dump([_as_dict(run) for run in found], sys.stdout, indent=2)
        print()
        return 0
    for run in found:
        fields = _as_dict(run)
        rows = [
            (_LABELS.get(name, name.replace("_", " ")), _printable(name, fields[name]))
            for name in _FIELDS
            if fields.get(name)
        ]
        print_table(("run", _id(run)[:_SHORT]), rows, ())
    return 0


def _printable(name: str, value: Any) -> str:
    if isinstance(value, list):
        return " ".join(value)
    return _time(value) if name.endswith("_at") else str(value)


def _as_dict(run: StoredRun) -> dict[str, Any]:
    return {"host": run.key.host, **run.record, "updated": _time(run.updated)}


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def _ago(seconds: float) -> str:
    passed = max(0, int(time.time() - seconds))
    for unit, name in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if passed >= 2 * unit:
            return f"{passed // unit} {name} ago"
    return "just now"


def _id(run: StoredRun) -> str:
    return str(run.record.get("run_id") or run.key.session)


def _short(runs: list[StoredRun]) -> dict[str, str]:
    """Return the shortest unique beginning of each id, but at least `_SHORT` characters."""
    ids = sorted({_id(run) for run in runs})
    return {
        one: next(one[:size] for size in range(_SHORT, len(one) + _SHORT) if _is_unique(one[:size], one, ids))
        for one in ids
    }


def _is_unique(start: str, one: str, ids: list[str]) -> bool:
    return start == one or not any(other.startswith(start) for other in ids if other != one)
