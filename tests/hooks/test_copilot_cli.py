"""Copilot CLI's payloads become events, and verdicts its replies; whatever is not known passes."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import shared
from wheelspin.hooks.copilot_cli import HOOK
from wheelspin.hooks.process import answer

BASE = {"session_id": "s1", "timestamp": "2026-05-01T10:00:00.000Z", "cwd": "/home/sam/shop"}
SUB = {"session_id": "a1", "agent_id": "a1", "agent_type": "task", "parent_agent_id": "s1"}
PERMISSION = {
    "hookName": "permissionRequest",
    "sessionId": "s1",
    "timestamp": 1777629600000,
    "toolName": "bash",
    "toolInput": {"command": "npm test"},
    "permissionSuggestions": [],
}
AUTOPILOT = (
    "You have not yet marked the task as complete using the task_complete tool. If you were planning, stop planning"
)
LARGE = "Output too large to read at once (106.3 KB). Saved to: /tmp/{}.txt\nConsider using tools\n\nPreview:\n1\n2"
NOTE = "<shellId: 1 completed with exit code 0>"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the hook a home of its own."""
    for name in ("WHEELSPIN_STORE", "WHEELSPIN_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def _pre(tool: str = "Bash", given: Any = None, **more: Any) -> dict[str, Any]:
    given = {"command": "npm test", "description": "run the tests"} if given is None else given
    return {**BASE, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": given, **more}


def _post(shown: Any, tool: str = "Bash", given: Any = None, kind: str = "success", **more: Any) -> dict[str, Any]:
    result = {"result_type": kind, "text_result_for_llm": shown}
    return {**_pre(tool, given), "hook_event_name": "PostToolUse", "tool_result": result, **more}


def _failed(error: Any, tool: str = "Bash", given: Any = None) -> dict[str, Any]:
    return {**_pre(tool, given), "hook_event_name": "PostToolUseFailure", "error": error}


def _loop(times: int, shown: str = "1 failing\n<shellId: {} completed with exit code 1>") -> list[tuple[Any, Any]]:
    """Make one call so many times, and give the replies to each; a call that is denied has no outcome."""
    replies: list[tuple[Any, Any]] = []
    for number in range(1, times + 1):
        words = {"command": "npm test", "description": f"try {number}"}
        before = answer(HOOK, _pre(given=words))
        replies.append((before, None if before else answer(HOOK, _post(shown.format(number), given=words))))
    return replies


def _records() -> list[dict[str, Any]]:
    from wheelspin.userfiles.paths import store_path

    rows = sqlite3.connect(store_path()).execute("SELECT records FROM sessions").fetchall()
    return [record for row in rows for record in json.loads(row[0])]


def test_a_loop_is_warned_about_with_the_result_then_denied_then_ended() -> None:
    """At the documented counts, although the shell's number and the description are others each time."""
    replies = _loop(30)

    assert [number for number, (before, after) in enumerate(replies, 1) if before is None and after] == [11]
    assert list(replies[10][1]) == ["additionalContext"]
    assert replies[10][1]["additionalContext"].startswith("Loop detected: `bash` was called 10 times")
    denied = replies[20][0]
    assert denied["permissionDecision"] == "deny"
    assert denied["permissionDecisionReason"].startswith("Loop detected: `bash` was called 20 times")
    assert [number for number, (before, _) in enumerate(replies, 1) if before] == list(range(21, 31))
    assert answer(HOOK, PERMISSION) is None


def test_a_run_that_has_ended_lets_a_shell_call_ask_for_its_permission_and_ends_there() -> None:
    """As a command that only ends: the model's own is not run, whoever else allows it."""
    replies = _loop(31)

    assert replies[30][0] == {"modifiedArgs": {"command": "exit 1", "description": "wheelspin: this run has ended"}}
    ended = answer(HOOK, PERMISSION)
    assert ended is not None
    assert (ended["behavior"], ended["interrupt"]) == ("deny", True)
    assert ended["message"].startswith("wheelspin: Loop detected: `bash` was called 30 times")


def test_a_run_that_has_ended_denies_what_asks_for_no_permission() -> None:
    """A tool that reads is never asked about, and so cannot end the run: its calls stay denied."""
    for _ in range(31):
        before = answer(HOOK, _pre("Read", {"path": "/a"}))
        if before is None:
            answer(HOOK, _post("the same", "Read", {"path": "/a"}))
    assert before is not None
    assert before["permissionDecision"] == "deny"
    assert before["permissionDecisionReason"].startswith("Loop detected: `view` was called 30 times")

    other = answer(HOOK, _pre("srv-ping", {"host": "b"}))
    assert other is not None
    assert other["permissionDecision"] == "deny"
    shell = answer(HOOK, _pre("Bash", {"command": "ls", "description": "look"}))
    assert shell is not None
    assert "modifiedArgs" in shell


def test_what_is_run_in_place_of_a_call_is_answered_with_the_advice() -> None:
    """Where somebody else's hook allowed it, so that no permission was asked for."""
    replacement = _loop(31)[30][0]["modifiedArgs"]
    told = answer(HOOK, _post("\n<shellId: 40 completed with exit code 1>", given=replacement))

    assert told is not None
    assert told["additionalContext"].startswith("Loop detected: `bash` was called 30 times")


def test_a_prompt_begins_a_new_run() -> None:
    """What was ended is over."""
    _loop(31)
    assert answer(HOOK, {**BASE, "hook_event_name": "UserPromptSubmit", "prompt": "go on"}) is None

    assert answer(HOOK, PERMISSION) is None
    assert _loop(3) == [(None, None)] * 3


@pytest.mark.parametrize("prompt", [AUTOPILOT, "<system_notification>\nShell command has completed\n"])
def test_what_the_host_itself_says_as_a_prompt_begins_none(prompt: str) -> None:
    """Autopilot goes on by itself, and a command that ran in the background tells that it is done."""
    _loop(31)
    answer(HOOK, {**BASE, "hook_event_name": "UserPromptSubmit", "prompt": prompt})

    assert answer(HOOK, PERMISSION) is not None


def test_work_that_makes_progress_is_left_alone() -> None:
    """No word is said."""
    for number in range(40):
        given = {"command": f"sed -n {number}p notes.md", "description": "read on"}
        assert answer(HOOK, _pre(given=given)) is None
        assert (
            answer(HOOK, _post(f"line {number}\n<shellId: {number} completed with exit code 0>", given=given)) is None
        )
        assert answer(HOOK, PERMISSION) is None


def test_a_compaction_that_has_only_begun_arms_nothing() -> None:
    """It goes on in the background, and may fail."""
    _loop(2)
    compacting = {**BASE, "hook_event_name": "PreCompact", "trigger": "auto", "custom_instructions": ""}
    assert HOOK.event(compacting) is None
    assert answer(HOOK, compacting) is None
    assert _loop(8) == [(None, None)] * 8


def test_a_tool_that_is_not_there_is_told_of() -> None:
    """It fails as the host says, and is known by that."""
    replies: list[Any] = []
    for number in range(21):
        before = answer(HOOK, _pre("frobnicate", {"n": number}))
        error = "Tool 'frobnicate' does not exist."
        replies.append(before or answer(HOOK, _failed(error, "frobnicate", {"n": number})))

    first = next(number for number, reply in enumerate(replies) if reply)
    assert first == 10
    assert "no tool of that name" in replies[first]["permissionDecisionReason"]


def test_parallel_calls_may_finish_in_any_order() -> None:
    """Calls have no ids; each outcome goes to the newest open call that is equal."""
    replies: list[Any] = []
    for turn in range(12):
        given = [{"command": f"cat {number}", "description": "d"} for number in (0, 1, 1)]
        for words in given:
            assert answer(HOOK, _pre(given=words)) is None
        for place, words in reversed(list(enumerate(given))):
            text = f"new {turn} {place}\n<shellId: {place} completed with exit code 0>"
            replies.append(answer(HOOK, _post(text, given=words)))

    assert any(replies)
    assert {tuple(reply) for reply in replies if reply} == {("additionalContext",)}
    (record,) = _records()
    assert (record["calls"], record["blocks"]) == (36, 0)


def test_a_sub_agent_has_a_history_of_its_own_and_can_be_ended_alone() -> None:
    """Its calls come with its id as the session, its permissions with that of its parent."""
    for number in range(31):
        before = answer(HOOK, _pre(**SUB))
        if before is None:
            answer(HOOK, _post(f"same\n<shellId: {number} completed with exit code 0>", **SUB))
    assert before is not None
    assert "modifiedArgs" in before

    assert answer(HOOK, PERMISSION) is None
    ended = answer(HOOK, {**PERMISSION, "agent_id": "a1", "agent_type": "task", "parent_agent_id": "s1"})
    assert ended is not None
    assert ended["interrupt"] is True
    assert [(record["session_id"], record["agent_id"]) for record in _records()][-1] == ("a1", "a1")


def test_observing_ends_no_run(home: Path) -> None:
    """What would have ended it is recorded and nothing is said."""
    place = home / "config" / "wheelspin" / "config.json5"
    place.parent.mkdir(parents=True)
    place.write_text("{tools: {loopDetection: {mode: 'observe'}}}")

    assert _loop(35) == [(None, None)] * 35
    assert answer(HOOK, PERMISSION) is None
    assert _records()[0]["code"] == "global_circuit_breaker"


@pytest.mark.parametrize(
    ("tool", "given", "name"),
    [
        ("Bash", {"command": "ls"}, "bash"),
        ("Read", {"path": "/a"}, "view"),
        ("Write", {"path": "/a", "file_text": ""}, "create"),
        ("Edit", {"path": "/a", "old_str": "b"}, "edit"),
        ("Edit", "*** Begin Patch\n*** End Patch\n", "apply_patch"),
        ("Grep", {"pattern": "a"}, "grep"),
        ("Agent", {"prompt": "go"}, "task"),
        ("srv-ping", {"x": 1}, "srv-ping"),
        ("read_bash", {"shellId": "1", "delay": 1}, "read_bash"),
    ],
)
def test_a_tool_has_the_name_that_the_model_knows(tool: str, given: Any, name: str) -> None:
    """Not the one that the host gives it for hooks of other agents."""
    event = HOOK.event(_pre(tool, given))

    assert event is not None
    assert [(call.tool, call.arguments) for call, _ in event.calls] == [(name, given)]


def _said(payload: dict[str, Any]) -> tuple[str, Any]:
    """Give kind and value of the outcome in a payload."""
    event = HOOK.event(payload)
    assert event is not None
    ((_, outcome),) = event.calls
    return (outcome.kind, outcome.value) if outcome is not None else ("", None)


def _ran(output: str, status: str, code: int | None) -> tuple[str, dict[str, Any]]:
    return "shell", {"status": status, "exitCode": code, "timedOut": False, "aggregated": output}


@pytest.mark.parametrize(
    ("shown", "outcome"),
    [
        ("hi\n<shellId: 0 completed with exit code 0>", _ran("hi", "completed", 0)),
        ("\n<shellId: 7 completed with exit code 0>", _ran("", "completed", 0)),
        ("out\n\nmore\n<shellId: 12 completed with exit code 3>", _ran("out\n\nmore", "failed", 3)),
        ("gone\n<shellId: build completed with exit code -1>", _ran("gone", "failed", -1)),
        (
            "<shellId: 1 completed with exit code 0>\n<shellId: 2 completed with exit code 1>",
            _ran("<shellId: 1 completed with exit code 0>", "failed", 1),
        ),
        ("<command started in background with shellId: 7>", _ran("", "running", None)),
        ("<command started in detached background with shellId: 8>", _ran("", "running", None)),
        (
            "a\n<command with shellId: 3 is still running after 30 seconds. Use read_bash to wait.>",
            _ran("a", "running", None),
        ),
        ("no note", _ran("no note", "completed", None)),
        ("<shellId: 1 completed with exit code x>", _ran("<shellId: 1 completed with exit code x>", "completed", None)),
        ("<command of another kind>", _ran("<command of another kind>", "completed", None)),
        (
            "<shellId: 1 completed with exit code 0> and on",
            _ran("<shellId: 1 completed with exit code 0> and on", "completed", None),
        ),
        (
            LARGE.format(1) + "\n\n<shellId: 1 completed with exit code 0>",
            _ran(
                "Output too large to read at once (106.3 KB).\nConsider using tools\n\nPreview:\n1\n2\n", "completed", 0
            ),
        ),
    ],
)
def test_a_command_s_note_is_read_and_left_out(shown: str, outcome: Any) -> None:
    """It holds the exit code, and the number of the shell, which is no news."""
    assert _said(_post(shown)) == outcome


@pytest.mark.parametrize(
    ("payload", "outcome"),
    [
        (_post("hello", "Read", {"path": "/a"}), ("result", "hello")),
        (_post("Denied by rule", kind="denied"), ("denied", "Denied by rule")),
        (_post("The user said no", kind="rejected"), ("denied", "The user said no")),
        (_post("gone wrong", "Read", {"path": "/a"}, "failure"), ("error", "gone wrong")),
        (_post(None, "Read", {}), ("result", {"result_type": "success", "text_result_for_llm": None})),
        (_failed("Path does not exist", "Read", {"path": "/a"}), ("error", "Path does not exist")),
        (_failed(None, "Read", {}), ("", None)),
        ({**_post("x"), "tool_result": None}, ("", None)),
        ({**_post("x"), "tool_result": "x"}, ("", None)),
    ],
)
def test_an_outcome_is_what_the_host_calls_it(payload: dict[str, Any], outcome: Any) -> None:
    """A result, an error, a denial, or nothing that is known."""
    assert _said(payload) == outcome


@pytest.mark.parametrize(
    ("tool", "texts"),
    [
        ("Grep", [LARGE.format(1), LARGE.format(2)]),
        ("list_bash", [f"shellId: 1, pid: 7, status: running, elapsed: {n}s, commands: 1" for n in (3, 14)]),
        ("Agent", [f"Agent started in background with agent_id: {n}. You'll be notified" for n in ("a1", "b2")]),
        ("Bash", [f"<command started in background with shellId: {n}>" for n in (3, 4)]),
    ],
)
def test_what_the_host_counts_and_names_anew_makes_no_news(tool: str, texts: list[str]) -> None:
    """Two results that differ in nothing else are one result, which is blocked when it comes for ever."""
    given = {"of": "the same"}
    replies: list[Any] = []
    for number in range(21):
        replies.append(answer(HOOK, _pre(tool, given)))
        answer(HOOK, _post(texts[number % 2], tool, given))

    assert replies[-1] is not None
    assert replies[-1]["permissionDecision"] == "deny"


def test_calls_that_somebody_refused_are_not_blocked() -> None:
    """The host tells no outcome of them, and calls alone are no evidence."""
    for _ in range(40):
        assert answer(HOOK, _pre()) is None
        assert answer(HOOK, PERMISSION) is None


def test_looking_at_another_agent_is_never_blocked() -> None:
    """It is told of, and the other agent has a guard of its own."""
    told = []
    for _ in range(40):
        assert answer(HOOK, _pre("read_agent", {"agent_id": "a1"})) is None
        told.append(answer(HOOK, _post("Agent is still running", "read_agent", {"agent_id": "a1"})))

    assert any(told)


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"hook_event_name": "PreToolUse"},
        {"hook_event_name": 7, "session_id": "s"},
        {**BASE, "hook_event_name": "SomethingNew", "tool_name": "Bash", "tool_input": {}},
        {**BASE, "hook_event_name": "SessionStart", "source": "new"},
        {**BASE, "hook_event_name": "Stop", "stop_reason": "end_turn"},
        {**BASE, "hook_event_name": "PreToolUse", "tool_name": "Bash"},
        {**BASE, "hook_event_name": "PreToolUse", "tool_name": None, "tool_input": "x"},
        {**BASE, "hook_event_name": "PostToolUse", "tool_name": 7, "tool_input": {}, "tool_result": []},
        {**BASE, "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}, "agent_id": 7},
        {**BASE, "hook_event_name": "UserPromptSubmit", "prompt": ["go"]},
        {**_pre(), "session_id": None},
        {"hookName": "permissionRequest"},
        {"hookName": "permissionRequest", "sessionId": ["s1"]},
        {"hookEventName": "PreToolUse", "sessionId": "s1", "tool_name": "run", "tool_input": {}, "tool_use_id": "t"},
    ],
)
def test_what_is_not_known_passes(payload: dict[str, Any]) -> None:
    """Unknown events, fields and types, and payloads of other programs that read the same file."""
    assert answer(HOOK, payload) is None


@pytest.mark.parametrize("name", ["base", "fail", "compact", "pre_deny"])
def test_recorded_payloads_of_short_sessions_are_understood_and_left_alone(name: str) -> None:
    """Each kind of event of the real program, with no word said below the thresholds."""
    lines = (shared("hosts/payloads") / f"copilot_hooks_{name}.jsonl").read_text().splitlines()
    payloads = [json.loads(line)["in"] for line in lines]
    events = [HOOK.event(payload) for payload in payloads]
    kinds = [event.kind for event in events if event is not None]
    outcomes: list[Any] = [outcome for event in events if event is not None for _, outcome in event.calls if outcome]

    assert set(kinds) == {"prompt", "before", "checkpoint", "after"}
    assert {outcome.kind for outcome in outcomes} == {"shell"}
    assert [outcome.value["exitCode"] for outcome in outcomes] == [3 if name == "fail" else 0] * len(outcomes)
    assert [answer(HOOK, payload) for payload in payloads] == [None] * len(payloads)
