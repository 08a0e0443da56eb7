"""The hook of Claude Code turns payloads into events and verdicts into replies; whatever goes wrong, the call runs."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import shared
from wheelspin import Outcome
from wheelspin.hooks.claude_code import HOOK
from wheelspin.hooks.process import answer
from wheelspin.userfiles.paths import store_path

BASE = {"session_id": "s1", "prompt_id": "p1", "cwd": "/home/sam/shop"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point the hook at an empty home directory."""
    for name in ("WHEELSPIN_STORE", "WHEELSPIN_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path


def _configure(home: Path, block: str) -> None:
    place = home / "config" / "wheelspin" / "config.json5"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"{{tools: {{loopDetection: {block}}}}}")


def _pre(number: int, command: str = "npm test", **more: Any) -> dict[str, Any]:
    call = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"t{number}"}
    return {**BASE, "hook_event_name": "PreToolUse", **call, **more}


def _batch(*calls: tuple[str, Any, str, Any], **more: Any) -> dict[str, Any]:
    items = [
        {"tool_name": tool, "tool_input": given, "tool_use_id": call_id, "tool_response": shown}
        for tool, given, call_id, shown in calls
    ]
    return {**BASE, "hook_event_name": "PostToolBatch", "tool_calls": items, **more}


def _bash(number: int, shown: Any, command: str = "npm test") -> tuple[str, Any, str, Any]:
    return "Bash", {"command": command, "description": f"try {number}"}, f"t{number}", shown


def _loop(times: int, shown: str = "1 failing") -> list[tuple[Any, Any]]:
    """Make one call `times` times, and return the replies to each."""
    replies: list[tuple[Any, Any]] = []
    for number in range(1, times + 1):
        before = answer(HOOK, _pre(number))
        text = "PreToolUse:Bash hook error: denied" if before else shown
        replies.append((before, answer(HOOK, _batch(_bash(number, text)))))
    return replies


