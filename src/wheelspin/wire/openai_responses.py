"""
OpenAI's responses: items with calls, and items with their outputs.

Codex, the most common agent with this format, puts a header above the output of a tool. The chunk id, wall time and
token count in it are not part of the outcome.
"""

from __future__ import annotations

import re
from typing import Any

from wheelspin.core.events import Outcome, ToolCall
from wheelspin.core.unknown_tool import says_unknown_tool
from wheelspin.wire.openai_chat import decoded
from wheelspin.wire.shell import SHELL_TOOLS, shell_outcome

__all__ = ["CALLS", "OUTPUTS", "call_of", "is_prompt", "outcome_of"]

_SHELLS = (SHELL_TOOLS - {"exec"}) | {"exec_command", "write_stdin", "shell_command", "local_shell", "container.exec"}
"""Shell tools. Codex's `exec` is not among them, as it runs scripts of its code mode."""
CALLS = ("function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "mcp_call")
"""Types of items that contain a call."""
OUTPUTS = ("function_call_output", "custom_tool_call_output", "tool_search_output")
"""Types of items that contain the output of a call."""
_NAMES = {"local_shell_call": "local_shell", "tool_search_call": "tool_search"}
_HEADER = re.compile(
    r"(?:(?:Chunk ID|Wall time|Original token count|Total output lines): ?[^\n]*\n"
    r"|(?:Process )?[Ee]xit(?:ed with)? code:? (?P<code>-?\d+)\n"
    r"|(?P<running>Process running with session ID [^\n]*)\n"
    r"|Output:\n)+"
)
_PREAMBLE = re.compile(
    r"(?:Script (?:completed|(?P<failed>failed|terminated)|(?P<running>running with cell ID [^\n]*))\n"
    r"|Exit code: (?P<code>-?\d+)\n)?"
    r"Wall time:? [\d.]+ seconds\nOutput:(?:\n|$)"
)
_CHUNK = re.compile(r'(?<=^\{)"chunk_id":"[^"]*","wall_time_seconds":[^,]*,')
_NO_PROMPT = (
    "<environment_context",
    "<user_instructions",
    "<turn_aborted",
    "<subagent_notification",
    "# AGENTS.md instructions",
)


def call_of(item: dict[str, Any], **ids: str | None) -> ToolCall:
    """
    Return the call of an item whose type is in `CALLS`.

    Args:
        item: The item.
        **ids: `turn_id`, `session_id` and `agent_id` of the call.
    """
    call_id = item.get("call_id") or item.get("id")
    name = _NAMES.get(item["type"]) or item.get("name")
    arguments = next((item[key] for key in ("arguments", "input", "action") if key in item), None)
    space = item.get("namespace")
    # Use the name of an MCP tool that Codex's hooks use.
    joint = "__" if isinstance(space, str) and space.startswith("mcp__") else "."
    return ToolCall(
        f"{space}{joint}{name}" if isinstance(space, str) and space else str(name or ""),
        decoded(arguments),
        id=call_id if isinstance(call_id, str) else None,
        **ids,
    )


def outcome_of(call: ToolCall, item: dict[str, Any]) -> Outcome:
    """Return the outcome of a call from an item whose type is in `OUTPUTS`. The format does not flag errors."""
    output = item.get("output", item.get("tools"))
    if call.tool.rsplit(".", 1)[-1] not in _SHELLS and call.tool not in _SHELLS:
        text = _text(output)
        if says_unknown_tool((call.tool,), text):
            return Outcome.unknown_tool(text)
        return Outcome.error(text) if _failed(output) else _plain(text)
    value = decoded(output)
    if isinstance(value, dict) and isinstance(value.get("metadata"), dict):
        code = value["metadata"].get("exit_code")
        code = code if isinstance(code, int) else None
        return shell_outcome(value.get("output"), failed=bool(code), exit_code=code)
    return _shell(_text(output))


def is_prompt(item: dict[str, Any]) -> bool:
    """Return whether an item is a prompt of the user, and not a message that Codex writes on behalf of the user."""
    if item.get("role") != "user":
        return False
    content = item.get("content")
    first = content[0] if isinstance(content, list) and content and isinstance(content[0], dict) else {}
    return not str(first.get("text") or "").startswith(_NO_PROMPT)


def _shell(output: object) -> Outcome:
    """Return the outcome of a command, without Codex's header."""
    header = _HEADER.match(output) if isinstance(output, str) else None
    if header is None or not isinstance(output, str):
        return shell_outcome(output)
    rest = output[header.end() :]
    if header["running"]:
        return Outcome.shell(rest, status="running")
    code = int(header["code"]) if header["code"] else None
    return shell_outcome(rest, failed=bool(code), exit_code=code)


def _plain(shown: object) -> Outcome:
    """Return the outcome of a tool other than a shell, such as a patch, a code mode script or an MCP tool."""
    first, *others = shown if isinstance(shown, list) and shown else [shown]
    head = _PREAMBLE.match(first) if isinstance(first, str) else None
    if head is None or not isinstance(first, str):
        return Outcome.result(shown)
    rest = [text for text in (first[head.end() :], *others) if text != ""]
    rest = [_CHUNK.sub("", text) if isinstance(text, str) else text for text in rest]
    value = rest[0] if len(rest) == 1 else rest
    if head["running"]:
        return Outcome.shell(value, status="running")
    return Outcome.error(value) if head["failed"] or head["code"] not in {None, "0"} else Outcome.result(value)


def _text(output: object) -> object:
    """Return the text of an output, which is a text, a text item or a list of items; other items stay unchanged."""
    if isinstance(output, dict) and "content" in output:
        return _text(output["content"])
    if isinstance(output, dict) and isinstance(output.get("text"), str):
        return output["text"]
    if isinstance(output, list):
        texts = [_text(item) for item in output]
        return texts[0] if len(texts) == 1 else texts
    return output


def _failed(output: object) -> bool:
    return isinstance(output, dict) and output.get("success") is False
