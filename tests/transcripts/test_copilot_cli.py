"""The details of Copilot CLI's sessions."""

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
GUIDED = '\n\nTool "bash" succeeded. Additional guidance from postToolUse hooks:\n'
LARGE = "Output too large to read at once (106.3 KB).{}\nConsider using tools\n\nPreview:\n1"


def _event(kind: str, agent: str | None = None, /, **data: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": kind, "data": data, "parentId": None}
    return entry | ({"agentId": agent} if agent else {})


def _start(call: str = "c1", tool: str = "bash", given: Any = None, *, agent: str = "", **more: Any) -> dict[str, Any]:
    return _event("tool.execution_start", agent, toolCallId=call, toolName=tool, arguments=given, **more)


def _ended(call: str = "c1", shown: Any = "out", **more: Any) -> dict[str, Any]:
    return _event("tool.execution_complete", toolCallId=call, success=True, result={"content": shown}, **more)


def _failed(message: Any, code: str = "failure") -> dict[str, Any]:
    return _event("tool.execution_complete", toolCallId="c1", success=False, error={"message": message, "code": code})


def _read(folder: Path, *entries: dict[str, Any]) -> list[Event]:
    path = folder / "events.jsonl"
    head = {**_event("session.start", sessionId="s"), "id": "e0"}
    numbered = [{"id": f"e{number}", **entry} for number, entry in enumerate(entries, 1)]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in [head, *numbered]))
    source = TranscriptFile(path)
    reader = reader_for(source)
    assert reader.name == "copilot_cli"
    return list(reader.read(source))


def _outcome(folder: Path, ended: dict[str, Any], tool: str = "bash") -> Outcome:
    (outcome,) = [event.outcome for event in _read(folder, _start(tool=tool), ended) if isinstance(event, ToolReturned)]
    return outcome


@pytest.mark.parametrize(
    ("tool", "ended", "outcome"),
    [
        ("view", _ended(shown="text"), Outcome.result("text")),
        ("bash", _ended(shown="hi\n<shellId: 7 completed with exit code 0>"), Outcome.shell("hi", exit_code=0)),
        (
            "bash",
            _ended(shown="hi\n<shellId: 8 completed with exit code 3>"),
            Outcome.shell("hi", status="failed", exit_code=3),
        ),
        ("bash", _ended(shown="<command started in background with shellId: 7>"), Outcome.shell("", status="running")),
        ("grep", _ended(shown=LARGE.format(" Saved to: 1.txt")), Outcome.result(LARGE.format(""))),
        ("view", _ended(shown=[1]), Outcome.result([1])),
        ("fly", _failed("Tool 'fly' does not exist."), Outcome.error("Tool 'fly' does not exist.")),
        ("view", _failed("too slow", "something_new"), Outcome.error("too slow")),
        (
            "bash",
            _failed("Permission to run this tool was denied", "denied"),
            Outcome.denied("Permission to run this tool was denied"),
        ),
        ("bash", _failed("The user said no", "rejected"), Outcome.denied("The user said no")),
    ],
)
def test_outcomes_are_told_apart(tool: str, ended: dict[str, Any], outcome: Outcome, tmp_path: Path) -> None:
    """Results, failures, denials and commands with exit codes are read as the hook reads them."""
    assert _outcome(tmp_path, ended, tool) == outcome


@pytest.mark.parametrize(
    ("ended", "outcome"),
    [
        (
            _ended(shown=f"hi\n<shellId: 9 completed with exit code 0>{GUIDED}{ADVICE}"),
            Outcome.shell("hi", exit_code=0),
        ),
        (_ended(shown=f"a{GUIDED}b{GUIDED}{ADVICE}"), Outcome.shell(f"a{GUIDED}b")),
        (_ended(shown=f"out{GUIDED}of somebody else's hook"), Outcome.shell("out")),
        (_ended(shown=f"\n<shellId: 9 completed with exit code 1>{GUIDED}{REFUSAL}"), Outcome.missing()),
        (_failed(f"Denied by preToolUse hook: {REFUSAL}", "denied"), Outcome.missing()),
        (
            _failed(f"Permission denied by a PermissionRequest hook: wheelspin: {REFUSAL}", "rejected"),
            Outcome.missing(),
        ),
        (
            _failed("Denied by preToolUse hook: not here", "denied"),
            Outcome.denied("Denied by preToolUse hook: not here"),
        ),
        (_failed(f"the log says: {REFUSAL}"), Outcome.error(f"the log says: {REFUSAL}")),
    ],
)
def test_what_hooks_said_to_a_call_is_none_of_its_outcome(
    ended: dict[str, Any], outcome: Outcome, tmp_path: Path
) -> None:
    """A call with a warning has its usual outcome; a call that our hook blocked has none."""
    assert _outcome(tmp_path, ended) == outcome


