"""
GitHub Copilot CLI's hooks.

`PreToolUse` asks and can deny; `PostToolUse` and `PostToolUseFailure` bring the outcome of one call, and warnings;
`PermissionRequest`, which comes after `PreToolUse` where a call needs a permission, can end a run. Nothing arms:
`PreCompact` comes before a compaction that goes on in the background, and may fail.

Facts that matter: payloads hold no call id. A call that `PreToolUse` denied asks for no permission, so that a run which
has ended lets its shell calls pass, as a command that only ends: whoever else allows it, theirs is not run. Other tools
need no permission, or none that must be asked for: their calls stay denied. Tools come under the names that Claude
Code has for them.
"""

from __future__ import annotations

from wheelspin.core.events import Action, ToolCall
from wheelspin.hooks.base import Hook, HookEvent, advice_of
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
_OF_A_CALL = ("PreToolUse", "PostToolUse", "PostToolUseFailure")
_NOTHING = {"command": "exit 1", "description": "wheelspin: this run has ended"}


class CopilotCli(Hook):
    """The hook of GitHub Copilot CLI."""

    __slots__ = ()

    name = "copilot-cli"
    tools = COPILOT_TOOLS

    def event(self, payload: Mapping[str, Any]) -> HookEvent | None:
        """Give what happened."""
        name = payload.get("hook_event_name", payload.get("hookName"))
        agent = payload.get("agent_id")
        session = agent or payload.get("session_id", payload.get("sessionId"))
        if not isinstance(name, str) or not isinstance(session, str):
            return None
        key = Key(self.name, session, session if agent else "")
        if name in {"PermissionRequest", "permissionRequest"}:
            return HookEvent("checkpoint", key, name)
        if name == "UserPromptSubmit":
            return None if text_in(payload.get("prompt")).startswith(NO_PROMPT) else HookEvent("prompt", key, name)
        tool = payload.get("tool_name")
        if name not in _OF_A_CALL or not isinstance(tool, str) or "tool_input" not in payload:
            return None
        call = _call(tool, payload["tool_input"], key)
        if name == "PreToolUse":
            return HookEvent("before", key, name, ((call, None),))
        if name == "PostToolUse":
            return HookEvent("after", key, name, ((call, _outcome(call, payload.get("tool_result"))),))
        error = payload.get("error")
        return HookEvent(
            "after", key, name, ((call, None if error is None else outcome_of(call.tool, error, "failure")),)
        )

    def reply(self, event: HookEvent, verdicts: list[Verdict]) -> Mapping[str, Any] | None:
        """Give the reply: a denial, an advice, or the end of the run."""
        ending = next((verdict for verdict in verdicts if verdict.action is Action.ABORT), None)
        if event.kind == "checkpoint":
            if ending is None:
                return None
            return {"behavior": "deny", "message": f"wheelspin: {ending.advice}", "interrupt": True}
        if event.kind == "before":
            stopped = next((verdict for verdict in verdicts if verdict.stops), None)
            if stopped is None:
                return None
            if ending is not None and event.calls[0][0].tool == "bash":
                return {"modifiedArgs": _NOTHING}
            return {"permissionDecision": "deny", "permissionDecisionReason": stopped.advice}
        advice = advice_of(verdicts)
        return {"additionalContext": advice} if advice else None


def _call(tool: str, arguments: object, key: Key) -> ToolCall:
    """Give a call, under the name that the model knows the tool by."""
    name = "apply_patch" if tool == "Edit" and isinstance(arguments, str) else _NAMES.get(tool, tool)
    return ToolCall(name, arguments, session_id=key.session, agent_id=key.agent or None)


def _outcome(call: ToolCall, result: Any) -> Outcome | None:
    """Give an outcome; `None` where the host does not tell it."""
    if not isinstance(result, dict):
        return None
    text = result.get("text_result_for_llm")
    return outcome_of(call.tool, text if isinstance(text, str) else result, result.get("result_type"))


HOOK = CopilotCli()
