"""
Write sample sessions of invented agents into this folder, in formats that several hosts share.

`make_own_formats.py` writes the formats of single hosts. Run `python examples/sessions/make_sessions.py` from anywhere;
its output is always the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
CWD = "/home/sam/shop"
MODEL = "sample-model"
FAILING = "FAILED tests/test_cart.py::test_total - assert 90 == 100\n1 failed, 41 passed in 0.52s"


def _time(step: int) -> str:
    return f"2026-09-01T09:{step // 60 % 60:02}:{step % 60:02}.000Z"


class ClaudeCode:
    """Lines of a Claude Code session."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def _line(self, kind: str, **fields: Any) -> None:
        number = len(self.lines)
        self.lines.append(
            {
                "parentUuid": f"u{number - 1}" if number else None,
                "isSidechain": False,
                "userType": "external",
                "cwd": CWD,
                "sessionId": "5a3e0c1e-0000-4000-8000-000000000001",
                "version": "2.1.332",
                "gitBranch": "main",
                "type": kind,
                **fields,
                "uuid": f"u{number}",
                "timestamp": _time(number),
            }
        )

    def prompt(self, text: str) -> None:
        """Add a message of the user."""
        self._line("user", message={"role": "user", "content": text})

    def call(self, tool: str, arguments: dict[str, Any], result: str, *, failed: bool = False) -> None:
        """Add a call of the model and its result."""
        number = len(self.lines)
        usage = {
            "input_tokens": 3,
            "cache_creation_input_tokens": 210,
            "cache_read_input_tokens": 14_000 + 180 * number,
            "output_tokens": 74,
        }
        message = {
            "model": MODEL,
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "content": [{"type": "tool_use", "id": f"toolu_{number}", "name": tool, "input": arguments}],
            "stop_reason": "tool_use",
            "usage": usage,
        }
        self._line("assistant", message=message)
        block = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": result, "is_error": failed}
        self._line("user", message={"role": "user", "content": [block]}, toolUseResult=result)

    def say(self, text: str) -> None:
        """Add a final message of the model."""
        usage = {"input_tokens": 3, "cache_read_input_tokens": 15_000, "output_tokens": 60}
        content = [{"type": "text", "text": text}]
        self._line(
            "assistant",
            message={"role": "assistant", "id": f"end_{len(self.lines)}", "content": content, "usage": usage},
        )


def claude_code() -> Iterator[dict[str, Any]]:
    """Yield a test that fails in the same way 34 times; then a second run with work that progresses."""
    session = ClaudeCode()
    session.prompt("The total in the cart is wrong. Fix it, and make the tests pass.")
    session.call(
        "Read", {"file_path": f"{CWD}/cart.py"}, "1\tdef total(items):\n2\t    return sum(i.price for i in items)"
    )
    for number in range(34):
        how = ("Run the tests", "Check whether the tests pass", "Run the test suite again")[number % 3]
        session.call("Bash", {"command": "pytest -q", "description": how}, f"Exit code 1\n{FAILING}", failed=True)
    session.say("The tests still fail.")
    session.prompt("Multiply by the quantity!")
    old, new = "sum(i.price for i in items)", "sum(i.price * i.count for i in items)"
    session.call(
        "Edit", {"file_path": f"{CWD}/cart.py", "old_string": old, "new_string": new}, "The file has been updated."
    )
    for left in (3, 2, 1):
        session.call("Bash", {"command": "pytest -q"}, f"Exit code 1\n{left} failed, {42 - left} passed", failed=True)
        edit = {"file_path": f"{CWD}/cart.py", "old_string": f"case {left}", "new_string": f"case {left} mended"}
        session.call("Edit", edit, "The file has been updated.")
    session.call("Bash", {"command": "pytest -q"}, "42 passed in 0.51s")
    session.say("All 42 tests pass.")
    yield from session.lines


def codex() -> Iterator[dict[str, Any]]:
    """Yield a loop that survives a compaction: the same command before it, and three times after it."""
    step = 0

    def line(kind: str, **payload: Any) -> dict[str, Any]:
        nonlocal step
        step += 1
        return {"timestamp": _time(step), "type": kind, "payload": payload}

    def call(number: int) -> Iterator[dict[str, Any]]:
        arguments = json.dumps({"cmd": "cargo build", "workdir": CWD})
        yield line(
            "response_item", type="function_call", name="exec_command", arguments=arguments, call_id=f"call_{number}"
        )
        used = {"input_tokens": 21_000 + 900 * number, "output_tokens": 60, "total_tokens": 21_060 + 900 * number}
        yield line("event_msg", type="token_count", info={"last_token_usage": used})
        output = (
            f"Chunk ID: {number:06x}\nWall time: 0.{number}01 seconds\nProcess exited with code 101\n"
            "Original token count: 12\nOutput:\nerror[E0425]: cannot find value `limit` in this scope"
        )
        yield line("response_item", type="function_call_output", call_id=f"call_{number}", output=output)

    yield line(
        "session_meta",
        id="01990000-0000-7000-8000-000000000001",
        cwd=CWD,
        originator="codex_exec",
        cli_version="0.171.0",
    )
    yield line("event_msg", type="user_message", message="Make the build pass.")
    for number in range(4):
        yield from call(number)
    history = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Make the build pass."}]}]
    yield line("compacted", message="", replacement_history=history)
    for number in range(4, 9):
        yield from call(number)


