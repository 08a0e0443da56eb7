"""The details of Codex's rollouts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.transcripts.reading import calls, of, outcomes, read, write
from wheelspin import Outcome
from wheelspin.transcripts.base import (
    Compacted,
    UserMessage,
)


def _codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "t", "type": kind, "payload": payload}


def _item(**payload: Any) -> dict[str, Any]:
    return _codex("response_item", **payload)


def test_the_history_that_replaces_another_holds_no_new_calls(tmp_path: Path) -> None:
    """A line `compacted` is a compaction and nothing else."""
    call = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c9"}
    events, _ = read(write(tmp_path, _codex("compacted", message="", replacement_history=[call])))

    assert events == [Compacted(1)]


@pytest.mark.parametrize(
    ("item", "tool", "arguments"),
    [
        (
            {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}'},
            "shell",
            {"command": ["ls"]},
        ),
        ({"type": "function_call", "name": "f", "namespace": "mcp__x", "arguments": "{"}, "mcp__x__f", "{"),
        ({"type": "function_call", "name": "f", "namespace": "agents", "arguments": "{"}, "agents.f", "{"),
        ({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin"}, "apply_patch", "*** Begin"),
        ({"type": "local_shell_call", "action": {"type": "exec"}}, "local_shell", {"type": "exec"}),
        ({"type": "tool_search_call", "arguments": {"query": "x"}}, "tool_search", {"query": "x"}),
    ],
)
def test_every_kind_of_call_is_read(item: dict[str, Any], tool: str, arguments: Any, tmp_path: Path) -> None:
    """Arguments are JSON text; text that is not valid JSON stays as it is."""
    assert calls(read(write(tmp_path, _item(call_id="c1", **item)))[0]) == [(tool, arguments)]


@pytest.mark.parametrize(
    ("tool", "output", "outcome"),
    [
        (
            "exec_command",
            "Chunk ID: 1a\nWall time: 0.1 s\nProcess exited with code 3\nOriginal token count: 2\nOutput:\nhi\n",
            Outcome.shell("hi\n", status="failed", exit_code=3),
        ),
        (
            "exec_command",
            "Chunk ID: 2b\nWall time: 9.9 seconds\nProcess exited with code 0\nOutput:\nhi",
            Outcome.shell("hi", exit_code=0),
        ),
        (
            "write_stdin",
            "Chunk ID: 2b\nWall time: 9.9 seconds\nProcess running with session ID 7\nOutput:\nhi",
            Outcome.shell("hi", status="running"),
        ),
        (
            "shell_command",
            "Exit code: 1\nWall time: 0 seconds\nOutput:\nno",
            Outcome.shell("no", status="failed", exit_code=1),
        ),
        (
            "shell",
            '{"output":"hi","metadata":{"exit_code":1,"duration_seconds":0.2}}',
            Outcome.shell("hi", status="failed", exit_code=1),
        ),
        ("shell", {"type": "input_text", "text": "hi"}, Outcome.shell("hi")),
        ("update_plan", "Plan updated", Outcome.result("Plan updated")),
        ("view_image", [{"type": "input_text", "text": "a"}], Outcome.result("a")),
        (
            "view_image",
            [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "u"}],
            Outcome.result(["a", {"type": "input_image", "image_url": "u"}]),
        ),
        ("mcp", {"content": "no", "success": False}, Outcome.error("no")),
        (
            "mcp__x__f",
            [
                {"type": "input_text", "text": "Wall time: 0.0038 seconds\nOutput:"},
                {"type": "input_text", "text": "a"},
            ],
            Outcome.result("a"),
        ),
        ("mcp__x__f", 'Wall time: 0.0037 seconds\nOutput:\n{"left":3}', Outcome.result('{"left":3}')),
        ("apply_patch", "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nDone.\n", Outcome.result("Done.\n")),
        ("apply_patch", "Exit code: 1\nWall time: 0.1 seconds\nOutput:\nNo.\n", Outcome.error("No.\n")),
        (
            "exec",
            [
                {"type": "input_text", "text": "Script completed\nWall time 0.1 seconds\nOutput:\n"},
                {"type": "input_text", "text": "a"},
                {"type": "input_text", "text": '{"chunk_id":"d5","wall_time_seconds":6.6e-6,"output":"b"}'},
            ],
            Outcome.result(["a", '{"output":"b"}']),
        ),
        (
            "exec",
            [
                {"type": "input_text", "text": "Script failed\nWall time 0.1 seconds\nOutput:\n"},
                {"type": "input_text", "text": "Script error:\nno"},
            ],
            Outcome.error("Script error:\nno"),
        ),
        (
            "wait",
            "Script running with cell ID 12\nWall time 0.5 seconds\nOutput:\nhi",
            Outcome.shell("hi", status="running"),
        ),
    ],
)
def test_outcomes_are_read_without_what_codex_adds(tool: str, output: Any, outcome: Outcome, tmp_path: Path) -> None:
    """Chunk ids, wall times and token counts change with every call and are left out."""
    path = write(
        tmp_path,
        _item(type="function_call", name=tool, arguments="{}", call_id="c1"),
        _item(type="function_call_output", call_id="c1", output=output),
    )

    assert outcomes(read(path)[0]) == [outcome]


def test_prompts_are_events_and_older_files_have_them_as_messages(tmp_path: Path) -> None:
    """A prompt that is recorded twice counts once, and messages that the host adds are not prompts."""
    text = [{"type": "input_text", "text": "go"}]
    context = [{"type": "input_text", "text": "<environment_context>x</environment_context>"}]
    message = _item(type="message", role="user", content=text)
    path = write(tmp_path, _codex("event_msg", type="user_message", message="go"), message)
    answer = _item(type="message", role="assistant", content=text)
    older = write(tmp_path, _item(type="message", role="user", content=context), message, answer, name="o.jsonl")

    assert [event.line for event in of(read(path)[0], UserMessage)] == [1]
    assert [event.line for event in of(read(older)[0], UserMessage)] == [2]
