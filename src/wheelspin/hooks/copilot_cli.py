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

from wheelspin.core.events import Action, Outcome, ToolCall
from wheelspin.core.hints import NEVER, ToolHint
from wheelspin.core.volatile import TOOLS
from wheelspin.hook import Hook, HookEvent, advice_of
from wheelspin.store import Key
from wheelspin.wire.shell import shell_outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wheelspin.core.events import Verdict

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
_SHELLS = ("bash", "read_bash", "read_powershell")
_NO_PROMPT = ("<system_notification>", "You have not yet marked the task as complete using the task_complete tool.")
_REFUSED = ("rejected", "denied")
_FAILED = ("failure", "timeout")
_TOO_LARGE = "Output too large to read at once ("
_NOTHING = {"command": "exit 1", "description": "wheelspin: this run has ended"}
_OF_AN_AGENT = ToolHint(poll=True, critical_threshold=NEVER)


class CopilotCli(Hook):
    """The hook of GitHub Copilot CLI."""

    __slots__ = ()

    name = "copilot-cli"
    tools = TOOLS.extended(
        ignored={
            "bash": ["description"],
            "sql": ["description"],
            "session_store_sql": ["description"],
            "task": ["description"],
        },
        polls=["read_bash", "read_powershell", "list_bash", "list_powershell"],
        hints={
            "list_bash": ToolHint(volatile=["/elapsed: .* commands/"]),
            "list_powershell": ToolHint(volatile=["/elapsed: .* commands/"]),
            "task": ToolHint(volatile=["/agent_id: .*. You/"]),
            "list_agents": _OF_AN_AGENT,
            "read_agent": _OF_AN_AGENT,
        },
    )

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
            return None if _text(payload.get("prompt")).startswith(_NO_PROMPT) else HookEvent("prompt", key, name)
        tool = payload.get("tool_name")
        if name not in _OF_A_CALL or not isinstance(tool, str) or "tool_input" not in payload:
            return None
        call = _call(tool, payload["tool_input"], key)
        if name == "PreToolUse":
            return HookEvent("before", key, name, ((call, None),))
        if name == "PostToolUse":
            return HookEvent("after", key, name, ((call, _outcome(call, payload.get("tool_result"))),))
        error = payload.get("error")
        return HookEvent("after", key, name, ((call, None if error is None else Outcome.error(error)),))

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
    shown = _without_place(text) if isinstance(text, str) else result
    kind = result.get("result_type")
    if kind in _REFUSED:
        return Outcome.denied(shown)
    if kind in _FAILED:
        return Outcome.error(shown)
    return _of_shell(shown) if call.tool in _SHELLS and isinstance(shown, str) else Outcome.result(shown)


def _of_shell(shown: str) -> Outcome:
    """Give the outcome of a command. Its text ends with a note that has the number of a shell, which counts up."""
    start = max(shown.rfind("<shellId: "), shown.rfind("<command "))
    if start < 0 or not shown.endswith(">"):
        return shell_outcome(shown)
    printed, note = shown[:start].removesuffix("\n"), shown[start:]
    _, ended, code = note[:-1].rpartition(" completed with exit code ")
    if ended and code.removeprefix("-").isdecimal():
        return shell_outcome(printed, failed=code != "0", exit_code=int(code))
    if " background with shellId: " in note or " is still running " in note:
        return Outcome.shell(printed, status="running")
    return shell_outcome(shown)


def _without_place(text: str) -> str:
    """Give a text without the name of the file that a large output is saved to, which is another each time."""
    if not text.startswith(_TOO_LARGE):
        return text
    first, line, rest = text.partition("\n")
    return first.partition(" Saved to: ")[0] + line + rest


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


HOOK = CopilotCli()
