"""
The contract of a hook, and the process that a host starts for each of its events: stdin to stdout, within a limit.

A host has one file in `hooks/` with two pure functions: a payload becomes an event of ours, and what the guard says to
it becomes the reply. Here is all that is the same for every host: reading, asking, writing, and failing open.
Whatever goes wrong, the host's call passes, and one line on stderr and in the log says what it was.
"""

from __future__ import annotations

import os
import sys
import time

from wheelspin.core.events import ALLOW, Action, Value
from wheelspin.core.volatile import TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, NoReturn

    from wheelspin.core.events import Outcome, ToolCall, Verdict
    from wheelspin.core.guard import Guard
    from wheelspin.core.tools import ToolTable
    from wheelspin.store import Key

__all__ = ["Hook", "HookEvent", "act", "advice_of", "answer", "main"]

LIMIT = 5.0
"""Seconds after which a hook gives up and lets the call pass."""
_SWEEP_EVERY = 256
_KEPT = 14 * 24 * 3600.0
"""Seconds for which a session is remembered after its newest event."""
_LONGEST_LOG = 1 << 20


class HookEvent(Value):
    """
    Something that happened in a host.

    Attributes:
        kind: `before`: a call is about to run. `after`: calls have their outcomes. `compacted`: the context was
            shortened. `prompt`: the user spoke.
        key: The session.
        name: The event as the host calls it, for the reply.
        calls: The calls that it is about, each with its outcome, if it has one.
    """

    __slots__ = ("calls", "key", "kind", "name")

    kind: str
    key: Key
    name: str
    calls: tuple[tuple[ToolCall, Outcome | None], ...]

    def __init__(
        self, kind: str, key: Key, name: str = "", calls: tuple[tuple[ToolCall, Outcome | None], ...] = ()
    ) -> None:
        self._fill(kind=kind, key=key, name=name, calls=calls)


class Hook:
    """
    The hook of one host.

    Attributes:
        name: The host's name, in kebab case.
        tools: What is known about its tools.
        preset: What holds where the user's configuration names no preset.
    """

    __slots__ = ()

    name = ""
    tools: ToolTable = TOOLS
    preset = "standard"

    def event(self, payload: Mapping[str, Any]) -> HookEvent | None:
        """Give what happened; `None` for what is of no concern, and for what is not known."""
        raise NotImplementedError

    def reply(self, event: HookEvent, verdicts: list[Verdict]) -> Mapping[str, Any] | None:
        """
        Give the host's reply.

        Args:
            event: What happened.
            verdicts: What the guard says: to a call that is about to run one, to calls with outcomes those that are to
                be told now.

        Returns:
            What is written to stdout as JSON; `None` for nothing, which lets the host go on.
        """
        raise NotImplementedError


def act(event: HookEvent, guard: Guard) -> list[Verdict]:
    """
    Feed an event to a session's guard.

    A warning is decided before the call runs and told with its outcome, in another process as a rule. A call that the
    host never asked about, an unknown tool say, is judged when its outcome comes: what would have been blocked is told.
    """
    if event.kind == "compacted":
        guard.compacted(event.key.session, agent_id=event.key.agent or None)
    elif event.kind == "prompt":
        guard.user_message(event.key.session, agent_id=event.key.agent or None)
    elif event.kind == "before":
        return [guard.before(call) for call, _ in event.calls]
    told = []
    for call, outcome in event.calls if event.kind == "after" else ():
        verdict = guard.asked(call)
        if verdict is None:
            verdict = guard.before(call)
        after = guard.after(call, outcome) if outcome is not None and not verdict.stops else ALLOW
        told.append(after if after.stops else verdict)
    return [verdict for verdict in told if verdict.action is not Action.ALLOW]


def advice_of(verdicts: list[Verdict]) -> str:
    """Give the advice of several verdicts as one text, each once."""
    return "\n".join(dict.fromkeys(verdict.advice for verdict in verdicts if verdict.advice))


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
    from wheelspin.launcher import settings_for
    from wheelspin.places import store_path
    from wheelspin.session import Sessions
    from wheelspin.stores import open_store

    settings = settings_for(hook.name, hook.preset)
    store = open_store(store_path())
    try:
        sessions = Sessions(store, settings, tools=hook.tools, clock=clock, damaged=_log)
        verdicts = sessions.act(event.key, lambda guard: act(event, guard))
        if event.kind == "prompt" and os.getpid() % _SWEEP_EVERY == 0:
            store.sweep(clock() - _KEPT)
    finally:
        store.close()
    return hook.reply(event, verdicts)


def main(arguments: list[str] | None = None) -> int:
    """Run as a host's hook: the host's name is the argument, its payload is on stdin. Always ends with 0."""
    name = (sys.argv[1:] if arguments is None else arguments)[:1]
    try:
        _limit(LIMIT)
        import json

        from wheelspin.hooks import hook_named

        payload = json.loads(sys.stdin.buffer.read())
        reply = answer(hook_named(name[0] if name else ""), payload) if isinstance(payload, dict) else None
        if reply is not None:
            sys.stdout.buffer.write(json.dumps(reply).encode())
            sys.stdout.buffer.flush()
    except Exception as problem:
        _log(_said(problem))
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


def _log(text: str) -> None:
    """Write a line to stderr and to the log; a log that cannot be written is left alone."""
    print(f"wheelspin: {text}", file=sys.stderr)
    from wheelspin.places import log_path

    path = log_path()
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        if os.path.exists(path) and os.path.getsize(path) > _LONGEST_LOG:
            os.replace(path, f"{path}.1")
        with open(path, "a", encoding="utf-8") as log:
            log.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S')} {text}\n")
    except OSError:
        pass
