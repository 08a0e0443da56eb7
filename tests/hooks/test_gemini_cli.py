"""The hook of Gemini CLI turns payloads into events and verdicts into replies, and matches calls without ids."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import shared
from wheelspin.core.events import Outcome
from wheelspin.hooks.base import HookEventKind
from wheelspin.hooks.gemini_cli import HOOK
from wheelspin.hooks.process import answer
from wheelspin.installers.base import Scope
from wheelspin.installers.gemini_cli import INSTALLER
from wheelspin.userfiles.paths import store_path

BASE = {"session_id": "s1", "cwd": "/home/sam/shop", "timestamp": "2026-11-30T06:09:28.555Z"}
SHELL = "run_shell_command"
MAKE = {"command": "make"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point the hook at an empty home directory."""
    for name in ("WHEELSPIN_STORE", "WHEELSPIN_CONFIG", "GEMINI_CLI_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def _before(tool: Any = SHELL, given: Any = None, **more: Any) -> dict[str, Any]:
    call = {"tool_name": tool, "tool_input": {"command": "npm test"} if given is None else given}
    return {**BASE, "hook_event_name": "BeforeTool", **call, **more}


def _after(response: Any, tool: Any = SHELL, given: Any = None, **more: Any) -> dict[str, Any]:
    return {**_before(tool, given, **more), "hook_event_name": "AfterTool", "tool_response": response}


def _printed(text: str, *labels: str) -> dict[str, Any]:
    shown = "\n".join([f"Output: {text}", *labels])
    return {"llmContent": f"<untrusted_context>\n{shown}\n</untrusted_context>", "returnDisplay": text}


def _try(number: int, text: str = "1 failing", **more: Any) -> tuple[Any, Any]:
    """Make one call whose result has a different text each time, and return the replies."""
    given = {"command": "npm test", "description": f"try {number}", "wait_for_previous": bool(number % 2)}
    before = answer(HOOK, _before(SHELL, given, **more))
    if before is not None:
        return before, None
    shown = _printed(text, "Exit Code: 1", f"Process Group PGID: {4000 + number}")
    return before, answer(HOOK, _after(shown, SHELL, given, **more))


def _records() -> list[dict[str, Any]]:
    rows = sqlite3.connect(store_path()).execute("SELECT records FROM sessions").fetchall()
    return [record for row in rows for record in json.loads(row[0])]


def test_a_loop_is_warned_about_denied_and_ended_although_every_result_has_a_different_text() -> None:
    """Each happens at the count of the preset `early`; process ids, descriptions and order hints are ignored."""
    replies = [_try(number) for number in range(1, 11)]

    assert replies[:2] == [(None, None), (None, None)]
    said = replies[2][1]["hookSpecificOutput"]
    assert said["hookEventName"] == "AfterTool"
    assert said["additionalContext"].startswith("Loop detected: `run_shell_command` was called 2 times in a row")
    assert replies[3][0]["decision"] == "deny"
    assert replies[3][0]["reason"].startswith("Loop detected: `run_shell_command` was called 3 times in a row")
    assert all("continue" not in before for before, _ in replies[3:9])
    assert (replies[9][0]["continue"], replies[9][0]["decision"]) == (False, "deny")
    assert replies[9][0]["stopReason"].startswith("wheelspin: 6 calls were blocked in a row")


def test_the_warning_of_a_failure_is_added_to_its_message() -> None:
    """Gemini CLI shows no added context with a failure, so the reply repeats the message with the advice."""
    given, message = {"file_path": "missing.txt"}, "File not found."
    failure = {"llmContent": "Could not read it", "error": {"message": message, "type": "file_not_found"}}
    replies = []
    for _ in range(3):
        assert answer(HOOK, _before("read_file", given)) is None
        replies.append(answer(HOOK, _after(failure, "read_file", given)))

    assert replies[:2] == [None, None]
    assert replies[2] is not None
    assert replies[2]["decision"] == "deny"
    assert replies[2]["reason"].startswith(f"{message}\n\nLoop detected: `read_file` was called 2 times in a row")
    assert "continue" not in replies[2]


def test_an_ended_run_is_ended_again_at_every_event() -> None:
    """This includes a later outcome, such as one of a parallel call."""
    other = {"command": "sleep 1"}
    answer(HOOK, _before(SHELL, other))
    for number in range(1, 11):
        _try(number)
    late = answer(HOOK, _after(_printed(""), SHELL, other))

    assert late is not None
    assert late["continue"] is False
    assert late["hookSpecificOutput"]["hookEventName"] == "AfterTool"


def test_work_that_makes_progress_is_left_alone() -> None:
    """Every reply is empty."""
    for number in range(40):
        given = {"file_path": "notes.md", "start_line": number, "end_line": number + 1}
        assert answer(HOOK, _before("read_file", given)) is None
        assert answer(HOOK, _after({"llmContent": f"line {number}"}, "read_file", given)) is None


def test_only_a_prompt_begins_a_run_and_sessions_are_counted_separately() -> None:
    """The event before each request to the model is neither a compaction nor a prompt."""
    assert HOOK.event({**BASE, "hook_event_name": "PreCompress", "trigger": "auto"}) is None
    for which in ({}, {"session_id": "s2"}):
        for _ in range(2):
            answer(HOOK, {**BASE, "hook_event_name": "BeforeAgent", "prompt": "go", **which})
            for number in (1, 2):
                answer(HOOK, {**BASE, "hook_event_name": "PreCompress", "trigger": "auto", **which})
                assert _try(number, **which) == (None, None)
    warned = _try(3)[1]

    assert warned is not None
    assert sorted(record["calls"] for record in _records()) == [2, 2, 2, 3]


def test_parallel_calls_find_their_outcomes_without_ids() -> None:
    """This includes equal calls, in whatever order their outcomes arrive."""
    files = [{"file_path": name} for name in ("a", "b", "b")]
    for turn in range(2):
        for given in files:
            assert answer(HOOK, _before("read_file", given)) is None
        for given in files[::-1]:
            assert answer(HOOK, _after({"llmContent": f"{turn}"}, "read_file", given)) is None
    (record,) = _records()

    assert record["calls"] == 6


def test_an_outcome_that_was_never_asked_about_is_judged_when_it_comes() -> None:
    """If the call would have been denied, the model is warned."""
    replies = [answer(HOOK, _after({"llmContent": "same"}, "read_file", {"file_path": "a"})) for _ in range(4)]

    assert replies[:2] == [None, None]
    assert all(reply and "Loop detected" in reply["hookSpecificOutput"]["additionalContext"] for reply in replies[2:])


@pytest.mark.parametrize(
    ("tool", "given", "response", "expected"),
    [
        (SHELL, MAKE, _printed("hi\nthere", "Process Group PGID: 7"), Outcome.shell("hi\nthere", exit_code=None)),
        (SHELL, MAKE, _printed("(empty)", "Process Group PGID: 7"), Outcome.shell("")),
        (
            SHELL,
            MAKE,
            _printed("no", "Exit Code: 3", "Background PIDs: 8, 9", "Process Group PGID: 7"),
            Outcome.shell("no", status="failed", exit_code=3),
        ),
        (SHELL, MAKE, _printed("", "Signal: 9", "Process Group PGID: 7"), Outcome.shell("Signal: 9", status="failed")),
        (
            SHELL,
            MAKE,
            _printed("(empty)", "Error: spawn failed", "Exit Code: 1"),
            Outcome.shell("Error: spawn failed", status="failed", exit_code=1),
        ),
        (
            SHELL,
            MAKE,
            _printed("Exit Code: 5\nSignal: 2 of 3\nok", "Process Group PGID: 7"),
            Outcome.shell("Exit Code: 5\nSignal: 2 of 3\nok"),
        ),
        (SHELL, MAKE, {"llmContent": "a summary"}, Outcome.shell("a summary")),
        (SHELL, None, {"llmContent": "no", "error": {}}, Outcome.shell("no", status="failed")),
        (
            SHELL,
            MAKE,
            {"llmContent": "Command moved to background (PID: 6249). Output hidden. Press Ctrl+B to view."},
            Outcome.shell("Command moved to background (PID: ). Output hidden. Press Ctrl+B to view."),
        ),
        (
            SHELL,
            MAKE,
            {"llmContent": "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes"},
            Outcome.shell(
                "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes",
                status="failed",
                timed_out=True,
            ),
        ),
        (
            SHELL,
            MAKE,
            {"llmContent": "Command was cancelled by user before it could complete."},
            Outcome.denied("Command was cancelled by user before it could complete."),
        ),
        (SHELL, MAKE, {"llmContent": [{"inlineData": {}}]}, Outcome.result([{"inlineData": {}}])),
        ("read_file", {}, {"llmContent": "text"}, Outcome.result("text")),
        (
            "mcp_shop_stock",
            {},
            {"llmContent": [{"text": "<untrusted_context>\n3 left\n</untrusted_context>"}, {"text": "of 9"}]},
            Outcome.result("3 left\nof 9"),
        ),
        ("read_file", {}, {"llmContent": {"text": "one"}}, Outcome.result("one")),
        ("read_file", {}, {"llmContent": []}, Outcome.result([])),
        ("read_file", {}, {}, Outcome.result(None)),
        (
            "read_file",
            {},
            {"llmContent": "Could not read", "error": {"message": "File not found: a", "type": "file_not_found"}},
            Outcome.error("File not found: a", "file_not_found"),
        ),
        ("read_file", {}, {"llmContent": "Could not read", "error": {"type": 7}}, Outcome.error("Could not read")),
        ("read_file", {}, {"llmContent": "x", "error": "odd"}, Outcome.error("odd")),
    ],
)
def test_an_outcome_is_what_the_model_is_shown_without_what_changes_each_time(
    tool: str, given: Any, response: Any, expected: Outcome
) -> None:
    """Exit codes are kept and process ids are removed; a failure is represented by its message."""
    event = HOOK.event(_after(response, tool, given))

    assert event is not None
    ((_, outcome),) = event.calls
    assert outcome == expected


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"hook_event_name": "BeforeTool"},
        {"hook_event_name": 7, "session_id": "s"},
        {**BASE, "hook_event_name": "SomethingNew", "tool_name": SHELL},
        {**BASE, "hook_event_name": "SessionEnd", "reason": "exit"},
        {**BASE, "hook_event_name": "AfterTool"},
        _before(None, "x"),
        _before(7, 7),
        _after("text"),
        _after(None, {}, []),
        _after({"llmContent": 7, "error": [7]}, "read_file", "x"),
        _after({"llmContent": [7, {"text": 7}]}, "read_file"),
        _before(mcp_context=7, unknown={"deep": [1]}),
    ],
)
def test_unknown_payloads_are_ignored(payload: dict[str, Any]) -> None:
    """Unknown events, fields and types get no reply."""
    assert answer(HOOK, payload) is None


