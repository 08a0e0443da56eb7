"""The hook of Copilot CLI turns payloads into events and verdicts into replies; unknown payloads are ignored."""

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
    """Point the hook at an empty home directory."""
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
    """Make one call `times` times, and return the replies to each; a denied call has no outcome."""
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
    """Each happens at the documented count, although the shell number and the description differ each time."""
    replies = _loop(30)

    assert [number for number, (before, after) in enumerate(replies, 1) if before is None and after] == [11]
    assert list(replies[10][1]) == ["additionalContext"]
    assert replies[10][1]["additionalContext"].startswith("Loop detected: `bash` was called 10 times")
    denied = replies[20][0]
    assert denied["permissionDecision"] == "deny"
    assert denied["permissionDecisionReason"].startswith("Loop detected: `bash` was called 20 times")
    assert [number for number, (before, _) in enumerate(replies, 1) if before] == list(range(21, 31))
    assert answer(HOOK, PERMISSION) is None


def test_an_ended_run_ends_when_a_shell_call_asks_for_permission() -> None:
    """The command is replaced by one that only exits, so the model's own never runs, even if allowed elsewhere."""
    replies = _loop(31)

    assert replies[30][0] == {"modifiedArgs": {"command": "exit 1", "description": "wheelspin: this run has ended"}}
    ended = answer(HOOK, PERMISSION)
    assert ended is not None
    assert (ended["behavior"], ended["interrupt"]) == ("deny", True)
    assert ended["message"].startswith("wheelspin: Loop detected: `bash` was called 30 times")


def test_an_ended_run_denies_calls_that_need_no_permission() -> None:
    """A tool that only reads needs no permission and so cannot end the run; its calls stay denied."""
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


def test_the_replacement_command_is_answered_with_the_advice() -> None:
    """It runs if another hook has allowed the call, so that no permission is asked for."""
    replacement = _loop(31)[30][0]["modifiedArgs"]
    reply = answer(HOOK, _post("\n<shellId: 40 completed with exit code 1>", given=replacement))

    assert reply is not None
    assert reply["additionalContext"].startswith("Loop detected: `bash` was called 30 times")


def test_a_prompt_begins_a_new_run() -> None:
    """The ended run no longer matters."""
    _loop(31)
    assert answer(HOOK, {**BASE, "hook_event_name": "UserPromptSubmit", "prompt": "go on"}) is None

    assert answer(HOOK, PERMISSION) is None
    assert _loop(3) == [(None, None)] * 3


@pytest.mark.parametrize("prompt", [AUTOPILOT, "<system_notification>\nShell command has completed\n"])
def test_a_prompt_that_copilot_writes_itself_begins_no_run(prompt: str) -> None:
    """Autopilot continues by itself, and a background command reports that it has finished."""
    _loop(31)
    answer(HOOK, {**BASE, "hook_event_name": "UserPromptSubmit", "prompt": prompt})

    assert answer(HOOK, PERMISSION) is not None


def test_work_that_makes_progress_is_left_alone() -> None:
    """Every reply is empty."""
    for number in range(40):
        given = {"command": f"sed -n {number}p notes.md", "description": "read on"}
        assert answer(HOOK, _pre(given=given)) is None
        assert (
            answer(HOOK, _post(f"line {number}\n<shellId: {number} completed with exit code 0>", given=given)) is None
        )
        assert answer(HOOK, PERMISSION) is None


def test_a_compaction_that_has_only_begun_arms_nothing() -> None:
    """It continues in the background, and may fail."""
    _loop(2)
    compacting = {**BASE, "hook_event_name": "PreCompact", "trigger": "auto", "custom_instructions": ""}
    assert HOOK.event(compacting) is None
    assert answer(HOOK, compacting) is None
    assert _loop(8) == [(None, None)] * 8


def test_a_tool_that_does_not_exist_is_recognised() -> None:
    """It is recognised by the text of its failure."""
    replies: list[Any] = []
    for number in range(21):
        before = answer(HOOK, _pre("frobnicate", {"n": number}))
        error = "Tool 'frobnicate' does not exist."
        replies.append(before or answer(HOOK, _failed(error, "frobnicate", {"n": number})))

    first = next(number for number, reply in enumerate(replies) if reply)
    assert first == 10
    assert "no tool of that name" in replies[first]["permissionDecisionReason"]


