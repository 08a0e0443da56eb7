"""Anthropic's messages: `tool_use` and `tool_result` blocks."""

from __future__ import annotations

from typing import Any

from wheelspin.core.events import Outcome, ToolCall
from wheelspin.wire.shell import SHELL_TOOLS, shell_outcome
from wheelspin.wire.texts import lone_text, text_in
from wheelspin.wire.usage import tokens_in

__all__ = ["CALLS", "blocks_of", "content_of", "is_prompt", "outcome_of", "tokens_of", "tool_uses"]

CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")
"""Types of blocks that contain a call."""
_USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


def blocks_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the content blocks of a message; a plain text is one block."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def tool_uses(message: dict[str, Any], **ids: str | None) -> list[ToolCall]:
    """
    Return the calls in a message of the assistant.

    Args:
        message: The message.
        **ids: `turn_id`, `session_id` and `agent_id` of the calls.
    """
    content = message.get("content")
    if type(content) is not list:
        return []
    uses = [block for block in content if type(block) is dict and block.get("type") in CALLS]
    return [
        ToolCall(text_in(use.get("name")), use.get("input"), id=text_in(use.get("id")) or None, **ids) for use in uses
    ]


def content_of(block: dict[str, Any]) -> object:
    """Return the content of a result block: a single text block as its text, everything else unchanged."""
    return lone_text(block.get("content"))


def outcome_of(call: ToolCall, block: dict[str, Any]) -> Outcome:
    """Return the outcome of a call from its `tool_result` block."""
    content = content_of(block)
    failed = block.get("is_error") is True
    if call.tool.strip().lower() in SHELL_TOOLS:
        return shell_outcome(content, failed=failed)
    return Outcome.error(content) if failed else Outcome.result(content)


def is_prompt(blocks: list[dict[str, Any]]) -> bool:
    """Return whether a message of the user with these blocks is a prompt: it has content and no tool results."""
    return bool(blocks) and not any(str(block.get("type")).endswith("tool_result") for block in blocks)


def tokens_of(usage: object) -> int:
    """Return the total tokens of a usage record: input, cached or not, and output."""
    return tokens_in(usage, _USAGE)
