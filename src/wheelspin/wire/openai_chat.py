"""OpenAI's chat messages: `tool_calls` of the assistant, and messages of the role `tool`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wheelspin.core.events import Outcome, ToolCall
from wheelspin.core.unknown_tool import says_unknown_tool
from wheelspin.wire.json_text import NOT_JSON, parsed
from wheelspin.wire.shell import SHELL_TOOLS, shell_outcome
from wheelspin.wire.usage import tokens_in

__all__ = ["decoded", "outcome_of", "tokens_of", "tool_calls"]


def decoded(arguments: object) -> object:
    """Return arguments, which are JSON text, as values; text that is not valid JSON is returned unchanged."""
    if type(arguments) is not str:
        return arguments
    value = parsed(arguments)
    return arguments if value is NOT_JSON else value


def tool_calls(message: dict[str, Any], **ids: str | None) -> Iterator[ToolCall]:
    """
    Yield the calls in a message of the assistant, including one in the older form `function_call`.

    Args:
        message: The message.
        **ids: `turn_id`, `session_id` and `agent_id` of the calls.
    """
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if not isinstance(call, dict):
            continue
        function = call.get("function") or call.get("custom") or call
        if isinstance(function, dict):
            yield _call(function, call.get("id"), ids)
    function = message.get("function_call")
    if isinstance(function, dict):
        yield _call(function, None, ids)


def _call(function: dict[str, Any], call_id: object, ids: dict[str, str | None]) -> ToolCall:
    arguments = function.get("arguments", function.get("input"))
    return ToolCall(
        str(function.get("name") or ""),
        decoded(arguments),
        id=call_id if isinstance(call_id, str) else None,
        **ids,
    )


def outcome_of(call: ToolCall, message: dict[str, Any]) -> Outcome:
    """Return the outcome of a call from its message of the role `tool`. The format does not flag errors."""
    content = message.get("content")
    if says_unknown_tool((call.tool,), content):
        return Outcome.unknown_tool(content)
    if call.tool.strip().lower() in SHELL_TOOLS:
        return shell_outcome(content)
    return Outcome.result(content)


def tokens_of(usage: object) -> int:
    """Return the total tokens of a usage record."""
    return tokens_in(usage, ("prompt_tokens", "completion_tokens"), "total_tokens")
