"""
Claude Code's hooks.

`PreToolUse` asks before a call and can deny it. `PostToolBatch` arrives once per model message, with all its calls
(including unknown tools and invalid arguments); its reply carries warnings and can end the run. `PostCompact` arms
the post-compaction guard. In old versions without `PostToolBatch`, `PostToolUse` and `PostToolUseFailure` replace it,
one call at a time.

Facts that matter: `continue: false` in reply to `PreToolUse` ends the run only after the tool has run, unless the
reply denies the call too. `PostToolBatch` does not say which calls failed; the result of a failed shell command
begins with "Exit code". Cursor, VS Code and Copilot CLI also run the hooks in Claude Code's settings, without the
outcomes of a batch: their payloads are recognised and ignored.
"""

from __future__ import annotations

from wheelspin.core.events import Action, Outcome, ToolCall
from wheelspin.hooks.base import Hook, HookEvent, HookEventKind, advice_of
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
        """Return the event in a payload."""
        name = payload.get("hook_event_name")
        session = payload.get("session_id")
        if not isinstance(name, str) or not isinstance(session, str) or "cursor_version" in payload:
            return None
        agent = payload.get("agent_id")
        key = Key(self.name, session, agent if isinstance(agent, str) else "")
        if name == "PreToolUse" and "tool_use_id" in payload:
            return HookEvent(HookEventKind.BEFORE, key, name, ((_call(payload, payload, key), None),))
        if name == "PostToolBatch":
            items = payload.get("tool_calls")
            listed = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
            calls = [_call(item, payload, key) for item in listed]
            outcomes = [_outcome(call, item.get("tool_response")) for call, item in zip(calls, listed, strict=True)]
            return HookEvent(HookEventKind.AFTER, key, name, tuple(zip(calls, outcomes, strict=True)))
        if name == "PostToolUse":
            call = _call(payload, payload, key)
            return HookEvent(HookEventKind.AFTER, key, name, ((call, _outcome(call, payload.get("tool_response"))),))
        if name == "PostToolUseFailure":
            call = _call(payload, payload, key)
            return HookEvent(
                HookEventKind.AFTER, key, name, ((call, _outcome(call, payload.get("error"), failed=True)),)
            )
        if name == "PostCompact":
            return HookEvent(HookEventKind.COMPACTED, key, name)
        return HookEvent(HookEventKind.PROMPT, key, name) if name == "UserPromptSubmit" else None

    def reply(self, event: HookEvent, verdicts: list[Verdict]) -> Mapping[str, Any] | None:
        """Return the reply: a denial, advice, or the end of the run."""
        ending = next((verdict for verdict in verdicts if verdict.action is Action.ABORT), None)
        output: dict[str, Any] = {"hookEventName": event.name}
        if event.kind is HookEventKind.BEFORE:
            stopped = next((verdict for verdict in verdicts if verdict.stops), None)
            if stopped is None:
                return None
            output |= {"permissionDecision": "deny", "permissionDecisionReason": stopped.advice}
        else:
            advice = advice_of(verdicts)
            if not advice:
                return None
            output["additionalContext"] = advice
        reply: dict[str, Any] = {"hookSpecificOutput": output}
        return reply if ending is None else {"continue": False, "stopReason": f"wheelspin: {ending.reason}", **reply}


def _call(item: Mapping[str, Any], payload: Mapping[str, Any], key: Key) -> ToolCall:
    """Return a call; its run is the user's prompt."""
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
    """Return an outcome from what the model is shown, in the form used by session transcripts."""
    shown = shown_of(shown)
    if isinstance(shown, str) and shown.startswith(DENIED):
        return Outcome.denied(shown)
    failed = failed or (isinstance(shown, str) and shown.startswith(_FAILED))
    if call.tool.strip().lower() in SHELL_TOOLS:
        return shell_outcome(_printed(shown), failed=failed)
    return Outcome.error(shown) if failed else Outcome.result(shown)


def _printed(shown: Any) -> Any:
    """Return what a command printed; `PostToolUse` has it as an object instead of a text."""
    if not isinstance(shown, dict) or "stdout" not in shown:
        return shown
    return "\n".join(part for part in (text_in(shown.get("stdout")), text_in(shown.get("stderr"))) if part)


HOOK = ClaudeCode()
