"""The details of Claude Code's sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.transcripts.reading import SESSIONS, of, outcomes, read, write
from wheelspin import Outcome
from wheelspin.transcripts import reader_for
from wheelspin.transcripts.base import (
    Compacted,
    TokensUsed,
    ToolCalled,
    ToolReturned,
    UserMessage,
)
from wheelspin.transcripts.files import TranscriptFile


def _claude(kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content} | fields.pop("message", {})
    return {"type": kind, "sessionId": "s", "uuid": fields.pop("uuid", "u"), "message": message, **fields}


def _use(call: str, tool: str = "Read", **arguments: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": call, "name": tool, "input": arguments}]


def _result(call: str, content: Any, *, failed: bool = False) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": call, "content": content, "is_error": failed}]


def test_lines_that_are_written_again_after_a_compaction_are_one_call(tmp_path: Path) -> None:
    """Their call ids identify them."""
    kept = [_claude("assistant", _use("t1")), _claude("user", _result("t1", "x"))]
    boundary = {"type": "system", "subtype": "compact_boundary", "sessionId": "s", "uuid": "b"}
    summary = _claude("user", "This session is being continued", isCompactSummary=True)
    path = write(tmp_path, _claude("user", "go"), *kept, boundary, summary, *kept, _claude("assistant", _use("t2")))
    events, _ = read(path)

    assert [type(event) for event in events] == [UserMessage, ToolCalled, ToolReturned, Compacted, ToolCalled]


def test_a_partial_compaction_of_old_results_is_none(tmp_path: Path) -> None:
    """Only a boundary after which the context was summarised arms the guard."""
    line = {"type": "system", "subtype": "microcompact_boundary", "sessionId": "s", "uuid": "b"}

    assert read(write(tmp_path, line))[0] == []


@pytest.mark.parametrize(
    ("line", "is_prompt"),
    [
        (_claude("user", "fix it"), True),
        (_claude("user", [{"type": "text", "text": "fix it"}, {"type": "image"}]), True),
        (_claude("user", "<command-message>review</command-message>\n<command-name>/review</command-name>"), True),
        (_claude("user", "<command-name>/clear</command-name>"), False),
        (_claude("user", "<local-command-stdout>ok</local-command-stdout>"), False),
        (_claude("user", [{"type": "text", "text": "[Request interrupted by user]"}]), False),
        (_claude("user", "<task-notification>done</task-notification>"), False),
        (_claude("user", "context", isMeta=True), False),
        (_claude("user", _result("t1", "x")), False),
        (_claude("user", []), False),
    ],
)
def test_a_prompt_of_the_user_is_told_from_what_the_host_writes(
    line: dict[str, Any], is_prompt: bool, tmp_path: Path
) -> None:
    """Only a prompt of the user starts a run."""
    events, _ = read(write(tmp_path, line, _claude("assistant", [])))

    assert bool(of(events, UserMessage)) is is_prompt


@pytest.mark.parametrize(
    ("tool", "result", "failed", "outcome"),
    [
        ("Read", "text", False, Outcome.result("text")),
        ("Read", [{"type": "text", "text": "text"}], False, Outcome.result("text")),
        ("Read", [{"type": "image", "source": 1}], False, Outcome.result([{"type": "image", "source": 1}])),
        ("Read", "gone", True, Outcome.error("gone")),
        ("Bash", "out", False, Outcome.shell("out")),
        ("Bash", "Exit code 1\nout", True, Outcome.shell("Exit code 1\nout", status="failed")),
        ("Bash", "The user doesn't want to proceed with this tool use. x", True, None),
    ],
)
def test_outcomes_are_told_apart(tool: str, result: Any, failed: bool, outcome: Outcome | None, tmp_path: Path) -> None:
    """Shell tools have shell outcomes, and calls that the user refused are denied."""
    path = write(
        tmp_path, _claude("assistant", _use("t1", tool)), _claude("user", _result("t1", result, failed=failed))
    )
    (found,) = outcomes(read(path)[0])

    assert found == (outcome or Outcome.denied(result))


def test_sub_agents_are_agents_of_their_own(tmp_path: Path) -> None:
    """Sub-agents are read from side chains, with an id or without, and from messages that the file quotes."""
    quoted = {"type": "assistant", "message": {"content": _use("t4")}}
    path = write(
        tmp_path,
        _claude("assistant", _use("t1"), uuid="a"),
        _claude("user", "sub task", uuid="b", isSidechain=True),
        _claude("assistant", _use("t2"), uuid="c", parentUuid="b", isSidechain=True),
        _claude("assistant", _use("t3"), uuid="d", isSidechain=True, agentId="helper"),
        {"type": "progress", "data": {"type": "agent_progress", "agentId": "quoted", "message": quoted}},
        {"type": "progress", "data": {"type": "bash_progress"}},
        {"type": "progress", "data": {"type": "agent_progress", "agentId": "quoted"}},
        {"type": "assistant", "sessionId": "s", "message": "none"},
        {"type": "user", "sessionId": "s", "message": "none"},
    )
    events, _ = read(path)

    assert [event.call.agent_id for event in of(events, ToolCalled)] == [None, "b", "helper", "quoted"]
    assert [event.agent_id for event in of(events, UserMessage)] == ["b"]


def test_quotes_of_sub_agents_are_left_out_where_their_files_lie_beside(tmp_path: Path) -> None:
    """A replay of the folder then counts each sub-agent once."""
    quoted = {"type": "assistant", "message": {"content": _use("t4")}}
    line = {"type": "progress", "data": {"type": "agent_progress", "agentId": "quoted", "message": quoted}}
    path = write(tmp_path, _claude("assistant", _use("t1")), line)
    (tmp_path / "session" / "subagents").mkdir(parents=True)

    assert len(of(read(path)[0], ToolCalled)) == 1


def test_the_description_of_a_command_does_not_count() -> None:
    """Its wording varies."""
    reader = reader_for(TranscriptFile(SESSIONS / "claude-code.jsonl"))
    tool = reader.tools.look_up("Bash", {})

    assert tool.identify({"command": "ls", "description": "List"}) == {"command": "ls"}


def test_tokens_are_those_of_the_message(tmp_path: Path) -> None:
    """They include cached input and output, and carry the id of the message."""
    usage = {
        "input_tokens": 1,
        "cache_creation_input_tokens": 10,
        "cache_read_input_tokens": 100,
        "output_tokens": 5,
    }
    path = write(tmp_path, _claude("assistant", _use("t1"), message={"id": "m1", "usage": usage}))

    assert of(read(path)[0], TokensUsed) == [TokensUsed(1, 116, None, None, "m1")]
