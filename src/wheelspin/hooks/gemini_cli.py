"""
Gemini CLI's hooks.

`BeforeTool` asks before a call; its reply can deny the call and end the run. `AfterTool` brings the outcome, and its
reply adds a warning to it. `BeforeAgent` arrives once per user prompt. Gemini CLI shows no added context with the
message of a failure, so the reply repeats that message with the warning in it.

Facts that matter: calls have no id, so an outcome belongs to the newest open call that is equal to it. Unknown tools
and calls with invalid arguments reach no hook. Calls of sub-agents look like those of the main agent. `PreCompress`
precedes every request to the model, whether or not the context is compressed, so it is of no use. Gemini CLI itself
stops at the fifth equal call in a row, hence the preset.
"""

from __future__ import annotations

from wheelspin.core.events import Action, Outcome, ToolCall
from wheelspin.hooks.base import Hook, HookEvent, HookEventKind, advice_of
from wheelspin.stores.base import Key
from wheelspin.wire.gemini import GEMINI_TOOLS, arguments_of, command_outcome, unframed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wheelspin.core.events import Verdict

__all__ = ["HOOK"]


class GeminiCli(Hook):
    """The hook of Gemini CLI."""

    __slots__ = ()

    name = "gemini-cli"
    tools = GEMINI_TOOLS
    preset = "early"

    def event(self, payload: Mapping[str, Any]) -> HookEvent | None:
        """Return the event in a payload."""
        name = payload.get("hook_event_name")
        session = payload.get("session_id")
        if not isinstance(name, str) or not isinstance(session, str):
            return None
        key = Key(self.name, session)
        if name == "BeforeAgent":
            return HookEvent(HookEventKind.PROMPT, key, name)
        if name not in {"BeforeTool", "AfterTool"}:
            return None
        tool = payload.get("tool_name")
        arguments = arguments_of(payload.get("tool_input"))
        call = ToolCall(tool if isinstance(tool, str) else "", arguments, session_id=session)
        if name == "BeforeTool":
            return HookEvent(HookEventKind.BEFORE, key, name, ((call, None),))
        return HookEvent(HookEventKind.AFTER, key, name, ((call, _outcome(call, payload.get("tool_response"))),))

    def reply(self, event: HookEvent, verdicts: list[Verdict]) -> Mapping[str, Any] | None:
        """Return the reply: a denial, advice, or the end of the run."""
        ending = next((verdict for verdict in verdicts if verdict.action is Action.ABORT), None)
        advice = advice_of([verdict for verdict in verdicts if verdict.stops or event.kind is not HookEventKind.BEFORE])
        if not advice:
            return None
        if event.kind is HookEventKind.BEFORE:
            reply: dict[str, Any] = {"decision": "deny", "reason": advice}
        elif (failure := _message(event)) is not None:
            reply = {"decision": "deny", "reason": f"{failure}\n\n{advice}"}
        else:
            reply = {"hookSpecificOutput": {"hookEventName": event.name, "additionalContext": advice}}
        return reply if ending is None else {"continue": False, "stopReason": f"wheelspin: {ending.reason}", **reply}


def _message(event: HookEvent) -> str | None:
    """Return the message of a failed call, as the model is shown it."""
    outcome = event.calls[0][1] if event.calls else None
    if outcome is None or outcome.kind != "error":
        return None
    return outcome.value if isinstance(outcome.value, str) else None


def _outcome(call: ToolCall, response: Any) -> Outcome | None:
    """Return an outcome: the message of a failure, otherwise the result."""
    if not isinstance(response, dict):
        return None
    error = response.get("error")
    shown = _shown(response.get("llmContent"))
    if call.tool == "run_shell_command" and isinstance(shown, str):
        command = call.arguments.get("command") if isinstance(call.arguments, dict) else None
        return command_outcome(shown, command, failed=error is not None)
    if not isinstance(error, dict):
        return Outcome.result(shown) if error is None else Outcome.error(error)
    message, kind = error.get("message"), error.get("type")
    return Outcome.error(shown if message is None else message, kind if isinstance(kind, str) else "")


def _shown(content: Any) -> Any:
    """Return a result without its frame; join parts that are all text, as the model is shown them."""
    if isinstance(content, str):
        return unframed(content)
    parts = content if isinstance(content, list) else [content]
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return "\n".join(map(unframed, texts)) if texts and len(texts) == len(parts) else content


HOOK = GeminiCli()
