"""The hook of Qwen Code turns payloads into events and verdicts into replies, and ends runs before a request."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import shared
from wheelspin.core.events import Outcome
from wheelspin.hooks.base import HookEventKind
from wheelspin.hooks.process import answer
from wheelspin.hooks.qwen_code import HOOK
from wheelspin.installers.base import Scope
from wheelspin.installers.qwen_code import INSTALLER
from wheelspin.userfiles.paths import store_path

BASE = {"session_id": "s1", "prompt_id": "s1########0", "cwd": "/home/sam/shop", "permission_mode": "yolo"}
SHELL = "run_shell_command"
TEST = {"command": "npm test"}
RESULTS_GO_OUT = {**BASE, "hook_event_name": "UserPromptSubmit", "prompt": ""}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point the hook at an empty home directory."""
    for name in ("WHEELSPIN_STORE", "WHEELSPIN_CONFIG", "QWEN_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def _pre(number: int, tool: str = SHELL, given: Any = None, **more: Any) -> dict[str, Any]:
    ids = {"tool_use_id": f"toolu_{number * 7}", "tool_call_id": f"c{number}"}
    given = {**TEST, "description": f"try {number}"} if given is None else given
    return {**BASE, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": given, **ids, **more}


def _item(number: int, shown: Any, tool: str = SHELL, given: Any = None, **response: Any) -> dict[str, Any]:
    failed = "error_type" in response
    parts = [{"functionResponse": {"id": f"c{number}", "name": tool, "response": shown}}]
    if isinstance(shown, str):
        parts[0]["functionResponse"]["response"] = {"error" if failed else "output": shown}
        response |= {"error": shown} if failed else {}
    call = {**_pre(number, tool, given), "tool_use_id": f"c{number}"}
    status = "error" if failed else "success"
    return {**call, "status": status, "tool_response": {"response_parts": parts, **response}}


def _batch(*items: Any, **more: Any) -> dict[str, Any]:
    return {**BASE, "hook_event_name": "PostToolBatch", "tool_calls": list(items), **more}


def _printed(text: str, code: str = "0", process: str = "(none)", command: str = "npm test") -> str:
    head = f"Command: {command}\nDirectory: (root)\nOutput: {text}"
    return f"{head}\nError: (none)\nExit Code: {code}\nSignal: (none)\nProcess Group PGID: {process}"


def _try(number: int, **more: Any) -> tuple[Any, Any, Any]:
    """Make one call that fails, and return the replies before it, after it, and before the next request."""
    before = answer(HOOK, _pre(number, **more))
    if before is None:
        item = _item(number, _printed("1 failing", "1", str(4000 + number)), error_type="shell_execute_error")
    else:
        advice = before["hookSpecificOutput"]["permissionDecisionReason"]
        item = _item(number, advice, error_type="execution_denied", execution_status="not_started")
    return before, answer(HOOK, _batch(item, **more)), answer(HOOK, {**RESULTS_GO_OUT, **more})


def _records() -> list[dict[str, Any]]:
    rows = sqlite3.connect(store_path()).execute("SELECT records FROM sessions").fetchall()
    return [record for row in rows for record in json.loads(row[0])]


def test_a_loop_is_warned_about_denied_and_ended_before_the_next_request() -> None:
    """Each happens at the count of the preset `early`; process ids and descriptions are ignored."""
    replies = [_try(number) for number in range(1, 11)]

    assert replies[:2] == [(None, None, None)] * 2
    said = replies[2][1]["hookSpecificOutput"]
    assert said["hookEventName"] == "PostToolBatch"
    assert said["additionalContext"].startswith("Loop detected: `run_shell_command` was called 2 times in a row")
    denied = replies[3][0]["hookSpecificOutput"]
    assert (denied["hookEventName"], denied["permissionDecision"]) == ("PreToolUse", "deny")
    assert denied["permissionDecisionReason"].startswith("Loop detected: `run_shell_command` was called 3 times in a")
    assert all(before and after is None and checked is None for before, after, checked in replies[3:9])
    assert replies[9][0]["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert replies[9][1:] == (None, {"continue": False, "stopReason": replies[9][2]["stopReason"]})
    assert replies[9][2]["stopReason"].startswith("wheelspin: 6 calls were blocked in a row")
    (record,) = _records()
    assert (record["calls"], record["warnings"], record["blocks"], record["ended_at_call"]) == (10, 1, 7, 10)


def test_a_prompt_after_an_ended_run_is_let_through() -> None:
    """It begins a new run."""
    for number in range(1, 11):
        _try(number)
    new = {"prompt_id": "s1########1"}

    assert answer(HOOK, {**RESULTS_GO_OUT, **new, "prompt": "go on", "submitted_prompt": "go on"}) is None
    assert _try(11, **new) == (None, None, None)
    assert sorted(record["calls"] for record in _records()) == [1, 10]


def test_work_that_makes_progress_is_left_alone() -> None:
    """Every reply is empty."""
    for number in range(40):
        given = {"file_path": "/a", "offset": number}
        assert answer(HOOK, _pre(number, "read_file", given)) is None
        assert answer(HOOK, _batch(_item(number, f"line {number}", "read_file", given))) is None
        assert answer(HOOK, RESULTS_GO_OUT) is None


def test_prompts_sub_agents_and_sessions_are_counted_separately() -> None:
    """Each prompt is a run of its own, and a sub-agent's calls carry the id of the sub-agent."""
    for which in ({"prompt_id": "p2"}, {"agent_id": "a1"}, {"session_id": "s2"}, {}):
        for number in (1, 2):
            assert _try(number, **which) == (None, None, None)


def test_only_a_successful_compaction_arms_the_guard() -> None:
    """`PreCompact` precedes a compaction that may fail; `PostCompact` follows one that succeeded."""
    assert HOOK.event({**BASE, "hook_event_name": "PreCompact", "trigger": "auto"}) is None
    answer(HOOK, {**BASE, "hook_event_name": "PostCompact", "trigger": "auto", "compact_summary": "s"})
    replies = [_try(number) for number in (1, 2, 3)]

    assert replies[:2] == [(None, None, None)] * 2
    assert "after a compaction" in replies[2][1]["hookSpecificOutput"]["additionalContext"]
    assert "after a compaction" in replies[2][2]["stopReason"]


@pytest.mark.parametrize(
    ("kind", "text", "advice"),
    [
        ("tool_not_registered", 'Tool "frobnicate" not found.', "called 4 times, but there is no tool of that name"),
        ("execution_denied", "This invocation was denied by permission rules.", "has failed"),
    ],
)
def test_calls_without_an_event_before_they_run_are_seen(kind: str, text: str, advice: str) -> None:
    """They are calls of unknown tools or denied elsewhere; the model is warned with the outcome."""
    items = [_item(number, text, "frobnicate", {"n": number}, error_type=kind) for number in range(6)]
    replies = [answer(HOOK, _batch(item)) for item in items]

    assert replies[:4] == [None] * 4
    assert replies[4] is not None
    assert advice in replies[4]["hookSpecificOutput"]["additionalContext"]


def test_parallel_calls_may_finish_in_any_order() -> None:
    """Outcomes are matched to calls by the model's id, and no call is counted twice."""
    for turn in range(4):
        numbers = [turn * 3, turn * 3 + 1, turn * 3 + 2]
        for number in numbers[::-1]:
            assert answer(HOOK, _pre(number, "read_file", {"file_path": f"/{number}"})) is None
        items = [_item(number, f"new {number}", "read_file", {"file_path": f"/{number}"}) for number in numbers]
        assert answer(HOOK, _batch(*items)) is None
    (record,) = _records()

    assert (record["calls"], record["run_id"], record["session_id"]) == (12, "s1########0", "s1")


SAVED = "Tool output was too large and has been truncated.\nThe full output has been saved to: "
HINT = "\n\nNote: this foreground command ran for 61s. Next time you run a similar long-running process, do not."
NAMED = [{"functionResponse": {"id": "c7", "response": {"output": ""}, "parts": [{"inlineData": {}}]}}]
PICTURE = [{"functionResponse": {"response": {"output": ""}, "parts": [{"inlineData": {}}]}}]


@pytest.mark.parametrize(
    ("tool", "item", "expected"),
    [
        (SHELL, _item(1, _printed("hi\nthere")), Outcome.shell("hi\nthere", exit_code=0)),
        (SHELL, _item(1, _printed("(empty)", process="77")), Outcome.shell("", exit_code=0)),
        (SHELL, _item(1, _printed("hi") + HINT), Outcome.shell("hi", exit_code=0)),
        (
            SHELL,
            _item(1, _printed("no", "3"), error_type="shell_execute_error"),
            Outcome.shell("no", status="failed", exit_code=3),
        ),
        (
            SHELL,
            _item(1, _printed("", "(none)").replace("Signal: (none)", "Signal: 9")),
            Outcome.shell("Signal: 9", status="failed"),
        ),
        (
            SHELL,
            _item(1, f"{SAVED}/home/sam/a1b2.output\nand more.\n\nTruncated part of the output:\n{_printed('long')}"),
            Outcome.shell("long", exit_code=0),
        ),
        (SHELL, _item(1, f"{SAVED}/home/sam/a1b2.output"), Outcome.shell(f"{SAVED}/home/sam/a1b2.output")),
        (
            SHELL,
            _item(1, "Background shell started.\nid: bg_ac32\npid: 29080\noutput file: /home/sam/a"),
            Outcome.shell("Background shell started."),
        ),
        (
            SHELL,
            _item(1, "Command timed out after 500ms before it could complete.", error_type="x"),
            Outcome.shell("Command timed out after 500ms before it could complete.", status="failed", timed_out=True),
        ),
        ("read_file", _item(1, "text"), Outcome.result("text")),
        ("read_file", _item(1, "no", error_type="file_not_found"), Outcome.error("no", "file_not_found")),
        ("frob", _item(1, "no", error_type="tool_not_registered"), Outcome.unknown_tool("no")),
        ("read_file", _item(1, "no", error_type="execution_denied"), Outcome.denied("no")),
        ("read_file", {**_item(1, "no"), "status": "cancelled"}, Outcome.denied("no")),
        ("read_file", {"tool_response": {"response_parts": PICTURE}}, Outcome.result(PICTURE)),
        ("read_file", {"tool_response": {"response_parts": NAMED}}, Outcome.result(PICTURE)),
        ("read_file", {"tool_response": {"response_parts": [7]}}, Outcome.result([7])),
        ("read_file", {"tool_response": {"response_parts": [{"text": "x"}]}}, Outcome.result([{"text": "x"}])),
        (SHELL, {"tool_input": "x", "tool_response": {"response_parts": []}}, Outcome.result([])),
        (SHELL, {**_item(1, "odd"), "tool_input": "x"}, Outcome.shell("odd")),
        ("read_file", {}, None),
    ],
)
def test_an_outcome_is_what_the_model_is_shown_without_what_changes_each_time(
    tool: str, item: dict[str, Any], expected: Outcome | None
) -> None:
    """Exit codes are kept; process ids, names of overflow files and running times are removed."""
    event = HOOK.event(_batch({**item, "tool_name": tool}))

    assert event is not None
    ((_, outcome),) = event.calls
    assert outcome == expected


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"hook_event_name": "PreToolUse"},
        {"hook_event_name": 7, "session_id": "s"},
        {**BASE, "hook_event_name": "SomethingNew", "tool_name": SHELL},
        {**BASE, "hook_event_name": "PostToolUse", "tool_name": SHELL},
        {**BASE, "hook_event_name": "SessionStart", "source": "compact"},
        {**BASE, "hook_event_name": "UserPromptSubmit"},
        {**BASE, "hook_event_name": "UserPromptSubmit", "prompt": 7},
        {**BASE, "hook_event_name": "UserPromptSubmit", "prompt": "", "prompt_id": 7},
        {**BASE, "hook_event_name": "PreToolUse", "tool_name": None, "tool_input": "x", "tool_call_id": 7},
        _batch(),
        {**_batch(), "tool_calls": 7},
        _batch(7, {}, {"tool_name": None, "tool_response": 7}, {"tool_response": {"error_type": 7}}),
        _batch({"tool_response": {"error_type": "execution_denied", "error": 7}}),
        _pre(1, agent_id=7, unknown={"deep": [1]}),
    ],
)
def test_unknown_payloads_are_ignored(payload: dict[str, Any]) -> None:
    """Unknown events, fields and types get no reply."""
    assert answer(HOOK, payload) is None


