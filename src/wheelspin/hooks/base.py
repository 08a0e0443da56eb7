"""
The contract of a hook, which connects a command-line agent to the guard.

Each agent has one file in `hooks/` with two pure functions: one turns a payload into a `HookEvent`, the other turns
the verdicts on that event into a reply.
"""

from __future__ import annotations

from enum import StrEnum

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

__all__ = ["Hook", "HookEvent", "HookEventKind", "act", "advice_of"]


class HookEventKind(StrEnum):
    """What happened in a command-line agent."""

    BEFORE = "before"
    """Calls are about to run."""
    AFTER = "after"
    """Calls have their outcomes."""
    COMPACTED = "compacted"
    """The context was shortened."""
    PROMPT = "prompt"
    """The user sent a message."""
    CHECKPOINT = "checkpoint"
    """Nothing happened, but the agent can end a run here."""


class HookEvent(Value):
    """
    Something that happened in a command-line agent.

    Attributes:
        kind: What happened.
        key: The session.
        name: The agent's own name for the event, which some replies repeat.
        calls: The calls concerned, each with its outcome if it has one.
        run_id: Id of the run that a checkpoint or a prompt belongs to, if the agent provides it.
    """

    __slots__ = ("calls", "key", "kind", "name", "run_id")

    kind: HookEventKind
    key: Key
    name: str
    calls: tuple[tuple[ToolCall, Outcome | None], ...]
    run_id: str | None

    def __init__(
        self,
        kind: HookEventKind,
        key: Key,
        name: str = "",
        calls: tuple[tuple[ToolCall, Outcome | None], ...] = (),
        run_id: str | None = None,
    ) -> None:
        self._fill(kind=kind, key=key, name=name, calls=calls, run_id=run_id)


class Hook:
    """
    The hook of one command-line agent.

    Attributes:
        name: Name of the agent, in kebab case.
        tools: What is known about its tools.
        preset: Preset used if the user's configuration names none.
    """

    __slots__ = ()

    name = ""
    tools: ToolTable = TOOLS
    preset = "standard"

    def event(self, payload: Mapping[str, Any]) -> HookEvent | None:
        """Return the event in a payload; `None` if the payload is irrelevant or unknown."""
        raise NotImplementedError

    def reply(self, event: HookEvent, verdicts: list[Verdict]) -> Mapping[str, Any] | None:
        """
        Return the reply to an event.

        Args:
            event: What happened.
            verdicts: The guard's verdicts: before calls run, one for each of them; after calls, those that have to be
                reported now; at a checkpoint, the one that ended the run, if any.

        Returns:
            What to write to stdout as JSON; `None` to write nothing, which lets the agent continue.
        """
        raise NotImplementedError


def act(event: HookEvent, guard: Guard) -> list[Verdict]:
    """
    Feed an event to the guard of its session, and return the verdicts that the reply has to carry.

    A warning is decided before its call runs and delivered with the outcome, usually by another process. A call that
    the hook was never asked about, such as one of an unknown tool, is judged when its outcome arrives; if it would have
    been blocked, that is reported then. If two hooks of Wheelspin run for one event, because two agents share their
    settings, the call is counted once, by its id. A prompt in the middle of a run unblocks what was blocked in it,
    because the user has stepped in.
    """
    session, agent = event.key.session, event.key.agent or None
    match event.kind:
        case HookEventKind.BEFORE:
            return [(guard.asked(call) if call.id else None) or guard.before(call) for call, _ in event.calls]
        case HookEventKind.AFTER:
            verdicts = [_verdict_after(call, outcome, guard) for call, outcome in event.calls]
            return [verdict for verdict in verdicts if verdict.action is not Action.ALLOW]
        case HookEventKind.COMPACTED:
            guard.compacted(session, agent_id=agent)
            return []
        case HookEventKind.PROMPT:
            if event.run_id is None:
                guard.user_message(session, agent_id=agent)
            else:
                guard.allow(event.run_id, session, agent_id=agent, by="a prompt")
            return []
        case HookEventKind.CHECKPOINT:
            ending = guard.ending(event.run_id, session, agent_id=agent)
            return [] if ending is None else [ending]


def _verdict_after(call: ToolCall, outcome: Outcome | None, guard: Guard) -> Verdict:
    """Return the verdict to report with the outcome of a call."""
    asked = guard.asked(call)
    if asked is not None and asked.stops:
        return ALLOW
    verdict = asked or guard.ending(call.run_id, call.session_id, agent_id=call.agent_id) or guard.before(call)
    if outcome is None or verdict.stops:
        return verdict
    after = guard.after(call, outcome)
    return after if after.stops else verdict


def advice_of(verdicts: list[Verdict]) -> str:
    """Return the advice of several verdicts as one text, without duplicates."""
    return "\n".join(dict.fromkeys(verdict.advice for verdict in verdicts if verdict.advice))
