"""`wheelspin allow`: the user says that a run may go on."""

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
"""Digits of a signature that tell it from a run."""


def add_to(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = verbs.add_parser(
        "allow",
        help="let a run go on: what is blocked in it is free again, and counted anew",
        description="Let a run go on: what is blocked in it is free again, and counted anew. It is noted by whom.",
    )
    parser.add_argument(
        "what",
        metavar="RUN|SIGNATURE",
        help="the run's id, or its session's, or the beginning of one; or the signature of one call (`wheelspin show`)",
    )
    parser.set_defaults(run=_allow)


def _allow(options: argparse.Namespace) -> int:
    who = _user()
    runs = runs_named(options.what)
    pairs: list[tuple[StoredRun, str | None]] = [(run, None) for run in runs] or _blocking(options.what)
    if not pairs:
        hint = "`wheelspin status` lists the runs, `wheelspin show RUN` what is blocked in one"
        raise ConfigError(store_path(), [Fault("", f"there is no run and no signature {options.what!r}", hint=hint)])
    for run, signature in pairs:
        _free(run, signature, who)
        what = f"the pattern of {signature}" if signature else "what was blocked in it"
        print(f"{run.key.host} run {run.record['run_id'] or run.key.session}: {what} is free again, by {who}")
    return 0


def _blocking(given: str) -> list[tuple[StoredRun, str | None]]:
    """Give the runs in which a signature is blocked, each with it whole."""
    if len(given) < _SHORTEST:
        return []
    return [
        (run, signature)
        for run in stored_runs()
        for signature in run.record.get("signatures") or ()
        if signature.startswith(given.lower())
    ]


def _free(run: StoredRun, signature: str | None, who: str) -> None:
    if run.key.host not in HOOKS:
        fault = Fault("", f"its host {run.key.host!r} is not known to this version", hint="upgrade Wheelspin")
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
        return "a user without a name"
