"""
The process that a command-line agent starts for each of its events: it reads a payload and writes a reply.

It holds what is the same for every agent, keeps a time limit, and fails open: whatever goes wrong, the call is let
through, and one line on stderr and in the log says why.
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
"""Argument that makes the process only check that it could answer."""
LIMIT = 5.0
"""Seconds after which a hook gives up and lets the call through."""
_LONGEST_LOG = 1 << 20


def opened(hook: Hook, clock: Any = time.time) -> tuple[Store, Sessions]:
    """
    Open the user's store and the sessions of one agent in it, with the user's settings.

    Args:
        hook: The hook of the agent.
        clock: Returns the time in seconds since the epoch.

    Returns:
        The store, which the caller closes, and the sessions.

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
    Answer one payload, with the user's store and settings.

    Args:
        hook: The hook of the agent.
        payload: What the agent sent.
        clock: Returns the time in seconds since the epoch.

    Returns:
        The reply; `None` if there is nothing to reply.

    Raises:
        StoreError: The store cannot be read or written.
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
    Check everything that a hook needs to answer an event, for `wheelspin doctor`.

    Raises:
        StoreError: The store cannot be read or written.
        ConfigError: The user's configuration has faults.
    """
    store, _ = opened(hook)
    try:
        store.check()
    finally:
        store.close()


def main(arguments: list[str] | None = None) -> int:
    """
    Run as the hook of a command-line agent.

    Args:
        arguments: The agent's name; its payload is read from stdin. With `--check`, nothing is read, and `ok` is
            written if the hook could answer. The arguments of the process if left out.

    Returns:
        Always 0: whatever goes wrong, the call is let through.
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
        _log(_message(problem), to_file=options != [CHECK])
    return 0


def _limit(seconds: float) -> None:
    """End the process quietly when the time is over."""
    import signal

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _over)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _over(*_: object) -> NoReturn:
    _log(f"the hook took longer than {LIMIT:.0f} seconds; the call was let through")
    os._exit(0)


def _message(problem: Exception) -> str:
    """Return what went wrong; of unexpected errors only the type, because their text may hold secrets."""
    from wheelspin.errors import WheelspinError

    if isinstance(problem, WheelspinError):
        return problem.diagnostics()
    return f"the hook crashed ({type(problem).__name__}); the call was let through"


def _log(text: str, *, to_file: bool = True) -> None:
    """Write a line to stderr and to the log; ignore a log that cannot be written."""
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