def test_a_loop_is_warned_about_with_the_result_then_denied_then_ended() -> None:
    """Each happens at the documented count; a warning is delivered by the process that sees the outcome of its call."""
    replies = _loop(32)

    assert [number for number, (before, after) in enumerate(replies, 1) if before is None and after] == [11]
    warned = replies[10][1]["hookSpecificOutput"]
    assert warned["hookEventName"] == "PostToolBatch"
    assert warned["additionalContext"].startswith("Loop detected: `Bash` was called 10 times")
    denied = replies[20][0]["hookSpecificOutput"]
    assert (denied["hookEventName"], denied["permissionDecision"]) == ("PreToolUse", "deny")
    assert denied["permissionDecisionReason"].startswith("Loop detected: `Bash` was called 20 times")
    assert "continue" not in replies[20][0]
    assert replies[30][0]["continue"] is False
    assert replies[30][0]["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert replies[30][0]["stopReason"].startswith("wheelspin: `Bash` was called 30 times")


def test_work_that_makes_progress_is_left_alone() -> None:
    """Every reply is empty."""
    for number in range(40):
        assert answer(HOOK, _pre(number, f"sed -n {number}p notes.md")) is None
        assert answer(HOOK, _batch(_bash(number, f"line {number}", f"sed -n {number}p notes.md"))) is None


def test_a_loop_that_survives_a_compaction_ends_the_run() -> None:
    """The run ends with the outcome that completes the loop."""
    _loop(2)
    assert answer(HOOK, {**BASE, "hook_event_name": "PostCompact", "trigger": "auto"}) is None
    replies: list[Any] = []
    for number in range(10, 13):
        answer(HOOK, _pre(number))
        replies.append(answer(HOOK, _batch(_bash(number, "1 failing"))))

    assert replies[:2] == [None, None]
    assert replies[2] is not None
    assert replies[2]["continue"] is False
    assert "after a compaction" in replies[2]["stopReason"]


def test_two_installed_hooks_count_an_event_once() -> None:
    """Both hooks give the same answer, and a warning is delivered once."""
    pairs: list[Any] = []
    for number in range(1, 32):
        asked = [answer(HOOK, _pre(number)) for _ in range(2)]
        text = "PreToolUse:Bash hook error: denied" if asked[0] else "1 failing"
        pairs.append((asked, [answer(HOOK, _batch(_bash(number, text))) for _ in range(2)]))

    assert [number for number, (_, replies) in enumerate(pairs, 1) if any(replies) and number < 31] == [11]
    assert pairs[10][1][1] is None
    assert [number for number, (asked, _) in enumerate(pairs, 1) if all(asked)] == list(range(21, 32))
    assert [number for number, (asked, _) in enumerate(pairs, 1) if any(asked)] == list(range(21, 32))
    assert all(reply["continue"] is False for reply in pairs[30][0])
    (record,) = _records()
    assert (record["calls"], record["warnings"], record["blocks"]) == (31, 1, 11)


MISSING = "<tool_use_error>Error: No such tool available: Frobnicate</tool_use_error>"


def test_a_tool_that_does_not_exist_is_seen_although_it_has_no_event_before_it_runs() -> None:
    """Only the batch contains it; the model is warned, and finally the run is ended."""
    replies: list[Any] = []
    for number in range(24):
        call = (
            "Frobnicate",
            {"n": number},
            f"t{number}",
            "<tool_use_error>Error: No such tool available: Frobnicate</tool_use_error>",
        )
        replies.append(answer(HOOK, _batch(call)))

    first = next(number for number, reply in enumerate(replies) if reply)
    assert first == 10
    assert "no tool of that name" in replies[first]["hookSpecificOutput"]["additionalContext"]
    assert replies[-1]["continue"] is False


def test_parallel_calls_may_finish_in_any_order() -> None:
    """Outcomes are matched to calls by id, and no call is counted twice."""
    replies: list[Any] = []
    for turn in range(12):
        numbers = [turn * 3, turn * 3 + 1, turn * 3 + 2]
        for number in numbers[::-1]:
            assert answer(HOOK, _pre(number, command=f"cat {number % 3}")) is None
        calls = [_bash(number, f"new {number}", f"cat {number % 3}") for number in numbers]
        replies.append(answer(HOOK, _batch(*calls)))

    assert [turn for turn, reply in enumerate(replies) if reply] == [10]
    advice = replies[10]["hookSpecificOutput"]["additionalContext"]
    assert advice.startswith("Loop detected: `Bash` was called 10 times")
    (record,) = _records()
    assert (record["calls"], record["run_id"], record["session_id"]) == (36, "p1", "s1")


def _records() -> list[dict[str, Any]]:
    rows = sqlite3.connect(store_path()).execute("SELECT records FROM sessions").fetchall()
    return [record for row in rows for record in json.loads(row[0])]


def test_prompts_sub_agents_and_sessions_are_counted_separately() -> None:
    """Each prompt is a run of its own, and a sub-agent's calls carry the id of the sub-agent."""
    for which in ({"prompt_id": "p2"}, {"agent_id": "a1"}, {"session_id": "s2"}, {}):
        for number in range(9):
            assert answer(HOOK, _pre(number, **which)) is None
            assert answer(HOOK, _batch(_bash(number, "same"), **which)) is None


def test_the_name_of_the_file_that_holds_an_image_is_ignored() -> None:
    """The result contains this name, which is different each time."""
    denied = []
    for number in range(1, 22):
        call = {"tool_name": "mcp__a__look", "tool_input": {}, "tool_use_id": f"t{number}"}
        denied.append(answer(HOOK, {**BASE, "hook_event_name": "PreToolUse", **call}) is not None)
        name = {"type": "text", "text": f"[Image: source: /home/sam/.claude/blob-{number}.png]"}
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
        answer(HOOK, _batch(("mcp__a__look", {}, f"t{number}", [image, name])))

    assert denied == [False] * 20 + [True]


def test_an_error_of_an_mcp_server_in_a_content_block_is_a_failure() -> None:
    """It is compared by the text in the block."""
    shown = [{"type": "text", "text": "Error: no such page"}]
    event = HOOK.event(_batch(("mcp__a__read", {}, "t1", shown)))
    assert event is not None
    assert event.calls[0][1] == Outcome.error("Error: no such page")


def test_an_old_version_without_batches_is_guarded_call_by_call() -> None:
    """`PostToolUse` and `PostToolUseFailure` replace `PostToolBatch`."""
    replies = []
    for number in range(11):
        answer(HOOK, _pre(number))
        failed = {**_pre(number), "hook_event_name": "PostToolUseFailure", "error": "Exit code 1\nboom"}
        replies.append(answer(HOOK, failed))

    assert replies[-1] is not None
    assert replies[-1]["hookSpecificOutput"]["hookEventName"] == "PostToolUseFailure"


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"hook_event_name": "PreToolUse"},
        {"hook_event_name": 7, "session_id": "s"},
        {**BASE, "hook_event_name": "SomethingNew", "tool_name": "Bash"},
        {**BASE, "hook_event_name": "SessionEnd"},
        {**BASE, "hook_event_name": "PostToolBatch"},
        {**BASE, "hook_event_name": "PostToolBatch", "tool_calls": [7, {}, {"tool_name": None}]},
        {**BASE, "hook_event_name": "PreToolUse", "tool_name": None, "tool_input": "x", "tool_use_id": 7},
        {**BASE, "hook_event_name": "UserPromptSubmit", "prompt": "go"},
    ],
)
def test_unknown_payloads_are_ignored(payload: dict[str, Any]) -> None:
    """Unknown events, fields and versions get no reply."""
    assert answer(HOOK, payload) is None


