"""
GitHub Copilot CLI's hooks.

`PreToolUse` asks before a call and can deny it. `PostToolUse` and `PostToolUseFailure` bring the outcome of one call,
and their replies carry warnings. `PermissionRequest`, which follows `PreToolUse` if a call needs permission, can end
a run. Nothing arms the post-compaction guard: `PreCompact` precedes a compaction that runs in the background and may
fail.

Facts that matter: payloads have no call id. Copilot does not ask for permission for a call that `PreToolUse` denied.
Shell calls of an ended run are therefore allowed, but replaced by a command that only exits: the permission request
then ends the run, and if something else has already allowed the call, the model's command still does not run. Other
tools do not ask for permission, so their calls stay denied. Tools have the names that Claude Code uses.
"""

from __future__ import annotations

from wheelspin.core.events import Action, ToolCall
from wheelspin.hooks.base import Hook, HookEvent, HookEventKind, advice_of
from wheelspin.stores.base import Key
from wheelspin.wire.copilot import COPILOT_TOOLS, NO_PROMPT, outcome_of
from wheelspin.wire.texts import text_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wheelspin.core.events import Outcome, Verdict

__all__ = ["HOOK"]

_NAMES = {
    "Agent": "task",
    "AskUserQuestion": "ask_user",
    "Bash": "bash",
    "Edit": "edit",
    "Glob": "glob",
    "Grep": "grep",
    "Read": "view",
    "TodoWrite": "update_todo",
    "WebFetch": "web_fetch",
    "WebSearch": "web_search",
    "Write": "create",
}
_CALL_EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
_NO_OP = {"command": "exit 1", "description": "wheelspin: this run has ended"}


class CopilotCli(Hook):
    """The hook of GitHub Copilot CLI."""

    __slots__ = ()

    name = "copilot-cli"
    tools = COPILOT_TOOLS

    def event(self, payload: Mapping[str, Any]) -> HookEvent | None:
        """Return the event in a payload."""
        name = payload.get("hook_event_name", payload.get("hookName"))
        agent = payload.get("agent_id")
        session = agent or payload.get("session_id", payload.get("sessionId"))
        if not isinstance(name, str) or not isinstance(session, str):
            return None
        key = Key(self.name, session, session if agent else "")
        if name in {"PermissionRequest", "permissionRequest"}:
            return HookEvent(HookEventKind.CHECKPOINT, key, name)
        if name == "UserPromptSubmit":
            return (
                None
                if text_in(payload.get("prompt")).startswith(NO_PROMPT)
                else HookEvent(HookEventKind.PROMPT, key, name)
            )
        tool = payload.get("tool_name")
        if name not in _CALL_EVENTS or not isinstance(tool, str) or "tool_input" not in payload:
            return None
        call = _call(tool, payload["tool_input"], key)
        if name == "PreToolUse":
            return HookEvent(HookEventKind.BEFORE, key, name, ((call, None),))
        if name == "PostToolUse":
            return HookEvent(HookEventKind.AFTER, key, name, ((call, _outcome(call, payload.get("tool_result"))),))
        error = payload.get("error")
        outcome = None if error is None else outcome_of(call.tool, error, "failure")
        return HookEvent(HookEventKind.AFTER, key, name, ((call, outcome),))

    def reply(self, event: HookEvent, verdicts: list[Verdict]) -> Mapping[str, Any] | None:
        """Return the reply: a denial, advice, or the end of the run."""
        ending = next((verdict for verdict in verdicts if verdict.action is Action.ABORT), None)
        if event.kind is HookEventKind.CHECKPOINT:
            if ending is None:
                return None
            return {"behavior": "deny", "message": f"wheelspin: {ending.advice}", "interrupt": True}
        if event.kind is HookEventKind.BEFORE:
            stopped = next((verdict for verdict in verdicts if verdict.stops), None)
            if stopped is None:
                return None
            if ending is not None and event.calls[0][0].tool == "bash":
                return {"modifiedArgs": _NO_OP}
            return {"permissionDecision": "deny", "permissionDecisionReason": stopped.advice}
        advice = advice_of(verdicts)
        return {"additionalContext": advice} if advice else None


def _call(tool: str, arguments: object, key: Key) -> ToolCall:
    """Return a call, with the tool name that the model uses."""
    name = "apply_patch" if tool == "Edit" and isinstance(arguments, str) else _NAMES.get(tool, tool)
    return ToolCall(name, arguments, session_id=key.session, agent_id=key.agent or None)


def _outcome(call: ToolCall, result: Any) -> Outcome | None:
    """Return an outcome; `None` if the payload has none."""
    if not isinstance(result, dict):
        return None
    text = result.get("text_result_for_llm")
    return outcome_of(call.tool, text if isinstance(text, str) else result, result.get("result_type"))


HOOK = CopilotCli()