def test_parallel_calls_may_finish_in_any_order() -> None:
    """Calls have no ids, so each outcome belongs to the newest open call that is equal."""
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
    """Its calls have its own id as the session, and its permission requests have the id of its parent."""
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


def test_observe_mode_ends_no_run(home: Path) -> None:
    """The run record contains what would have ended the run, and nothing is replied."""
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
    """It is not the name of Claude Code's tool, which Copilot uses for hooks."""
    event = HOOK.event(_pre(tool, given))

    assert event is not None
    assert [(call.tool, call.arguments) for call, _ in event.calls] == [(name, given)]


def _outcome(payload: dict[str, Any]) -> tuple[str, Any]:
    """Return kind and value of the outcome in a payload."""
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
    """The note has the exit code, and the number of the shell, which is different each time."""
    assert _outcome(_post(shown)) == outcome


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
def test_an_outcome_is_what_copilot_calls_it(payload: dict[str, Any], outcome: Any) -> None:
    """It is a result, an error, a denial, or unknown."""
    assert _outcome(payload) == outcome


@pytest.mark.parametrize(
    ("tool", "texts"),
    [
        ("Grep", [LARGE.format(1), LARGE.format(2)]),
        ("list_bash", [f"shellId: 1, pid: 7, status: running, elapsed: {n}s, commands: 1" for n in (3, 14)]),
        ("Agent", [f"Agent started in background with agent_id: {n}. You'll be notified" for n in ("a1", "b2")]),
        ("Bash", [f"<command started in background with shellId: {n}>" for n in (3, 4)]),
    ],
)
def test_numbers_and_names_that_copilot_makes_up_are_ignored(tool: str, texts: list[str]) -> None:
    """Results that differ only in these are equal, so calls that keep returning them are blocked."""
    given = {"of": "the same"}
    replies: list[Any] = []
    for number in range(21):
        replies.append(answer(HOOK, _pre(tool, given)))
        answer(HOOK, _post(texts[number % 2], tool, given))

    assert replies[-1] is not None
    assert replies[-1]["permissionDecision"] == "deny"


def test_refused_calls_are_not_blocked() -> None:
    """Copilot sends no outcome for them, and calls alone are not enough evidence."""
    for _ in range(40):
        assert answer(HOOK, _pre()) is None
        assert answer(HOOK, PERMISSION) is None


def test_polling_another_agent_is_never_blocked() -> None:
    """The model is warned; the other agent has a guard of its own."""
    replies = []
    for _ in range(40):
        assert answer(HOOK, _pre("read_agent", {"agent_id": "a1"})) is None
        replies.append(answer(HOOK, _post("Agent is still running", "read_agent", {"agent_id": "a1"})))

    assert any(replies)


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
def test_unknown_payloads_are_ignored(payload: dict[str, Any]) -> None:
    """Unknown events, fields and types, and payloads of other programs that read the same file, get no reply."""
    assert answer(HOOK, payload) is None


@pytest.mark.parametrize("name", ["base", "fail", "compact", "pre_deny"])
def test_recorded_payloads_of_short_sessions_are_understood_and_left_alone(name: str) -> None:
    """Every kind of event that the real program sends is understood, and nothing is replied below the thresholds."""
    lines = (shared("hosts/payloads") / f"copilot_hooks_{name}.jsonl").read_text().splitlines()
    payloads = [json.loads(line)["in"] for line in lines]
    events = [HOOK.event(payload) for payload in payloads]
    kinds = [event.kind for event in events if event is not None]
    outcomes: list[Any] = [outcome for event in events if event is not None for _, outcome in event.calls if outcome]

    assert set(kinds) == {"prompt", "before", "checkpoint", "after"}
    assert {outcome.kind for outcome in outcomes} == {"shell"}
    assert [outcome.value["exitCode"] for outcome in outcomes] == [3 if name == "fail" else 0] * len(outcomes)
    assert [answer(HOOK, payload) for payload in payloads] == [None] * len(payloads)
