"""
Codex's hooks.

`PreToolUse` asks before a call; its reply can deny the call or carry a warning. `PostToolUse` brings the outcome.
`PreCompact` is the only event at which a run can be ended. `PostCompact` arms the post-compaction guard. A Codex
turn, from a prompt to the final answer, is a run.

Facts that matter: Codex ignores a reply with an unknown key, and the call runs. A failed call has no `PostToolUse`,
so a warning must not wait for one. A failed command does have one, but without its exit code; that is read from the
session's transcript, which Codex has written by then. Tools that do not exist, `write_stdin` and code-mode scripts
have no events at all; the calls that such a script makes do.
"""

from __future__ import annotations

import json

from wheelspin.core.events import Outcome, ToolCall
from wheelspin.core.known_tools import TOOLS
from wheelspin.hooks.base import Hook, HookEvent, HookEventKind, advice_of
from wheelspin.stores.base import Key
from wheelspin.wire.shell import shell_outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wheelspin.core.events import Verdict

__all__ = ["HOOK"]

_SHELL = "exec_command"
_PATCH = "apply_patch"
_TAIL = 1 << 18
"""Number of bytes at the end of a transcript that are searched for an exit code."""


class Codex(Hook):
    """The hook of Codex."""

    __slots__ = ()

    name = "codex"
    tools = TOOLS.extended(plans=["update_plan"])

    def event(self, payload: Mapping[str, Any]) -> HookEvent | None:
        """Return the event in a payload."""
        name, session = payload.get("hook_event_name"), payload.get("session_id")
        if not isinstance(name, str) or not isinstance(session, str):
            return None
        agent, turn = payload.get("agent_id"), payload.get("turn_id")
        key = Key(self.name, session, agent if isinstance(agent, str) else "")
        run = turn if isinstance(turn, str) else None
        if name in {"PreToolUse", "PostToolUse"}:
            call = _call(payload, key, run)
            if call is None:
                return None
            if name == "PreToolUse":
                return HookEvent(HookEventKind.BEFORE, key, name, ((call, None),))
            return HookEvent(HookEventKind.AFTER, key, name, ((call, _outcome(call, payload)),))
        if name == "PreCompact":
            return HookEvent(HookEventKind.CHECKPOINT, key, name, run_id=run)
        if name == "PostCompact":
            return HookEvent(HookEventKind.COMPACTED, key, name)
        return HookEvent(HookEventKind.PROMPT, key, name, run_id=run) if name == "UserPromptSubmit" else None

    def reply(self, event: HookEvent, verdicts: list[Verdict]) -> Mapping[str, Any] | None:
        """Return the reply: advice, a denial, or at a checkpoint the end of the run."""
        if event.kind is HookEventKind.CHECKPOINT:
            return {"continue": False, "stopReason": f"wheelspin: {verdicts[0].reason}"} if verdicts else None
        output: dict[str, Any] = {"hookEventName": event.name}
        stopped = [verdict for verdict in verdicts if verdict.stops]
        if event.kind is HookEventKind.BEFORE and stopped:
            # Codex adds a full stop to the reason.
            reason = advice_of(stopped).removesuffix(".")
            return {"hookSpecificOutput": {**output, "permissionDecision": "deny", "permissionDecisionReason": reason}}
        # A warning was already delivered before the call ran.
        advice = advice_of(verdicts if event.kind is HookEventKind.BEFORE else stopped)
        return {"hookSpecificOutput": {**output, "additionalContext": advice}} if advice else None


def _call(payload: Mapping[str, Any], key: Key, run: str | None) -> ToolCall | None:
    """Return a call with the tool name and arguments that the model used, as in the session's transcript."""
    tool, given, call_id = payload.get("tool_name"), payload.get("tool_input"), payload.get("tool_use_id")
    if not isinstance(tool, str) or not tool:
        return None
    command = given.get("command") if isinstance(given, dict) else None
    if tool == "Bash":
        tool, given = _SHELL, {"cmd": command}
    elif tool == _PATCH and isinstance(command, str):
        given = command
    return ToolCall(
        tool,
        given,
        id=call_id if isinstance(call_id, str) and call_id else None,
        run_id=run,
        session_id=key.session,
        agent_id=key.agent or None,
    )


def _outcome(call: ToolCall, payload: Mapping[str, Any]) -> Outcome:
    """Return an outcome from the tool response in a payload."""
    shown = payload.get("tool_response")
    if call.tool == _SHELL:
        code = _exit_code(payload.get("transcript_path"), call.id)
        return shell_outcome(shown, failed=bool(code), exit_code=code)
    if call.tool == _PATCH and isinstance(shown, str):
        return _patched(shown)
    return Outcome.result(_visible(shown))


def _exit_code(transcript: object, call_id: str | None) -> int | None:
    """Return the exit code of a command from the transcript; `None` if it is not there."""
    if not isinstance(transcript, str) or call_id is None:
        return None
    try:
        with open(transcript, "rb") as file:
            file.seek(max(0, file.seek(0, 2) - _TAIL))
            lines = file.read(_TAIL).splitlines()
    except (OSError, ValueError):
        return None
    for line in reversed(lines):
        if b'"CommandExecution"' in line and call_id.encode() in line:
            try:
                item = json.loads(line)["payload"]["item"]
                code = item["exit_code"] if item["id"] == call_id else None
            except (ValueError, KeyError, TypeError):
                continue
            if type(code) is int:
                return code
    return None


def _patched(text: str) -> Outcome:
    """Return the outcome of a patch, without the exit code and wall time that Codex puts first."""
    head, _, report = text.partition("\nOutput:\n")
    code, _, took = head.partition("\n")
    if not code.startswith("Exit code: ") or not took.startswith("Wall time: ") or "\n" in took:
        return Outcome.result(text)
    return Outcome.result(report) if code == "Exit code: 0" else Outcome.error(report)


def _visible(shown: Any) -> Any:
    """Return the part of an MCP tool's result that the model reads: structured content if any, otherwise its texts."""
    content = shown.get("content") if isinstance(shown, dict) else None
    if not isinstance(content, list):
        return shown
    if shown.get("structuredContent") is not None:
        return shown["structuredContent"]
    texts = [item["text"] if isinstance(item, dict) and isinstance(item.get("text"), str) else item for item in content]
    return texts[0] if len(texts) == 1 else texts


HOOK = Codex()
