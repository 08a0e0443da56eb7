"""Results of Qwen Code's calls, in hooks and in sessions: the parts that the model is shown."""

from __future__ import annotations

from wheelspin.core.events import Outcome
from wheelspin.core.known_tools import TOOLS
from wheelspin.wire.gemini import command_outcome, unframed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wheelspin.core.events import ToolCall

__all__ = ["DENIED", "QWEN_TOOLS", "UNKNOWN", "outcome_of"]

QWEN_TOOLS = TOOLS.extended(
    ignored={"run_shell_command": ["description"], "agent": ["description"]},
    polls=["list_agents", "task_list"],
    plans=["todo_write"],
)
"""What is known about Qwen Code's tools."""
DENIED = "execution_denied"
UNKNOWN = "tool_not_registered"


def outcome_of(call: ToolCall, parts: Any, status: str, kind: str = "") -> Outcome:
    """
    Return the outcome of a call from what the model is shown and from the host's status.

    Args:
        call: The call.
        parts: What the model is shown.
        status: `success`, `error` or `cancelled`.
        kind: Type of the error.
    """
    shown = _shown(parts)
    if kind == UNKNOWN:
        return Outcome.unknown_tool(shown)
    if kind == DENIED or status == "cancelled":
        return Outcome.denied(shown)
    failed = status == "error"
    if call.tool == "run_shell_command" and isinstance(shown, str):
        command = call.arguments.get("command") if isinstance(call.arguments, dict) else None
        return command_outcome(shown, command, failed=failed)
    return Outcome.error(shown, kind) if failed else Outcome.result(shown)


def _shown(parts: Any) -> Any:
    """Return a single text, or else the parts without the id of the call."""
    if not isinstance(parts, list):
        return parts
    if len(parts) == 1 and isinstance(parts[0], dict):
        answer = parts[0].get("functionResponse")
        response = answer.get("response") if isinstance(answer, dict) and "parts" not in answer else None
        if isinstance(response, dict) and len(response) == 1:
            text = response.get("output", response.get("error"))
            if isinstance(text, str):
                return unframed(text)
    return [_without_id(part) for part in parts]


def _without_id(part: Any) -> Any:
    answer = part.get("functionResponse") if isinstance(part, dict) else None
    if not isinstance(answer, dict):
        return part
    return {**part, "functionResponse": {key: value for key, value in answer.items() if key != "id"}}
