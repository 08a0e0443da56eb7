"""`wheelspin doctor`: show which agents are guarded, and check that their hooks work."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from wheelspin.cli._table import print_table
from wheelspin.config import load_config
from wheelspin.errors import WheelspinError
from wheelspin.hooks import HOOKS, hook_named
from wheelspin.hooks.launcher import launcher_path, words_for
from wheelspin.hooks.process import CHECK, LIMIT
from wheelspin.installers import installers
from wheelspin.installers.base import Installer, is_installed, scopes_of
from wheelspin.stores import open_store
from wheelspin.userfiles.paths import config_path, log_path, store_path

__all__ = ["add_to"]

_TRIES = 3


def add_to(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = verbs.add_parser(
        "doctor",
        help="show which agents are guarded, and check that their hooks work",
        description=(
            "Show which command-line agents are guarded, and check that their hooks work. The exit code is 1 if there "
            "is a problem."
        ),
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_doctor)


def _doctor(options: argparse.Namespace) -> int:
    around = {"store": _store(), "configuration": _configuration(), "log": _log()}
    problems = [problem for part in around.values() for problem in part.pop("problems")]
    hosts = [_host(installer) for installer in installers()]
    known = tuple(problems)
    for host in hosts:
        problems += [text for text in host.pop("problems") if not any(problem in text for problem in known)]
    if options.json:
        json.dump({"hosts": hosts, **around, "problems": problems}, sys.stdout, indent=2)
        print()
        return int(bool(problems))
    rows = [
        (
            host["host"],
            "yes" if host["present"] else "no",
            ", ".join(host["guarded"]) or "not guarded",
            {True: "yes", False: "no", None: ""}[host["trusted"]],
            "" if host["milliseconds"] is None else f"{host['milliseconds']} ms",
            host["preset"] if host["guarded"] else "",
        )
        for host in hosts
    ]
    print_table(("agent", "installed", "scope", "trusted", "hook latency", "preset"), rows, ())
    print()
    for name, part in around.items():
        print(f"{name}: {part['path']}: {part['state']}")
    for notice in around["configuration"]["notices"]:
        print(f"note: {notice}")
    for problem in problems:
        print(f"problem: {problem}")
    return int(bool(problems))


def _host(installer: Installer) -> dict[str, Any]:
    """Examine one command-line agent."""
    problems, guarded = [], []
    for scope in scopes_of(installer):
        try:
            if is_installed(installer, scope):
                guarded.append(scope)
        except WheelspinError as problem:
            problems.append(problem.diagnostics())
    trusted = all(installer.is_trusted(scope) is not False for scope in guarded)
    asks_for_trust = any(installer.is_trusted(scope) is not None for scope in guarded)
    if not trusted:
        problems.append(f"{installer.title} does not run the hook yet: {' '.join(installer.notes(guarded[0]))}")
    milliseconds, why = _latency(installer.host) if guarded else (None, "")
    if why:
        problems.append(f"the hook of {installer.title} does not answer: {why}")
    return {
        "host": installer.host,
        "present": installer.is_present(),
        "guarded": guarded,
        "trusted": trusted if asks_for_trust else None,
        "milliseconds": milliseconds,
        "preset": hook_named(installer.host).preset,
        "problems": problems,
    }


def _latency(host: str) -> tuple[int | None, str]:
    """Start a hook as its agent does, and return the median time in milliseconds, or what went wrong."""
    fix = f"run `wheelspin install {host}` to write it again"
    if not launcher_path().exists():
        return None, f"{launcher_path()} does not exist; {fix}"
    took = []
    for _ in range(_TRIES):
        began = time.perf_counter()
        try:
            done = subprocess.run(  # noqa: S603 - our own program
                [*words_for(host), CHECK], capture_output=True, text=True, timeout=2 * LIMIT, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as problem:
            return None, f"{type(problem).__name__}; {fix}"
        took.append(time.perf_counter() - began)
        if done.stdout != "ok":
            errors = done.stderr.strip()
            last = errors.rpartition("\n")[2] or "it printed nothing"
            return None, errors if errors.startswith("wheelspin: ") else f"{last}; {fix}"
    return round(1000 * median(took)), ""


def _store() -> dict[str, Any]:
    try:
        store = open_store(store_path())
        try:
            store.check()
            sessions = len({run.key for run in store.runs()})
        finally:
            store.close()
    except WheelspinError as problem:
        return {"path": store_path(), "state": "unusable", "problems": [problem.diagnostics()]}
    state = f"writable, {_counted(sessions, 'session')}"
    return {"path": store_path(), "state": state, "problems": []}


def _configuration() -> dict[str, Any]:
    path = config_path()
    if not Path(path).exists():
        return {"path": path, "state": "not found, the defaults apply", "notices": [], "problems": []}
    try:
        config = load_config(path)
        resolutions = [config.resolve(), *(config.resolve(host) for host in HOOKS if host in config.agents)]
    except WheelspinError as problem:
        return {"path": path, "state": "invalid", "notices": [], "problems": [problem.diagnostics()]}
    notices = dict.fromkeys(notice for resolution in resolutions for notice in resolution.notices)
    return {"path": path, "state": "valid", "notices": list(notices), "problems": []}


def _log() -> dict[str, Any]:
    """Return the state of the log, in which hooks write what went wrong."""
    path = Path(log_path())
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    state = f"{_counted(len(lines), 'line')}, the latest: {lines[-1]}" if lines else "no errors"
    return {"path": str(path), "state": state, "problems": []}


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" + ("" if count == 1 else "s")
