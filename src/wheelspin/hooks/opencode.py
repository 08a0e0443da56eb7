"""
opencode's hook, called by the plugin that Wheelspin installs.

opencode does not run commands for its events, so a plugin (`installers/opencode.js`) starts this hook. Its payloads
have the `event`, the `session`, the `run` (the user's message) and the `turn` (the message that the model is
answering); those of a call also have its id (`call`), `tool`, `arguments`, and `result` or `error`. The reply has
`advice`, which replaces a call that is about to run or is added to the outcome of one, and `abort`, which says
whether to end the run.

Facts that matter: a failed call has an error and no result. Each sub-agent is a session of its own.
"""

from __future__ import annotations

from wheelspin.core.events import Action, Outcome, ToolCall
from wheelspin.hooks.base import Hook, HookEvent, HookEventKind, advice_of
from wheelspin.stores.base import Key
from wheelspin.wire.opencode import OPENCODE_TOOLS, failure, outcome_of, requested
from wheelspin.wire.texts import text_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wheelspin.core.events import Verdict

__all__ = ["HOOK"]

_KINDS = {"compacted": HookEventKind.COMPACTED, "prompt": HookEventKind.PROMPT}
"""The events that have no calls."""


class OpenCode(Hook):
    """The hook of opencode."""

    __slots__ = ()

    name = "opencode"
    tools = OPENCODE_TOOLS

    def event(self, payload: Mapping[str, Any]) -> HookEvent | None:
        """Return the event in a payload."""
        name, session = payload.get("event"), payload.get("session")
        if not isinstance(name, str) or not isinstance(session, str):
            return None
        key = Key(self.name, session, "")
        if name == "before":
            return HookEvent(HookEventKind.BEFORE, key, name, ((_call(payload, key), None),))
        if name == "after":
            call = _call(payload, key)
            return HookEvent(HookEventKind.AFTER, key, name, ((call, _outcome(payload)),))
        kind = _KINDS.get(name)
        return None if kind is None else HookEvent(kind, key, name)

    def reply(self, event: HookEvent, verdicts: list[Verdict]) -> Mapping[str, Any] | None:
        """Return the reply: the advice for the model, and whether the run ends."""
        relevant = [verdict for verdict in verdicts if verdict.stops or event.kind is not HookEventKind.BEFORE]
        advice = advice_of(relevant)
        if not advice:
            return None
        return {"advice": advice, "abort": any(verdict.action is Action.ABORT for verdict in relevant)}


def _call(payload: Mapping[str, Any], key: Key) -> ToolCall:
    tool, arguments = requested(payload.get("tool"), payload.get("arguments"))
    return ToolCall(
        tool,
        arguments,
        id=text_in(payload.get("call")) or None,
        turn_id=text_in(payload.get("turn")) or None,
        run_id=text_in(payload.get("run")) or None,
        session_id=key.session,
    )


def _outcome(payload: Mapping[str, Any]) -> Outcome:
    """Return the outcome of a call from its result or error."""
    error, result = payload.get("error"), payload.get("result")
    if isinstance(error, str):
        return failure(error)
    return outcome_of(payload.get("tool"), result) if isinstance(result, dict) else Outcome.missing()


HOOK = OpenCode()
