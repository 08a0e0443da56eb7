"""The details of OpenAI chat messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.transcripts.reading import calls, of, outcomes, read, write
from wheelspin import Outcome
from wheelspin.transcripts.base import (
    TokensUsed,
    ToolCalled,
    ToolReturned,
    UserMessage,
)


def _tool_call(call: str | None, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize("indent", [None, 2])
def test_one_conversation_may_be_a_list_an_object_or_lines(indent: int | None, tmp_path: Path) -> None:
    """The calls are the same in every layout of the file."""
    messages = [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "tool_calls": [_tool_call("c1", "bash", '{"command":"ls"}')],
            "usage": {"total_tokens": 9},
        },
        {"role": "tool", "tool_call_id": "c1", "content": "out"},
    ]
    for name, content in (
        ("list.json", json.dumps(messages, indent=indent)),
        ("object.json", json.dumps({"model": "m", "messages": messages}, indent=indent)),
        ("lines.jsonl", "".join(json.dumps(message) + "\n" for message in messages)),
        ("many.json", json.dumps([{"traj": messages}], indent=indent)),
        ("runs.json", json.dumps({"simulations": [{"messages": messages}]}, indent=indent)),
        ("many.jsonl", json.dumps({"conversation": {"messages": messages}}) + "\n"),
    ):
        path = tmp_path / name
        path.write_text(content)
        events, _ = read(path)
        assert calls(events) == [("bash", {"command": "ls"})], name
        assert outcomes(events) == [Outcome.shell("out")]
        assert [event.tokens for event in of(events, TokensUsed)] == [9]
        assert len(of(events, UserMessage)) == 1


def test_calls_without_ids_are_answered_in_order(tmp_path: Path) -> None:
    """The older form has no ids, and some servers omit them."""
    path = write(
        tmp_path,
        {"role": "assistant", "function_call": {"name": "f", "arguments": "{"}},
        {"role": "assistant", "tool_calls": [_tool_call(None, "g", "1"), _tool_call(None, "h", "2")]},
        {"role": "tool", "content": "x"},
        {"role": "function", "name": "h", "content": "y"},
        {"role": "function", "name": "h", "content": "without a call"},
    )
    events, _ = read(path)

    assert calls(events) == [("f", "{"), ("g", 1), ("h", 2)]
    assert [(event.call.tool, event.outcome) for event in of(events, ToolReturned)] == [
        ("g", Outcome.result("x")),
        ("h", Outcome.result("y")),
    ]


def test_tokens_without_a_total_are_added_up(tmp_path: Path) -> None:
    """A message without usage reports no tokens."""
    usage = {"prompt_tokens": 3, "completion_tokens": 4}
    path = write(
        tmp_path,
        {"role": "assistant", "usage": usage},
        {"role": "assistant", "usage": {}},
        {"role": "assistant"},
    )

    assert [event.tokens for event in of(read(path)[0], TokensUsed)] == [7]


def test_conversations_are_found_however_deep_they_lie(tmp_path: Path) -> None:
    """Nested lists are searched down to a limit."""
    messages = [{"role": "assistant", "tool_calls": [_tool_call("c1", "f", "{}")]}]
    deep: Any = messages
    for _ in range(9):
        deep = {"messages": deep}
    path = tmp_path / "deep.json"
    path.write_text(json.dumps([[messages], {"history": [[messages]]}, deep, {"messages": 1}, 7]))

    assert [event.call.session_id for event in of(read(path)[0], ToolCalled)] == ["1", "2"]


def test_an_unknown_tool_is_recognised_by_its_text(tmp_path: Path) -> None:
    """The format does not flag errors."""
    path = write(
        tmp_path,
        {"role": "assistant", "tool_calls": [_tool_call("c1", "fly", "{}")]},
        {"role": "tool", "tool_call_id": "c1", "content": "Error: unknown tool: fly"},
    )

    assert outcomes(read(path)[0])[0].kind == "unknown_tool"


def test_conversations_do_not_share_ids(tmp_path: Path) -> None:
    """A model may use the same ids in each conversation."""
    messages = [
        {"role": "assistant", "tool_calls": [_tool_call("c1", "f", "{}")]},
        {"role": "tool", "tool_call_id": "c1", "content": "x"},
    ]
    events, _ = read(write(tmp_path, {"messages": messages}, {"messages": messages}))

    assert [event.call.session_id for event in of(events, ToolReturned)] == ["1", "2"]
