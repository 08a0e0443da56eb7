"""
Claude Code's hooks.

`PreToolUse` asks and can deny; `PostToolBatch` comes once for each message of the model, with all its calls (unknown
tools and bad arguments included), and brings warnings and the end of a run; `PostCompact` arms. Where `PostToolBatch`
is not known, in old versions, `PostToolUse` and `PostToolUseFailure` do what it does, call by call.

Facts that matter: a `continue: false` of `PreToolUse` ends the run only after the tool was executed, unless there is a
denial beside it. `PostToolBatch` does not say which calls failed; a shell command that failed begins with "Exit code".
Cursor, VS Code and Copilot CLI run the hooks in Claude Code's settings, too, without the outcomes of a batch: their
payloads are none of Claude Code's, and pass.
"""

from __future__ import annotations

from wheelspin.core.events import Action, Outcome, ToolCall
from wheelspin.hooks.base import Hook, HookEvent, advice_of
from wheelspin.stores.base import Key
from wheelspin.wire.claude_code import CLAUDE_TOOLS, DENIED, shown_of
from wheelspin.wire.shell import SHELL_TOOLS, shell_outcome
from wheelspin.wire.texts import text_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wheelspin.core.events import Verdict

__all__ = ["HOOK"]

_FAILED = ("<tool_use_error>", "Error: ", "Exit code ")


class ClaudeCode(Hook):
    """The hook of Claude Code."""

    __slots__ = ()

    name = "claude-code"
    tools = CLAUDE_TOOLS

    def event(self, payload: Mapping[str, Any]) -> HookEvent | None:
        """Give what happened."""
        name = payload.get("hook_event_name")
        session = payload.get("session_id")
        if not isinstance(name, str) or not isinstance(session, str) or "cursor_version" in payload:
            return None
        agent = payload.get("agent_id")
        key = Key(self.name, session, agent if isinstance(agent, str) else "")
        if name == "PreToolUse" and "tool_use_id" in payload:
            return HookEvent("before", key, name, ((_call(payload, payload, key), None),))
        if name == "PostToolBatch":
            items = payload.get("tool_calls")
            listed = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
            calls = [_call(item, payload, key) for item in listed]
            outcomes = [_outcome(call, item.get("tool_response")) for call, item in zip(calls, listed, strict=True)]
            return HookEvent("after", key, name, tuple(zip(calls, outcomes, strict=True)))
        if name == "PostToolUse":
            call = _call(payload, payload, key)
            return HookEvent("after", key, name, ((call, _outcome(call, payload.get("tool_response"))),))
        if name == "PostToolUseFailure":
            call = _call(payload, payload, key)
            return HookEvent("after", key, name, ((call, _outcome(call, payload.get("error"), failed=True)),))
        if name == "PostCompact":
            return HookEvent("compacted", key, name)
        return HookEvent("prompt", key, name) if name == "UserPromptSubmit" else None

    def reply(self, event: HookEvent, verdicts: list[Verdict]) -> Mapping[str, Any] | None:
        """Give the reply: a denial, an advice, or the end of the run."""
        ending = next((verdict for verdict in verdicts if verdict.action is Action.ABORT), None)
        said: dict[str, Any] = {"hookEventName": event.name}
        if event.kind == "before":
            stopped = next((verdict for verdict in verdicts if verdict.stops), None)
            if stopped is None:
                return None
            said |= {"permissionDecision": "deny", "permissionDecisionReason": stopped.advice}
        else:
            advice = advice_of(verdicts)
            if not advice:
                return None
            said["additionalContext"] = advice
        reply: dict[str, Any] = {"hookSpecificOutput": said}
        return reply if ending is None else {"continue": False, "stopReason": f"wheelspin: {ending.reason}", **reply}


def _call(item: Mapping[str, Any], payload: Mapping[str, Any], key: Key) -> ToolCall:
    """Give a call; the run is the user's prompt."""
    prompt = payload.get("prompt_id")
    return ToolCall(
        text_in(item.get("tool_name")),
        item.get("tool_input"),
        id=text_in(item.get("tool_use_id")) or None,
        run_id=prompt if isinstance(prompt, str) else None,
        session_id=key.session,
        agent_id=key.agent or None,
    )


def _outcome(call: ToolCall, shown: Any, *, failed: bool = False) -> Outcome:
    """Give an outcome from what the model is shown, as the session's transcript has it."""
    shown = shown_of(shown)
    if isinstance(shown, str) and shown.startswith(DENIED):
        return Outcome.denied(shown)
    failed = failed or (isinstance(shown, str) and shown.startswith(_FAILED))
    if call.tool.strip().lower() in SHELL_TOOLS:
        return shell_outcome(_printed(shown), failed=failed)
    return Outcome.error(shown) if failed else Outcome.result(shown)


def _printed(shown: Any) -> Any:
    """Give what a command printed, from the object that `PostToolUse` has in place of the text."""
    if not isinstance(shown, dict) or "stdout" not in shown:
        return shown
    return "\n".join(part for part in (text_in(shown.get("stdout")), text_in(shown.get("stderr"))) if part)


HOOK = ClaudeCode()