def test_the_users_settings_are_where_gemini_cli_looks_for_them(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Its own variable can move them; those of a project are in the folder of the project."""
    assert INSTALLER.settings(Scope.USER) == home / ".gemini" / "settings.json"
    assert INSTALLER.settings(Scope.PROJECT) == Path(".gemini/settings.json")
    assert INSTALLER.notes(Scope.USER) == []
    assert "--skip-trust" in INSTALLER.notes(Scope.PROJECT)[0]
    monkeypatch.setenv("GEMINI_CLI_HOME", str(home / "ci"))
    assert INSTALLER.settings(Scope.USER) == home / "ci" / ".gemini" / "settings.json"


def _recorded(name: str) -> list[dict[str, Any]]:
    lines = (shared("hosts/payloads") / f"gemini_hooks_{name}.jsonl").read_text().splitlines()
    return [json.loads(line)["in"] for line in lines]


@pytest.mark.parametrize("name", ["base", "fail", "compact"])
def test_recorded_payloads_are_understood(name: str) -> None:
    """Every kind of event of the real program is read; only the looping session is warned, from its third call."""
    payloads = _recorded(name)
    kinds = [event.kind for event in map(HOOK.event, payloads) if event is not None]
    calls = [payload for payload in payloads if payload["hook_event_name"] in {"BeforeTool", "AfterTool"}]
    replies = [answer(HOOK, payload) for payload in calls[:7]]

    assert sorted(set(kinds)) == ["after", "before", "prompt"]
    assert kinds.count(HookEventKind.PROMPT) == 1
    assert kinds.count(HookEventKind.BEFORE) == kinds.count(HookEventKind.AFTER)
    assert [number for number, reply in enumerate(replies) if reply] == ([5, 6] if name == "compact" else [])
