"""The details of exported opencode sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wheelspin import Outcome
from wheelspin.transcripts import reader_for
from wheelspin.transcripts.base import Compacted, Event, TokensUsed, ToolCalled, ToolReturned, UserMessage
from wheelspin.transcripts.files import TranscriptFile

ADVICE = "Loop detected: `bash` was called 10 times. Calling it again will not change that. Write it down."
REFUSAL = "Loop detected: `bash` was called 20 times with the same arguments. This call was not run. Write it down."
MISSING = "The arguments provided to the tool are invalid: Model tried to call unavailable tool 'fly'."
STORED = "...output truncated...\n\nFull output saved to: {}\n\n9\n10\n"


def _tool(tool: str = "bash", given: Any = None, number: int = 1, **state: Any) -> dict[str, Any]:
    state = {"status": "completed", "input": given or {}, **state}
    return {"type": "tool", "id": f"prt_{number}", "callID": "call_0", "tool": tool, "state": state}


def _message(role: str, *parts: Any, **info: Any) -> dict[str, Any]:
    return {"info": {"role": role, **info}, "parts": list(parts)}


def _read(folder: Path, *messages: Any) -> list[Event]:
    path = folder / "session.json"
    path.write_text(json.dumps({"info": {"id": "ses_1", "version": "1.18.33"}, "messages": list(messages)}, indent=2))
    source = TranscriptFile(path)
    reader = reader_for(source)
    assert (reader.name, source.problem_count) == ("opencode", 0)
    return list(reader.read(source))


@pytest.mark.parametrize(
    ("part", "outcome"),
    [
        (_tool("read", output="text"), Outcome.result("text")),
        (_tool(output="hi\n", metadata={"exit": 0}), Outcome.shell("hi\n", exit_code=0)),
        (_tool(output="no\n", metadata={"exit": 3}), Outcome.shell("no\n", status="failed", exit_code=3)),
        (_tool(output="(no output)", metadata={"exit": None}), Outcome.shell("(no output)", status="failed")),
        (
            _tool(output=STORED.format("/a/tool_1"), metadata={"exit": 0, "outputPath": "/a/tool_1"}),
            Outcome.shell(STORED.format(""), exit_code=0),
        ),
        (
            _tool("read", output="an image", attachments=[{"mime": "image/png", "url": "data:"}]),
            Outcome.result(["an image", ["image/png", "data:"]]),
        ),
        (_tool("invalid", output=MISSING), Outcome.unknown_tool(MISSING)),
        (_tool("invalid", output="no JSON"), Outcome.error("no JSON")),
        (_tool("read", status="error", error="File not found"), Outcome.error("File not found")),
        (
            _tool("task", status="error", error="Subagent failed (task_id: ses_9): too long"),
            Outcome.error(": too long"),
        ),
        (
            _tool(status="error", error="The user rejected permission to use this specific tool call."),
            Outcome.denied("The user rejected permission to use this specific tool call."),
        ),
        (_tool(status="error", error="Tool execution aborted"), Outcome.missing()),
    ],
)
def test_outcomes_are_told_apart(part: dict[str, Any], outcome: Outcome, tmp_path: Path) -> None:
    """Results, failures, denials and commands with exit codes are read as the hook reads them."""
    events = _read(tmp_path, _message("assistant", part))

    assert [event.outcome for event in events if isinstance(event, ToolReturned)] == [outcome]


@pytest.mark.parametrize(
    ("part", "outcome"),
    [
        (_tool(output=f"hi\n\n\n{ADVICE}", metadata={"exit": 0}), Outcome.shell("hi\n", exit_code=0)),
        (_tool("read", output=f"hi\n\n{REFUSAL}"), Outcome.result("hi")),
        (
            _tool("read", output="hi\n\nLoop detected: in the graph"),
            Outcome.result("hi\n\nLoop detected: in the graph"),
        ),
        (_tool(status="error", error=REFUSAL), Outcome.missing()),
        (_tool(status="error", error=f"the log says: {REFUSAL}"), Outcome.error(f"the log says: {REFUSAL}")),
    ],
)
def test_our_own_advice_is_none_of_an_outcome(part: dict[str, Any], outcome: Outcome, tmp_path: Path) -> None:
    """A call with a warning has its usual outcome; a call that the guard blocked has none."""
    events = _read(tmp_path, _message("assistant", part))

    assert [event.outcome for event in events if isinstance(event, ToolReturned)] == [outcome]


def test_a_call_that_was_not_understood_has_the_name_that_was_asked_for(tmp_path: Path) -> None:
    """Its arguments are the error, since the original ones are not recorded."""
    part = _tool("invalid", {"tool": "fly", "error": "no such tool"}, output=MISSING)
    (call,) = [event.call for event in _read(tmp_path, _message("assistant", part)) if isinstance(event, ToolCalled)]

    assert (call.tool, call.arguments) == ("fly", {"error": "no such tool"})


@pytest.mark.parametrize(
    ("parts", "begins"),
    [
        ([{"type": "text", "text": "go"}], True),
        ([{"type": "text", "text": "the file", "synthetic": True}, {"type": "file", "mime": "text/plain"}], True),
        ([{"type": "subtask", "prompt": "go"}], True),
        ([{"type": "text", "text": "Continue if you have next steps", "synthetic": True}], False),
        ([{"type": "compaction", "auto": True}], False),
        ([], False),
    ],
)
def test_a_prompt_is_told_from_what_opencode_writes(parts: list[Any], begins: bool, tmp_path: Path) -> None:
    """Only a message or a command of the user starts a run."""
    assert _read(tmp_path, _message("user", *parts)) == ([UserMessage(1)] if begins else [])


def test_a_command_that_the_user_ran_is_no_call(tmp_path: Path) -> None:
    """Calls that answer other messages of opencode are calls of the model."""
    ran = {"type": "text", "text": "The following tool was executed by the user", "synthetic": True}
    on = {"type": "text", "text": "Continue if you have next steps", "synthetic": True}
    events = _read(
        tmp_path,
        _message("user", ran, id="m1"),
        _message("assistant", _tool(output="user\n"), parentID="m1"),
        _message("user", on, id="m2"),
        _message("assistant", _tool("read", number=2), parentID="m2"),
    )

    assert [(event.line, event.call.tool) for event in events if isinstance(event, ToolCalled)] == [(4, "read")]


@pytest.mark.parametrize(
    ("info", "ok"),
    [
        ({"finish": "stop"}, True),
        ({}, False),
        ({"finish": "stop", "error": {"name": "MessageAbortedError"}}, False),
    ],
)
def test_a_summary_is_a_compaction(info: dict[str, Any], ok: bool, tmp_path: Path) -> None:
    """A summary that was not completed is a failed compaction."""
    assert _read(tmp_path, _message("assistant", summary=True, **info)) == [Compacted(1, ok=ok)]


def test_outcomes_of_one_message_come_in_the_order_of_their_ends_and_failures_last(tmp_path: Path) -> None:
    """This is the order in which the hook receives them; a call that has not ended has no outcome."""
    states = [("error", 1), ("completed", 5), ("completed", 3), ("running", 0)]
    parts = [
        _tool("read", {"n": number}, number, status=status, time={"end": end})
        for number, (status, end) in enumerate(states)
    ]
    events = _read(tmp_path, _message("assistant", *parts, id="m1", tokens={"total": 9}), _message("assistant", *parts))

    assert [type(event) for event in events] == [*[ToolCalled] * 4, TokensUsed, *[ToolReturned] * 3]
    assert [event.call.arguments for event in events if isinstance(event, ToolReturned)] == [
        {"n": n} for n in (2, 1, 0)
    ]


@pytest.mark.parametrize(
    ("tokens", "cost"),
    [
        ({"total": 105, "input": 100, "output": 5, "reasoning": 0, "cache": {"read": 0, "write": 0}}, 105),
        ({"input": 3, "output": 5, "reasoning": 2, "cache": {"read": 1000, "write": 30}}, 1040),
    ],
)
def test_tokens_are_those_of_the_message(tokens: dict[str, Any], cost: int, tmp_path: Path) -> None:
    """They include cached input and output, and carry the id of the message."""
    assert _read(tmp_path, _message("assistant", id="m1", tokens=tokens)) == [TokensUsed(1, cost, turn_id="m1")]


def test_the_description_of_a_command_does_not_count(tmp_path: Path) -> None:
    """Its wording varies."""
    _read(tmp_path, _message("user"))
    reader = reader_for(TranscriptFile(tmp_path / "session.json"))

    assert reader.tools.look_up("bash", {}).identify({"command": "ls", "description": "List"}) == {"command": "ls"}