def openclaw() -> Iterator[dict[str, Any]]:
    """Yield a job whose polls show progress, then a background process that hangs and is polled all the same."""
    entries: list[dict[str, Any]] = []

    def entry(kind: str, **fields: Any) -> None:
        number = len(entries)
        parent = f"{number - 1:08x}" if number else None
        entries.append({"type": kind, "id": f"{number:08x}", "parentId": parent, "timestamp": _time(number), **fields})

    def message(**fields: Any) -> None:
        entry("message", message=fields)

    def call(number: int, arguments: dict[str, Any], text: str, details: dict[str, Any]) -> None:
        wanted = {"type": "toolCall", "id": f"call_{number}", "name": "process", "arguments": arguments}
        usage = {"input": 40, "output": 30, "cacheRead": 9_000 + 60 * number, "cacheWrite": 70}
        message(role="assistant", content=[wanted], usage=usage | {"totalTokens": sum(usage.values())})
        content = [{"type": "text", "text": text}]
        message(
            role="toolResult",
            toolCallId=f"call_{number}",
            toolName="process",
            content=content,
            details=details,
            isError=False,
        )

    entries.append({"type": "session", "version": 3, "id": "shop-session", "timestamp": _time(0), "cwd": CWD})
    message(role="user", content=[{"type": "text", "text": "Import the catalogue and tell me when it is done."}])
    for number in range(12):
        details = {"status": "running", "aggregated": f"{number * 8} % imported", "durationMs": 900 * number}
        call(number, {"action": "poll", "sessionId": "import"}, f"{number * 8} % imported", details)
    message(role="user", content=[{"type": "text", "text": "Now the pictures."}])
    for number in range(12, 36):
        details = {"status": "running", "aggregated": "waiting for lock", "durationMs": 900 * number, "pid": 4000}
        call(number, {"action": "poll", "sessionId": "pictures"}, "(no new output)", details)
    yield from entries


def openai_chat() -> list[dict[str, Any]]:
    """Return two conversations: one in which two searches alternate endlessly, and a good one."""

    def turn(number: int, tool: str, arguments: dict[str, Any], result: str) -> Iterator[dict[str, Any]]:
        function = {"name": tool, "arguments": json.dumps(arguments)}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        yield {"role": "assistant", "content": None, "tool_calls": [call]}
        yield {"role": "tool", "tool_call_id": f"call_{number}", "content": result}

    stuck: list[dict[str, Any]] = [{"role": "user", "content": "Where is my parcel?"}]
    for number in range(0, 26, 2):
        stuck += turn(number, "find_order", {"customer": "sam"}, '{"order": "A-17"}')
        stuck += turn(number + 1, "track_parcel", {"order": "A-17"}, '{"error": "look up the order first"}')
    well: list[dict[str, Any]] = [{"role": "user", "content": "Book two tickets to Oslo."}]
    for number in range(5):
        well += turn(number, "search_trains", {"day": f"2026-09-0{number + 1}"}, json.dumps({"free": number}))
    well += turn(5, "book", {"day": "2026-09-05", "seats": 2}, '{"booked": true}')
    return [{"task_id": 1, "traj": stuck}, {"task_id": 2, "traj": well}]


def anthropic_messages() -> list[dict[str, Any]]:
    """Return a conversation in which the model calls a tool that does not exist."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "What is the weather in Oslo?"}]
    for number in range(13):
        use = {
            "type": "tool_use",
            "id": f"toolu_{number}",
            "name": "get_weather",
            "input": {"city": "Oslo", "try": number},
        }
        messages.append(
            {"role": "assistant", "content": [use], "usage": {"input_tokens": 900 + 60 * number, "output_tokens": 40}}
        )
        text = "Error: Unknown tool 'get_weather'"
        result = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": text, "is_error": True}
        messages.append({"role": "user", "content": [result]})
    return messages


def events() -> Iterator[dict[str, Any]]:
    """Yield an event log in Wheelspin's own format, with a configuration of its own."""
    settings = {"enabled": True, "warningThreshold": 3, "criticalThreshold": 5, "globalCircuitBreakerThreshold": 8}
    yield {"type": "config", "tools": {"loopDetection": settings}}
    for number in range(10):
        yield {
            "type": "call",
            "tool": "fetch",
            "args": {"url": "https://example.org/a"},
            "id": f"c{number}",
            "run": "r1",
        }
        yield {"type": "result", "id": f"c{number}", "run": "r1", "error": "404 Not Found"}
    for number in range(10, 14):
        yield {
            "type": "call",
            "tool": "fetch",
            "args": {"url": f"https://example.org/{number}"},
            "id": f"c{number}",
            "run": "r2",
        }
        yield {"type": "result", "id": f"c{number}", "run": "r2", "result": f"page {number}"}


LINES: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {
    "claude-code.jsonl": claude_code,
    "codex.jsonl": codex,
    "openclaw.jsonl": openclaw,
    "events.jsonl": events,
}
DOCUMENTS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "openai-chat.json": openai_chat,
    "anthropic-messages.json": anthropic_messages,
}


def sessions() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file."""
    for name, make in LINES.items():
        yield name, "".join(json.dumps(line) + "\n" for line in make())
    for name, make_document in DOCUMENTS.items():
        yield name, json.dumps(make_document(), indent=1) + "\n"


def main() -> None:
    """Write the files."""
    for name, text in sessions():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()
