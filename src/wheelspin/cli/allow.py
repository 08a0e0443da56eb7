"""`wheelspin allow`: let a run continue."""

from __future__ import annotations

import argparse
import getpass
from typing import Any

from wheelspin.cli._stored import runs_named, stored_runs
from wheelspin.errors import ConfigError, Fault
from wheelspin.hooks import HOOKS, hook_named
from wheelspin.hooks.process import opened
from wheelspin.stores.base import StoredRun
from wheelspin.userfiles.paths import store_path

__all__ = ["add_to"]

_SHORTEST = 6
"""Minimum number of digits by which a signature can be named."""


def add_to(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = verbs.add_parser(
        "allow",
        help="let a run continue: unblock its calls and start counting anew",
        description=(
            "Let a run continue: unblock all calls in it, or those with one signature, and start counting them anew. "
            "The record of the run notes who allowed it."
        ),
    )
    parser.add_argument(
        "what",
        metavar="RUN|SIGNATURE",
        help="id of a run or session, or the beginning of one; or the signature of a call, as in `wheelspin show`",
    )
    parser.set_defaults(run=_allow)


def _allow(options: argparse.Namespace) -> int:
    who = _user()
    runs = runs_named(options.what)
    pairs: list[tuple[StoredRun, str | None]] = [(run, None) for run in runs] or _blocking(options.what)
    if not pairs:
        hint = "`wheelspin status` lists the runs, and `wheelspin show RUN` the signatures that are blocked in one"
        raise ConfigError(
            store_path(), [Fault("", f"there is no run or blocked signature {options.what!r}", hint=hint)]
        )
    for run, signature in pairs:
        _unblock(run, signature, who)
        what = f"calls with signature {signature}" if signature else "all calls"
        print(f"{run.key.host} run {run.record['run_id'] or run.key.session}: {what} unblocked by {who}")
    return 0


def _blocking(given: str) -> list[tuple[StoredRun, str | None]]:
    """Return the runs in which a signature is blocked, each with the full signature."""
    if len(given) < _SHORTEST:
        return []
    return [
        (run, signature)
        for run in stored_runs()
        for signature in run.record.get("signatures") or ()
        if signature.startswith(given.lower())
    ]


def _unblock(run: StoredRun, signature: str | None, who: str) -> None:
    if run.key.host not in HOOKS:
        fault = Fault("", f"this version does not know the agent {run.key.host!r}", hint="upgrade Wheelspin")
        raise ConfigError(store_path(), [fault])
    store, sessions = opened(hook_named(run.key.host))
    record = run.record
    try:
        sessions.act(
            run.key,
            lambda guard: guard.allow(
                record["run_id"], record["session_id"], agent_id=record["agent_id"], signature=signature, by=who
            ),
        )
    finally:
        store.close()


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "an unknown user"
