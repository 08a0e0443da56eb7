"""
The contract of a hook: how what happens in a command-line agent reaches the guard, and what the guard says the agent.

A host has one file in `hooks/` with two pure functions: a payload becomes an event of ours, and the verdicts on it
become the reply.
"""

from __future__ import annotations

from wheelspin.core.events import ALLOW, Action, Value
from wheelspin.core.known_tools import TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wheelspin.core.events import Outcome, ToolCall, Verdict
    from wheelspin.core.guard import Guard
    from wheelspin.core.tools import ToolTable
    from wheelspin.stores.base import Key

__all__ = ["Hook", "HookEvent", "act", "advice_of"]


class HookEvent(Value):
    """
    Something that happened in a host.

    Attributes:
        kind: `before`: a call is about to run. `after`: calls have their outcomes. `compacted`: the context was
            shortened. `prompt`: the user spoke. `checkpoint`: nothing happened, but here the host can end a run.
        key: The session.
        name: The event as the host calls it, for the reply.
        calls: The calls that it is about, each with its outcome, if it has one.
        run_id: The run that a checkpoint or a prompt is of, where the host names it.
    """

    __slots__ = ("calls", "key", "kind", "name", "run_id")

    kind: str
    key: Key
    name: str
    calls: tuple[tuple[ToolCall, Outcome | None], ...]
    run_id: str | None

    def __init__(
        self,
        kind: str,
        key: Key,
        name: str = "",
        calls: tuple[tuple[ToolCall, Outcome | None], ...] = (),
        run_id: str | None = None,
    ) -> None:
        self._fill(kind=kind, key=key, name=name, calls=calls, run_id=run_id)


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
                be told now, at a checkpoint the one that ended the run.

        Returns:
            What is written to stdout as JSON; `None` for nothing, which lets the host go on.
        """
        raise NotImplementedError


def act(event: HookEvent, guard: Guard) -> list[Verdict]:
    """
    Feed an event to a session's guard.

    A warning is decided before the call runs and told with its outcome, in another process as a rule. A call that the
    host never asked about, an unknown tool say, is judged when its outcome comes: what would have been blocked is told.
    Where two hooks of ours run for one event, since two hosts share their settings, the call counts once by its id.
    A prompt in the middle of a run that the host names frees what is blocked in it: the user has spoken.
    """
    session, agent = event.key.session, event.key.agent or None
    if event.kind == "compacted":
        guard.compacted(session, agent_id=agent)
    elif event.kind == "prompt" and event.run_id is not None:
        guard.allow(event.run_id, session, agent_id=agent, by="a prompt")
    elif event.kind == "prompt":
        guard.user_message(session, agent_id=agent)
    elif event.kind == "checkpoint":
        ending = guard.ending(event.run_id, session, agent_id=agent)
        return [] if ending is None else [ending]
    elif event.kind == "before":
        return [(guard.asked(call) if call.id else None) or guard.before(call) for call, _ in event.calls]
    elif event.kind == "after":
        told = [_told(call, outcome, guard) for call, outcome in event.calls]
        return [verdict for verdict in told if verdict.action is not Action.ALLOW]
    return []


def _told(call: ToolCall, outcome: Outcome | None, guard: Guard) -> Verdict:
    """Give what is to be told with the outcome of a call."""
    asked = guard.asked(call)
    if asked is not None and asked.stops:
        return ALLOW
    verdict = asked or guard.ending(call.run_id, call.session_id, agent_id=call.agent_id) or guard.before(call)
    if outcome is None or verdict.stops:
        return verdict
    after = guard.after(call, outcome)
    return after if after.stops else verdict


def advice_of(verdicts: list[Verdict]) -> str:
    """Give the advice of several verdicts as one text, each once."""
    return "\n".join(dict.fromkeys(verdict.advice for verdict in verdicts if verdict.advice))