@pytest.mark.parametrize(
    ("entry", "begins"),
    [
        (_event("user.message", content="go", delivery="idle"), True),
        (_event("user.message", content="go", delivery="queued"), True),
        (_event("user.message", content="/pdf read it", delivery="idle"), True),
        (_event("user.message", "helper", content="go", source="agent-s", delivery="idle"), True),
        (_event("user.message", content="rather so", delivery="steering"), False),
        (_event("user.message", content="", source="autopilot", isAutopilotContinuation=True), False),
        (_event("user.message", content="Use pdftotext.", source="skill-pdf"), False),
        (_event("user.message", content="<system_notification>done</system_notification>"), False),
        (_event("system.notification", content="<system_notification>done</system_notification>"), False),
    ],
)
def test_a_prompt_is_told_from_what_comes_in_the_middle_of_a_run(
    entry: dict[str, Any], begins: bool, tmp_path: Path
) -> None:
    """Only messages that Copilot reports to hooks as prompts, and that the user wrote, start a run."""
    assert [event for event in _read(tmp_path, entry) if isinstance(event, UserMessage)] == (
        [UserMessage(2, None, entry.get("agentId"))] if begins else []
    )


def test_what_the_host_and_the_user_run_are_no_calls_of_the_model(tmp_path: Path) -> None:
    """Copilot's reading of a background command after its end, and commands of the user, are left out."""
    events = _read(
        tmp_path,
        _event("assistant.turn_start", turnId="2"),
        _event("system.notification", content="<system_notification>"),
        _event("assistant.message", content=""),
        _start("own", "read_bash"),
        _ended("own"),
        _event("tool.user_requested", toolCallId="user", toolName="local_shell", arguments={"command": "ls"}),
        _ended("user", isUserRequested=True),
        _start("c1", turnId="2"),
        _ended("c1", turnId="2"),
    )

    assert [type(event) for event in events] == [ToolCalled, ToolReturned]
    assert [event.call.tool for event in events if isinstance(event, ToolCalled)] == ["bash"]


def test_a_file_that_knows_no_turns_is_read_all_the_same(tmp_path: Path) -> None:
    """Older versions record no turns."""
    assert [type(event) for event in _read(tmp_path, _start("c1"), _ended("c1"))] == [ToolCalled, ToolReturned]


def test_ids_of_a_provider_may_come_again_and_events_may_be_written_again(tmp_path: Path) -> None:
    """A resumed session may repeat call ids; an event that is read twice counts once."""
    first = [{**_start("c1", given={"n": 1}), "id": "a"}, {**_ended("c1"), "id": "b"}]
    events = _read(tmp_path, *first, *first, _start("c1", given={"n": 2}), _ended("c1"))

    assert [event.call.arguments for event in events if isinstance(event, ToolReturned)] == [{"n": 1}, {"n": 2}]
    assert len(events) == 4


def test_sub_agents_are_agents_of_their_own(tmp_path: Path) -> None:
    """They are recorded in the file of the session that started them."""
    events = _read(
        tmp_path,
        _start("c1", "task"),
        _start("c2", agent="helper"),
        _event("session.compaction_complete", "helper", success=True),
    )

    assert [event.call.agent_id for event in events if isinstance(event, ToolCalled)] == [None, "helper"]
    assert events[-1] == Compacted(4, None, "helper", ok=True)


def test_a_compaction_that_failed_is_told_as_one(tmp_path: Path) -> None:
    """A compaction that found nothing to shorten has failed, too."""
    ended = {"success": False, "error": "Nothing to compact.", "outcome": "not_applicable"}

    assert _read(tmp_path, _event("session.compaction_complete", **ended)) == [Compacted(2, ok=False)]


def test_the_tokens_of_a_turn_come_after_its_calls(tmp_path: Path) -> None:
    """The session records them before the calls; cached input is part of the input."""
    usage = {"inputTokens": 1130, "outputTokens": 5, "cacheReadTokens": 1000, "cacheWriteTokens": 30}
    turn = [_event("session.usage_record", usage=usage), _start("c1"), _start("c2"), _ended("c1"), _ended("c2")]
    events = _read(tmp_path, *turn, _event("session.usage_record", usage=usage), _event("assistant.turn_end"))

    assert [type(event) for event in events] == [
        ToolCalled,
        ToolCalled,
        TokensUsed,
        ToolReturned,
        ToolReturned,
        TokensUsed,
    ]
    assert {event.tokens for event in events if isinstance(event, TokensUsed)} == {1135}
