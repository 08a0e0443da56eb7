"""The hook of Codex turns payloads into events and verdicts into replies; unknown payloads are ignored."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import shared
from wheelspin.core.events import Outcome
from wheelspin.hooks.codex import HOOK
from wheelspin.hooks.process import answer

BASE = {"session_id": "s1", "turn_id": "t1", "cwd": "/home/sam/shop", "transcript_path": None, "model": "gpt-5"}
PATCH = "*** Begin Patch\n*** Add File: a.txt\n+hello\n*** End Patch"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Point the hook at an empty home directory."""
    for name in ("WHEELSPIN_STORE", "WHEELSPIN_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def _pre(number: int, command: str = "npm test", **more: Any) -> dict[str, Any]:
    call = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": f"c{number}"}
    return {**BASE, "hook_event_name": "PreToolUse", **call, **more}


def _post(number: int, shown: Any = "1 failing\n", command: str = "npm test", **more: Any) -> dict[str, Any]:
    return {**_pre(number, command), "hook_event_name": "PostToolUse", "tool_response": shown, **more}


def _event(name: str, **more: Any) -> dict[str, Any]:
    return {**BASE, "hook_event_name": name, **more}


def _loop(numbers: range, **more: Any) -> list[tuple[Any, Any]]:
    """Make one call with each of these numbers, and return the replies; a denied call has no outcome."""
    replies: list[tuple[Any, Any]] = []
    for number in numbers:
        before = answer(HOOK, _pre(number, **more))
        is_denied = before is not None and "permissionDecision" in before["hookSpecificOutput"]
        replies.append((before, None if is_denied else answer(HOOK, _post(number, **more))))
    return replies


def _records() -> list[dict[str, Any]]:
    from wheelspin.userfiles.paths import store_path

    rows = sqlite3.connect(store_path()).execute("SELECT records FROM sessions").fetchall()
    return [record for row in rows for record in json.loads(row[0])]


def test_a_loop_is_warned_about_then_denied_and_then_all_calls_are() -> None:
    """Each happens at the documented count, before the call runs, in a reply whose keys Codex knows."""
    replies = _loop(range(1, 32))

    assert all(after is None for _, after in replies)
    assert [number for number, (before, _) in enumerate(replies, 1) if before] == [11, *range(21, 32)]
    warned, denied, ended = (replies[number - 1][0]["hookSpecificOutput"] for number in (11, 21, 31))
    assert warned.keys() == {"hookEventName", "additionalContext"}
    assert warned["additionalContext"].startswith("Loop detected: `exec_command` was called 10 times")
    for said in (denied, ended):
        assert (said["hookEventName"], said["permissionDecision"]) == ("PreToolUse", "deny")
        assert said.keys() == {"hookEventName", "permissionDecision", "permissionDecisionReason"}
    assert denied["permissionDecisionReason"].startswith("Loop detected: `exec_command` was called 20 times")
    assert "this run ends here" in ended["permissionDecisionReason"]
    assert all(before is None or before.keys() == {"hookSpecificOutput"} for before, _ in replies)
    other = answer(HOOK, _pre(99, command="ls"))
    assert other is not None
    assert other["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_a_run_that_was_ended_is_stopped_at_the_next_compaction() -> None:
    """Codex can end a run only there; an earlier compaction, or one in another turn, goes ahead."""
    _loop(range(1, 31))
    compaction = _event("PreCompact", trigger="auto")
    assert answer(HOOK, compaction) is None

    _loop(range(31, 32))
    reply = answer(HOOK, compaction)
    assert reply is not None
    assert reply.keys() == {"continue", "stopReason"}
    assert reply["continue"] is False
    assert reply["stopReason"].startswith("wheelspin: `exec_command` was called 30 times")
    assert answer(HOOK, {**compaction, "turn_id": "t2"}) is None
    assert answer(HOOK, {**compaction, "agent_id": "a1"}) is None


def test_work_that_makes_progress_is_left_alone() -> None:
    """Every reply is empty."""
    for number in range(40):
        command = f"sed -n {number}p notes.md"
        assert answer(HOOK, _pre(number, command)) is None
        assert answer(HOOK, _post(number, f"line {number}", command)) is None


def test_a_loop_that_survives_a_compaction_ends_the_run() -> None:
    """The outcome that completes the loop is followed by the reason, and further calls are denied."""
    _loop(range(2))
    assert answer(HOOK, _event("PreCompact", trigger="auto")) is None
    assert answer(HOOK, _event("PostCompact", trigger="auto")) is None
    replies = _loop(range(10, 14))

    assert replies[:2] == [(None, None)] * 2
    reply = replies[2][1]
    assert reply.keys() == {"hookSpecificOutput"}
    assert reply["hookSpecificOutput"].keys() == {"hookEventName", "additionalContext"}
    assert "after a compaction" in reply["hookSpecificOutput"]["additionalContext"]
    assert replies[3][0]["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert _records()[0]["code"] == "compaction_loop_persisted"


def test_a_call_without_an_outcome_is_warned_about_and_not_denied() -> None:
    """Codex sends no outcome for a failed patch, so the warning does not wait for one."""
    call: dict[str, Any] = {"tool_name": "apply_patch", "tool_input": {"command": PATCH}}
    replies = [answer(HOOK, _pre(number, **call)) for number in range(1, 31)]

    assert [number for number, reply in enumerate(replies, 1) if reply] == [11, 21]
    assert all("additionalContext" in reply["hookSpecificOutput"] for reply in replies if reply)


def test_a_prompt_in_the_middle_of_a_turn_unblocks_the_run() -> None:
    """This includes an ended run, because the user is steering the model."""
    _loop(range(1, 32))
    assert answer(HOOK, _event("UserPromptSubmit", prompt="do something else")) is None

    assert _loop(range(40, 50)) == [(None, None)] * 10
    assert answer(HOOK, _event("PreCompact", trigger="auto")) is None


def test_turns_sub_agents_and_sessions_are_counted_separately() -> None:
    """Each turn is a run of its own, and a sub-agent's calls carry the id of the sub-agent."""
    for which in ({"turn_id": "t2"}, {"agent_id": "a1", "agent_type": "default"}, {"session_id": "s2"}, {}):
        assert _loop(range(9), **which) == [(None, None)] * 9

    runs = sorted((record["session_id"], record["agent_id"] or "", record["run_id"]) for record in _records())
    assert runs == [("s1", "", "t1"), ("s1", "", "t2"), ("s1", "a1", "t1"), ("s2", "", "t1")]


def test_parallel_calls_may_finish_in_any_order() -> None:
    """Outcomes are matched to calls by id, and no call is counted twice."""
    warned = []
    for turn in range(12):
        numbers = [turn * 3, turn * 3 + 1, turn * 3 + 2]
        warned += [(turn, answer(HOOK, _pre(number, f"cat {number % 3}"))) for number in numbers[::-1]]
        for number in numbers:
            assert answer(HOOK, _post(number, f"new {number}", f"cat {number % 3}")) is None

    assert [turn for turn, reply in warned if reply] == [10, 10, 10]
    assert _records()[0]["calls"] == 36


@pytest.mark.parametrize(
    ("tool", "given", "name", "arguments"),
    [
        ("Bash", {"command": "ls"}, "exec_command", {"cmd": "ls"}),
        ("apply_patch", {"command": PATCH}, "apply_patch", PATCH),
        ("apply_patch", {"patch": PATCH}, "apply_patch", {"patch": PATCH}),
        ("mcp__shop__stock", {"command": "pen"}, "mcp__shop__stock", {"command": "pen"}),
        ("view_image", {"path": "a.png"}, "view_image", {"path": "a.png"}),
    ],
)
def test_a_call_is_the_same_as_in_the_transcript(tool: str, given: Any, name: str, arguments: Any) -> None:
    """Codex gives hooks different names for its own tools."""
    event = HOOK.event(_pre(1, tool_name=tool, tool_input=given))

    assert event is not None
    ((call, outcome),) = event.calls
    assert (call.tool, call.arguments, outcome) == (name, arguments, None)
    assert (call.id, call.run_id, call.session_id, call.agent_id) == ("c1", "t1", "s1", None)


PATCHED = "Exit code: {}\nWall time: {} seconds\nOutput:\nSuccess. Updated the following files:\nA a.txt\n"
REPORT = "Success. Updated the following files:\nA a.txt\n"
TEXT = {"type": "text", "text": "none left"}
IMAGE = {"type": "image", "data": "aGk="}


@pytest.mark.parametrize(
    ("tool", "shown", "outcome"),
    [
        ("Bash", "hi\n", Outcome.shell("hi\n")),
        ("Bash", {"new": "shape"}, Outcome.shell({"new": "shape"})),
        ("Bash", None, Outcome.shell(None)),
        ("apply_patch", PATCHED.format(0, 0), Outcome.result(REPORT)),
        ("apply_patch", PATCHED.format(0, 0.1), Outcome.result(REPORT)),
        ("apply_patch", PATCHED.format(1, 0), Outcome.error(REPORT)),
        ("apply_patch", "Done.\nOutput:\nWall time: 0", Outcome.result("Done.\nOutput:\nWall time: 0")),
        ("apply_patch", 7, Outcome.result(7)),
        ("mcp__shop__stock", {"content": [TEXT], "isError": False}, Outcome.result("none left")),
        ("mcp__shop__stock", {"content": [TEXT, IMAGE]}, Outcome.result(["none left", IMAGE])),
        ("mcp__shop__stock", {"content": [TEXT], "structuredContent": {"left": 0}}, Outcome.result({"left": 0})),
        ("mcp__shop__stock", {"content": "none"}, Outcome.result({"content": "none"})),
        ("get_goal", {"goal": None}, Outcome.result({"goal": None})),
    ],
)
def test_an_outcome_is_what_the_model_reads_without_the_parts_that_always_change(
    tool: str, shown: Any, outcome: Outcome
) -> None:
    """The wall time of a patch, for one, is left out."""
    event = HOOK.event(_post(1, shown, tool_name=tool))

    assert event is not None
    assert event.calls[0][1] == outcome


class TestExitCode:
    """Codex does not send the exit code to a hook, but has already written it to the transcript."""

    def _outcome(self, path: object, *entries: Any) -> Outcome | None:
        if isinstance(path, Path):
            path.write_text("".join(f"{entry if isinstance(entry, str) else json.dumps(entry)}\n" for entry in entries))
        event = HOOK.event(_post(1, "out\n", transcript_path=str(path) if isinstance(path, Path) else path))
        assert event is not None
        return event.calls[0][1]

    def _entry(self, **item: Any) -> dict[str, Any]:
        return {
            "type": "event_msg",
            "payload": {"type": "item_completed", "item": {"type": "CommandExecution", **item}},
        }

    @pytest.mark.parametrize("code", [0, 3])
    def test_it_is_read_from_the_transcript(self, tmp_path: Path, code: int) -> None:
        """The entry of this call is used, even though other calls follow it."""
        others = [self._entry(id=name, exit_code=9, aggregated_output='{"id": "c1"}') for name in ("c0", "c12", "c2")]
        outcome = self._outcome(tmp_path / "t", others[0], self._entry(id="c1", exit_code=code), *others[1:], "")

        assert outcome == Outcome.shell("out\n", status="failed" if code else "completed", exit_code=code)

    def test_only_the_end_of_a_transcript_is_read(self, tmp_path: Path) -> None:
        """A transcript can be of any length."""
        lines = ["x" * 1000] * 300
        found = self._outcome(tmp_path / "t", *lines, self._entry(id="c1", exit_code=3))
        missed = self._outcome(tmp_path / "t", self._entry(id="c1", exit_code=3), *lines)

        assert (found, missed) == (Outcome.shell("out\n", status="failed", exit_code=3), Outcome.shell("out\n"))

    @pytest.mark.parametrize(
        "entry",
        [
            "",
            '{"CommandExecution": "c1"',
            '["CommandExecution", "c1"]',
            {"type": "CommandExecution", "id": "c1", "exit_code": 3},
            {"payload": {"item": {"type": "CommandExecution", "id": "c1"}}},
            {"payload": {"item": {"type": "CommandExecution", "id": "c1", "exit_code": None}}},
            {"payload": {"item": {"type": "CommandExecution", "id": "c1", "exit_code": True}}},
            {"payload": {"item": ["CommandExecution", "c1"]}},
        ],
    )
    def test_an_entry_of_an_unexpected_form_is_ignored(self, tmp_path: Path, entry: Any) -> None:
        """The outcome is then the text only."""
        assert self._outcome(tmp_path / "t", entry) == Outcome.shell("out\n")

    @pytest.mark.parametrize("path", [None, 7, "", "/nowhere/t.jsonl", "/", "\0"])
    def test_a_transcript_that_cannot_be_read_is_ignored(self, path: object) -> None:
        """It is missing, a folder, or not a path at all."""
        assert self._outcome(path) == Outcome.shell("out\n")

    @pytest.mark.parametrize(("code", "is_denied"), [(1, True), (0, False), (None, False)])
    def test_failures_that_differ_in_their_times_alone_are_denied(
        self, tmp_path: Path, code: int | None, is_denied: bool
    ) -> None:
        """The exit code marks a failure; in a success, or without an exit code, a changed digit counts as progress."""
        path = tmp_path / "t"
        for number in range(1, 21):
            answer(HOOK, _pre(number))
            path.write_text(json.dumps(self._entry(id=f"c{number}", exit_code=code)))
            answer(HOOK, _post(number, f"1 failed in 0.{number:02}s", transcript_path=str(path)))

        reply = answer(HOOK, _pre(21)) or {"hookSpecificOutput": {}}
        assert ("permissionDecision" in reply["hookSpecificOutput"]) is is_denied


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"hook_event_name": "PreToolUse"},
        {**BASE, "hook_event_name": 7},
        {**BASE, "session_id": 7, "hook_event_name": "PreToolUse"},
        _event("SomethingNew", tool_name="Bash"),
        _event("PreModelRequest", kind="sampling"),
        _event("SessionStart", source="compact"),
        _event("Stop", stop_hook_active=False),
        _event("PreToolUse"),
        _event("PreToolUse", tool_name=None, tool_input="x", tool_use_id=7),
        _event("PreToolUse", tool_name="Bash", tool_input="x", tool_use_id=7, agent_id=7, turn_id=7),
        _event("PostToolUse"),
        _event("PostToolUse", tool_name=["Bash"]),
        _event("PostToolUse", tool_name="Bash", tool_input=None, tool_use_id=""),
        _event("PreCompact", turn_id=None),
        _event("PostCompact", turn_id=None, trigger=7),
        _event("UserPromptSubmit", turn_id=None, prompt="go"),
        _pre(1, some_new_field={"deep": [1]}),
    ],
)
def test_unknown_payloads_are_ignored(payload: dict[str, Any]) -> None:
    """Unknown events, unknown or missing fields and wrong types get no reply."""
    assert answer(HOOK, payload) is None


def _recorded(name: str) -> list[dict[str, Any]]:
    lines = (shared("hosts/payloads") / f"codex_hooks_{name}.jsonl").read_text().splitlines()
    return [json.loads(line)["in"] for line in lines]


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("base", {"prompt", "before", "after"}),
        ("fail", {"prompt", "before", "after"}),
        ("pre_deny", {"prompt", "before", "after"}),
        ("compact", {"prompt", "before", "after", "checkpoint", "compacted"}),
    ],
)
def test_recorded_payloads_of_short_sessions_are_understood_and_left_alone(name: str, kinds: set[str]) -> None:
    """Every kind of event that the real program sends is understood, and nothing is replied below the thresholds."""
    payloads = _recorded(name)

    assert {event.kind for event in map(HOOK.event, payloads) if event is not None} == kinds
    assert [answer(HOOK, payload) for payload in payloads] == [None] * len(payloads)
