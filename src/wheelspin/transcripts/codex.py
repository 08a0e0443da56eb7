"""Codex CLI: rollout JSONL of `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from wheelspin.core.events import Outcome, ToolCall
from wheelspin.core.volatile import TOOLS
from wheelspin.source import Head, Source
from wheelspin.transcript import Answered, Compacted, Event, OpenCalls, Reader, Spent, UserSpoke
from wheelspin.wire.openai_chat import decoded
from wheelspin.wire.shell import shell_outcome
from wheelspin.wire.usage import tokens_in

_TYPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state")
_SHELLS = frozenset({"exec_command", "write_stdin", "shell", "shell_command", "local_shell", "container.exec"})
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "mcp_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "tool_search_output")
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


class Codex(Reader):
    """
    Read Codex's rollouts.

    A line of the type `compacted` is a compaction; the `replacement_history` in it is what the model is shown from
    then on, and holds no new calls. Of a tool's output, chunk id, wall time and token count do not count.
    """

    name = "codex"
    title = "Codex rollouts"
    tools = TOOLS.extended(plans=["update_plan"])

    def matches(self, head: Head) -> bool:
        """Tell it by lines of its types with a payload."""
        return any(line.get("type") in _TYPES and isinstance(line.get("payload"), dict) for line in head.objects())

    def read(self, source: Source) -> Iterator[Event]:
        """Give the events, line by line."""
        calls = OpenCalls()
        prompts_are_events = False
        for line, entry in source.lines():
            payload = entry.get("payload")
            if not isinstance(payload, dict):
                continue
            kind = payload.get("type")
            match entry.get("type"):
                case "compacted":
                    yield Compacted(line)
                case "event_msg" if kind == "user_message":
                    prompts_are_events = True
                    yield UserSpoke(line)
                case "event_msg" if kind == "token_count":
                    tokens = _tokens(payload)
                    if tokens:
                        yield Spent(line, tokens)
                case "response_item" if kind in _CALLS:
                    yield from calls.ask(line, _call(payload))
                case "response_item" if kind in _OUTPUTS:
                    answered = calls.answered(payload.get("call_id"))
                    if answered is not None:
                        yield Answered(line, answered, _outcome(answered, payload))
                case "response_item" if kind == "message" and not prompts_are_events and _is_prompt(payload):
                    yield UserSpoke(line)


def _call(payload: dict[str, Any]) -> ToolCall:
    kind = payload["type"]
    call_id = payload.get("call_id") or payload.get("id")
    name = _NAMES.get(kind) or payload.get("name")
    arguments = next((payload[key] for key in ("arguments", "input", "action") if key in payload), None)
    space = payload.get("namespace")
    # A tool of MCP has the name that Codex's hooks call it by.
    joint = "__" if isinstance(space, str) and space.startswith("mcp__") else "."
    return ToolCall(
        f"{space}{joint}{name}" if isinstance(space, str) and space else str(name or ""),
        decoded(arguments),
        id=call_id if isinstance(call_id, str) else None,
    )


def _outcome(call: ToolCall, payload: dict[str, Any]) -> Outcome:
    output = payload.get("output", payload.get("tools"))
    if call.tool.rsplit(".", 1)[-1] not in _SHELLS and call.tool not in _SHELLS:
        return Outcome.error(_text(output)) if _failed(output) else _plain(_text(output))
    value = decoded(output)
    if isinstance(value, dict) and isinstance(value.get("metadata"), dict):
        code = value["metadata"].get("exit_code")
        code = code if isinstance(code, int) else None
        return shell_outcome(value.get("output"), failed=bool(code), exit_code=code)
    return _shell(_text(output))


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


def _is_prompt(payload: dict[str, Any]) -> bool:
    if payload.get("role") != "user":
        return False
    content = payload.get("content")
    first = content[0] if isinstance(content, list) and content and isinstance(content[0], dict) else {}
    return not str(first.get("text") or "").startswith(_NO_PROMPT)


def _tokens(payload: dict[str, Any]) -> int:
    info = payload.get("info")
    return tokens_in(info.get("last_token_usage"), (), "total_tokens") if isinstance(info, dict) else 0
