"""
opencode's hooks, as the plugin that is installed tells of them.

opencode starts no commands: the plugin (`installers/opencode.js`) starts this hook. It tells the `event`, the
`session`, the `run`, which is the user's message, the `turn`, which is what the model answers, and of a call its id
`call`, `tool`, `arguments` and `result` or `error`. The reply is `advice`, which answers a call that is about to run
and is added to what came back from one, and whether to `abort`.

Facts that matter: a call that fails brings its error and no result. Each sub-agent is a session of its own.
"""

from __future__ import annotations

from wheelspin.core.events import Action, Outcome, ToolCall
from wheelspin.hooks.base import Hook, HookEvent, advice_of
from wheelspin.stores.base import Key
from wheelspin.wire.opencode import OPENCODE_TOOLS, failure, outcome_of, requested
from wheelspin.wire.texts import text_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wheelspin.core.events import Verdict

__all__ = ["HOOK"]


class OpenCode(Hook):
    """The hook of opencode."""

    __slots__ = ()

    name = "opencode"
    tools = OPENCODE_TOOLS

    def event(self, payload: Mapping[str, Any]) -> HookEvent | None:
        """Give what happened."""
        name, session = payload.get("event"), payload.get("session")
        if not isinstance(name, str) or not isinstance(session, str):
            return None
        key = Key(self.name, session, "")
        if name == "before":
            return HookEvent("before", key, name, ((_call(payload, key), None),))
        if name == "after":
            call = _call(payload, key)
            return HookEvent("after", key, name, ((call, _outcome(payload)),))
        return HookEvent(name, key, name) if name in {"compacted", "prompt"} else None

    def reply(self, event: HookEvent, verdicts: list[Verdict]) -> Mapping[str, Any] | None:
        """Give the reply: what the model is told, and whether the run ends."""
        said = [verdict for verdict in verdicts if verdict.stops or event.kind != "before"]
        advice = advice_of(said)
        if not advice:
            return None
        return {"advice": advice, "abort": any(verdict.action is Action.ABORT for verdict in said)}


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
    """Give the outcome of a call, from its result or its error."""
    error, result = payload.get("error"), payload.get("result")
    if isinstance(error, str):
        return failure(error)
    return outcome_of(payload.get("tool"), result) if isinstance(result, dict) else Outcome.missing()


HOOK = OpenCode()
