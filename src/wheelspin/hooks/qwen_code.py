"""
Qwen Code's hooks.

`PreToolUse` asks before a call and can deny it. `PostToolBatch` brings the outcomes, including those of unknown tools
and invalid arguments; its reply adds a warning to the last of them. `PostCompact` arrives only after a successful
compaction, and arms the post-compaction guard. `UserPromptSubmit` brings the user's prompt, and arrives again with an
empty prompt before each request that carries results: the only place where a run can be ended.

Facts that matter: `continue: false` at a tool event drops the result and lets the run continue. The id of a call in
`PostToolBatch` is the model's, which `PreToolUse` has as `tool_call_id`. Qwen Code itself ends a run at the fifth
equal call in a row, hence the preset.
"""

from __future__ import annotations

from wheelspin.core.events import ToolCall
from wheelspin.hooks.base import Hook, HookEvent, HookEventKind, advice_of
from wheelspin.stores.base import Key
from wheelspin.wire.gemini import arguments_of
from wheelspin.wire.qwen_code import QWEN_TOOLS, outcome_of
from wheelspin.wire.texts import text_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wheelspin.core.events import Outcome, Verdict

__all__ = ["HOOK"]


class QwenCode(Hook):
    """The hook of Qwen Code."""

    __slots__ = ()

    name = "qwen-code"
    tools = QWEN_TOOLS
    preset = "early"

    def event(self, payload: Mapping[str, Any]) -> HookEvent | None:
        """Return the event in a payload."""
        name = payload.get("hook_event_name")
        session = payload.get("session_id")
        if not isinstance(name, str) or not isinstance(session, str):
            return None
        key = Key(self.name, session, text_in(payload.get("agent_id")))
        if name == "PreToolUse":
            return HookEvent(HookEventKind.BEFORE, key, name, ((_call(payload, payload, key), None),))
        if name == "PostToolBatch":
            items = payload.get("tool_calls")
            listed = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
            calls = [_call(item, payload, key) for item in listed]
            outcomes = [_outcome(call, item) for call, item in zip(calls, listed, strict=True)]
            return HookEvent(HookEventKind.AFTER, key, name, tuple(zip(calls, outcomes, strict=True)))
        if name == "PostCompact":
            return HookEvent(HookEventKind.COMPACTED, key, name)
        if name == "UserPromptSubmit" and isinstance(payload.get("prompt"), str):
            kind = HookEventKind.PROMPT if payload["prompt"] else HookEventKind.CHECKPOINT
            return HookEvent(kind, key, name, run_id=_run(payload))
        return None

    def reply(self, event: HookEvent, verdicts: list[Verdict]) -> Mapping[str, Any] | None:
        """Return the reply: a denial, advice, or the end of the run."""
        if event.kind is HookEventKind.CHECKPOINT:
            return {"continue": False, "stopReason": f"wheelspin: {verdicts[0].reason}"} if verdicts else None
        advice = advice_of([verdict for verdict in verdicts if verdict.stops or event.kind is not HookEventKind.BEFORE])
        if not advice:
            return None
        output = {"hookEventName": event.name}
        if event.kind is HookEventKind.BEFORE:
            output |= {"permissionDecision": "deny", "permissionDecisionReason": advice}
        else:
            output["additionalContext"] = advice
        return {"hookSpecificOutput": output}


def _call(item: Mapping[str, Any], payload: Mapping[str, Any], key: Key) -> ToolCall:
    """Return a call; its run is the user's prompt."""
    return ToolCall(
        text_in(item.get("tool_name")),
        arguments_of(item.get("tool_input")),
        id=text_in(item.get("tool_call_id")) or None,
        run_id=_run(payload),
        session_id=key.session,
        agent_id=key.agent or None,
    )


def _run(payload: Mapping[str, Any]) -> str | None:
    return text_in(payload.get("prompt_id")) or None


def _outcome(call: ToolCall, item: Mapping[str, Any]) -> Outcome | None:
    """Return an outcome from what the model is shown and the status of the call."""
    response = item.get("tool_response")
    if not isinstance(response, dict):
        return None
    parts, kind = response.get("response_parts"), text_in(response.get("error_type"))
    return outcome_of(call, parts, text_in(item.get("status")), kind)


HOOK = QwenCode()
