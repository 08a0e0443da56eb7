"""
The process that a host starts for each of its events: stdin to stdout, within a limit.

Here is all that is the same for every host: reading, asking, writing, and failing open. Whatever goes wrong, the
host's call passes, and one line on stderr and in the log says what it was.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn

    from wheelspin.hooks.base import Hook
    from wheelspin.stores.base import Store
    from wheelspin.stores.sessions import Sessions

__all__ = ["CHECK", "answer", "check", "main", "opened"]

CHECK = "--check"
"""The argument with which the process only tries whether it could answer."""
LIMIT = 5.0
"""Seconds after which a hook gives up and lets the call pass."""
_LONGEST_LOG = 1 << 20


def opened(hook: Hook, clock: Any = time.time) -> tuple[Store, Sessions]:
    """
    Give the user's store, which is to be closed, and the sessions of a host in it, under the user's settings.

    Raises:
        ConfigError: The user's configuration has faults.
    """
    from wheelspin.stores import open_store
    from wheelspin.stores.sessions import Sessions
    from wheelspin.userfiles.paths import store_path
    from wheelspin.userfiles.settings_cache import settings_for

    settings = settings_for(hook.name, hook.preset)
    store = open_store(store_path())
    return store, Sessions(store, settings, tools=hook.tools, clock=clock, damaged=_log)


def answer(hook: Hook, payload: Mapping[str, Any], *, clock: Any = time.time) -> Mapping[str, Any] | None:
    """
    Take in one payload, with the user's store and settings.

    Args:
        hook: The host's hook.
        payload: What the host says.
        clock: Gives the time in seconds since the epoch.

    Returns:
        The reply; `None` for nothing.

    Raises:
        StoreError: What is remembered cannot be read or written.
        ConfigError: The user's configuration has faults.
    """
    event = hook.event(payload)
    if event is None:
        return None
    from wheelspin.hooks.base import act

    store, sessions = opened(hook, clock)
    try:
        verdicts = sessions.act(event.key, lambda guard: act(event, guard))
    finally:
        store.close()
    return hook.reply(event, verdicts)


def check(hook: Hook) -> None:
    """
    Do all that comes before the host's own part of an event: for `wheelspin doctor`.

    Raises:
        StoreError: What is remembered cannot be read or written.
        ConfigError: The user's configuration has faults.
    """
    store, _ = opened(hook)
    try:
        store.check()
    finally:
        store.close()


def main(arguments: list[str] | None = None) -> int:
    """
    Run as a host's hook.

    Args:
        arguments: The host's name, whose payload is on stdin; with `--check` nothing is read, and an `ok` is written.

    Returns:
        Always 0: whatever goes wrong, the call passes.
    """
    name, *options = (sys.argv[1:] if arguments is None else arguments) or [""]
    try:
        _limit(LIMIT)
        import json

        from wheelspin.hooks import hook_named

        hook = hook_named(name)
        if options == [CHECK]:
            check(hook)
            sys.stdout.write("ok")
            return 0
        payload = json.loads(sys.stdin.buffer.read())
        reply = answer(hook, payload) if isinstance(payload, dict) else None
        if reply is not None:
            sys.stdout.buffer.write(json.dumps(reply).encode())
            sys.stdout.buffer.flush()
    except Exception as problem:
        _log(_said(problem), to_file=options != [CHECK])
    return 0


def _limit(seconds: float) -> None:
    """Let the process end quietly when its time is over."""
    import signal

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _over)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _over(*_: object) -> NoReturn:
    _log(f"it took longer than {LIMIT:.0f} seconds; the call passed")
    os._exit(0)


def _said(problem: Exception) -> str:
    """Say what went wrong: a text of ours, or the type alone, since the text of another may hold anything."""
    from wheelspin.errors import WheelspinError

    if isinstance(problem, WheelspinError):
        return problem.diagnostics()
    return f"it crashed with {type(problem).__name__}; the call passed"


def _log(text: str, *, to_file: bool = True) -> None:
    """Write a line to stderr and to the log; a log that cannot be written is left alone."""
    print(f"wheelspin: {text}", file=sys.stderr)
    if not to_file:
        return
    from wheelspin.userfiles.paths import log_path

    path = log_path()
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        if os.path.exists(path) and os.path.getsize(path) > _LONGEST_LOG:
            os.replace(path, f"{path}.1")
        with open(path, "a", encoding="utf-8") as log:
            log.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {text}\n")
    except OSError:
        pass
