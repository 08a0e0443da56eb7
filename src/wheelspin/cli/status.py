"""`wheelspin status` and `show`: what became of the runs that were guarded lately."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from wheelspin.cli._table import print_table
from wheelspin.errors import ConfigError, Fault
from wheelspin.places import store_path
from wheelspin.store import StoredRun
from wheelspin.stores import open_store

__all__ = ["add_to"]

_SHOWN = 20
_MOST = 10_000


def add_to(verbs: Any) -> None:
    """Add both verbs to the parser."""
    status = verbs.add_parser(
        "status", help="list the runs that were guarded lately, and why they were stopped", description=__doc__
    )
    status.add_argument("--most", type=int, default=_SHOWN, metavar="N", help=f"how many (default: {_SHOWN})")
    status.add_argument("--json", action="store_true", help="print them as JSON")
    status.set_defaults(run=_status)
    show = verbs.add_parser("show", help="print the record of one run", description="Print the record of one run.")
    show.add_argument("run_id", metavar="RUN", help="the run's id, or its session's, or the beginning of one")
    show.add_argument("--json", action="store_true", help="print it as JSON")
    show.set_defaults(run=_show)


def _runs(most: int) -> list[StoredRun]:
    store = open_store(store_path())
    try:
        return store.runs(most)
    finally:
        store.close()


def _status(options: argparse.Namespace) -> int:
    runs = _runs(max(1, options.most))
    if options.json:
        json.dump([_as_dict(run) for run in runs], sys.stdout, indent=2)
        print()
        return 0
    if not runs:
        print("no run was guarded yet: see `wheelspin install --help`")
        return 0
    rows = [
        (
            run.key.host,
            _short(run.record.get("run_id") or run.key.session),
            _ago(run.updated),
            str(run.record["calls"]),
            str(run.record["warnings"]),
            str(run.record["blocks"]),
            run.record["code"] or "",
        )
        for run in runs
    ]
    print_table(("host", "run", "newest call", "calls", "warned", "blocked", "ended by"), rows, ())
    return 0


def _show(options: argparse.Namespace) -> int:
    found = [run for run in _runs(_MOST) if _is_meant(run, options.run_id)]
    if not found:
        hint = "`wheelspin status` lists those that are remembered"
        raise ConfigError(store_path(), [Fault("", f"there is no run {options.run_id!r}", hint=hint)])
    if options.json:
        json.dump([_as_dict(run) for run in found], sys.stdout, indent=2)
        print()
        return 0
    for run in found:
        rows = [(name, str(value)) for name, value in _as_dict(run).items() if value not in {None, ""}]
        print_table(("run", ""), rows, ())
    return 0


def _is_meant(run: StoredRun, given: str) -> bool:
    return any(isinstance(known, str) and known.startswith(given) for known in (run.record["run_id"], run.key.session))


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


def _short(name: str) -> str:
    return name[:8]
