"""
OpenAI's responses: items that are calls, and items that are their outputs.

Codex is the agent that speaks it most, and writes a header of its own above what a tool gave: chunk id, wall time and
token count do not count.
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
"""Codex's `exec` runs no command but a script."""
CALLS = ("function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "mcp_call")
"""Types of the items that ask for a call."""
OUTPUTS = ("function_call_output", "custom_tool_call_output", "tool_search_output")
"""Types of the items that say what came back from one."""
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
    Give the call that an item of one of the types in `CALLS` asks for.

    Args:
        item: The item.
        **ids: `turn_id`, `session_id` and `agent_id` of the call.
    """
    call_id = item.get("call_id") or item.get("id")
    name = _NAMES.get(item["type"]) or item.get("name")
    arguments = next((item[key] for key in ("arguments", "input", "action") if key in item), None)
    space = item.get("namespace")
    # A tool of MCP has the name that Codex's hooks call it by.
    joint = "__" if isinstance(space, str) and space.startswith("mcp__") else "."
    return ToolCall(
        f"{space}{joint}{name}" if isinstance(space, str) and space else str(name or ""),
        decoded(arguments),
        id=call_id if isinstance(call_id, str) else None,
        **ids,
    )


def outcome_of(call: ToolCall, item: dict[str, Any]) -> Outcome:
    """Give the outcome that an item of one of the types in `OUTPUTS` tells. The format has no flag for errors."""
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
    """Tell whether an item is a prompt of the user: not what Codex says in the user's name."""
    if item.get("role") != "user":
        return False
    content = item.get("content")
    first = content[0] if isinstance(content, list) and content and isinstance(content[0], dict) else {}
    return not str(first.get("text") or "").startswith(_NO_PROMPT)


def _shell(output: object) -> Outcome:
    """Give the outcome of a command whose text begins with a header of Codex's own."""
    header = _HEADER.match(output) if isinstance(output, str) else None
    if header is None or not isinstance(output, str):
        return shell_outcome(output)
    rest = output[header.end() :]
    if header["running"]:
        return Outcome.shell(rest, status="running")
    code = int(header["code"]) if header["code"] else None
    return shell_outcome(rest, failed=bool(code), exit_code=code)


def _plain(shown: object) -> Outcome:
    """Give the outcome of a tool that is no shell: a patch, a script of the code mode, a tool of MCP, any other."""
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
    """Give the text of an output: that is a text, a text item, or a list of items; other items count as they are."""
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