def test_the_users_settings_are_where_qwen_code_looks_for_them(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Its own variable can move them; those of a project are in the folder of the project."""
    assert INSTALLER.settings(Scope.USER) == home / ".qwen" / "settings.json"
    assert INSTALLER.settings(Scope.PROJECT) == Path(".qwen/settings.json")
    assert INSTALLER.notes(Scope.USER) == []
    assert "trusted folder" in INSTALLER.notes(Scope.PROJECT)[0]
    monkeypatch.setenv("QWEN_HOME", str(home / "q"))
    assert INSTALLER.settings(Scope.USER) == home / "q" / "settings.json"


def _recorded(name: str) -> list[dict[str, Any]]:
    lines = (shared("hosts/payloads") / f"qwen_hooks_{name}.jsonl").read_text().splitlines()
    return [json.loads(line)["in"] for line in lines]


@pytest.mark.parametrize("name", ["base", "fail", "compact", "pre_deny"])
def test_recorded_payloads_are_understood(name: str) -> None:
    """Every kind of event of the real program is understood; only the looping session is warned, at its third call."""
    payloads = _recorded(name)
    kinds = [event.kind for event in map(HOOK.event, payloads) if event is not None]
    replied = [payload["hook_event_name"] for payload in payloads if answer(HOOK, payload)]

    assert sorted(set(kinds)) == ["after", "before", "checkpoint", "prompt"]
    assert (
        kinds.count(HookEventKind.BEFORE) == kinds.count(HookEventKind.AFTER) == kinds.count(HookEventKind.CHECKPOINT)
    )
    assert kinds.count(HookEventKind.PROMPT) == 1
    assert replied == (["PostToolBatch", "PreToolUse"] if name == "compact" else [])