@pytest.mark.parametrize(
    "payload",
    [
        {**_pre(1), "cursor_version": "2026.09.18", "conversation_id": "s1"},
        {"sessionId": "s1", "hookEventName": "PreToolUse", "tool_name": "run", "tool_input": {}, "tool_use_id": "t1"},
        {name: value for name, value in _pre(1).items() if name != "tool_use_id"},
    ],
    ids=["Cursor", "VS Code", "Copilot CLI"],
)
def test_payloads_of_other_programs_that_run_claude_s_hooks_are_ignored(payload: dict[str, Any]) -> None:
    """They lack the outcomes of calls, so nothing is counted for them."""
    for _ in range(40):
        assert answer(HOOK, payload) is None
    assert not Path(store_path()).exists()


class TestSettings:
    def test_an_installed_hook_is_on_without_a_configuration(self) -> None:
        """Installing a hook is enough to enable the guard."""
        assert any(before for before, _ in _loop(21))

    def test_the_user_s_configuration_is_used_and_read_again_when_it_changes(self, home: Path) -> None:
        """The settings read from it are cached beside the store, for the next process."""
        _configure(home, "{preset: 'early'}")
        assert _loop(4)[-1][0] is not None
        assert (home / "state" / "wheelspin" / "settings-claude-code.json").exists()

        _configure(home, "{enabled: false}")
        assert _loop(40)[-1] == (None, None)

    def test_observe_mode_replies_nothing_and_records_everything(self, home: Path) -> None:
        """The run record contains what would have been done."""
        _configure(home, "{mode: 'observe'}")

        assert all(reply == (None, None) for reply in _loop(25))
        assert _records()[0]["blocks"] > 0


def _recorded(name: str) -> list[dict[str, Any]]:
    lines = (shared("hosts/payloads") / f"claude_hooks_{name}.jsonl").read_text().splitlines()
    return [json.loads(line)["in"] for line in lines]


@pytest.mark.parametrize("name", ["base", "fail", "compact", "pre_deny", "unk"])
def test_recorded_payloads_of_short_sessions_are_understood_and_left_alone(name: str) -> None:
    """Every kind of event that the real program sends is understood, and nothing is replied below the thresholds."""
    payloads = _recorded(name)
    kinds = [event.kind for event in map(HOOK.event, payloads) if event is not None]

    assert "before" in kinds or name == "unk"
    assert "after" in kinds
    assert [answer(HOOK, payload) for payload in payloads] == [None] * len(payloads)
