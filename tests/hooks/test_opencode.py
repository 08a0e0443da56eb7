"""The hook of opencode turns payloads of its plugin into events, and verdicts into replies that the plugin applies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wheelspin.cli import main
from wheelspin.core.events import Outcome, ToolCall
from wheelspin.hooks.launcher import words_for
from wheelspin.hooks.opencode import HOOK
from wheelspin.hooks.process import answer
from wheelspin.installers.base import Scope
from wheelspin.installers.opencode import INSTALLER
from wheelspin.stores import open_store

BASE = {"session": "ses_1", "run": "msg_1"}
UNAVAILABLE = "Model tried to call unavailable tool 'fly'. Available tools: bash, invalid, read."
REFUSED = "The arguments provided to the tool are invalid: "
RULED_OUT = "The user has specified a rule which prevents you from using this specific tool call. Here are some"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point the hook at an empty home directory."""
    for name in ("WHEELSPIN_STORE", "WHEELSPIN_CONFIG", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _before(number: int, tool: str = "bash", arguments: Any = None, **more: Any) -> dict[str, Any]:
    given = {"command": "npm test", "description": f"try {number}"} if arguments is None else arguments
    call = {"call": f"c{number}", "tool": tool, "arguments": given, "turn": f"t{number}"}
    return {**BASE, "event": "before", **call, **more}


def _after(number: int, tool: str = "bash", arguments: Any = None, **more: Any) -> dict[str, Any]:
    outcome = more if more.keys() & {"result", "error"} else {"result": _bash("1 failing\n", 1), **more}
    return {**_before(number, tool, arguments), "event": "after", **outcome}


def _bash(output: str, code: Any, **more: Any) -> dict[str, Any]:
    metadata = {"output": output, "exit": code, "truncated": False, **more}
    return {"title": "npm test", "metadata": metadata, "output": output}


def _loop(times: int, **more: Any) -> list[tuple[Any, Any]]:
    """Make one call `times` times, and return the replies to each."""
    replies: list[tuple[Any, Any]] = []
    for number in range(1, times + 1):
        before = answer(HOOK, _before(number, **more))
        replies.append((before, None if before else answer(HOOK, _after(number, **more))))
    return replies


def _records(home: Path) -> list[dict[str, Any]]:
    store = open_store(str(home / ".local/state/wheelspin/sessions.db"))
    try:
        return [run.record for run in store.runs(9)]
    finally:
        store.close()


def _outcome(tool: str, arguments: Any = None, **more: Any) -> tuple[ToolCall, Outcome | None]:
    event = HOOK.event(_after(1, tool, {} if arguments is None else arguments, **more))
    assert event is not None
    return event.calls[0]


def test_a_loop_is_warned_about_with_the_result_then_blocked_then_ended() -> None:
    """Each happens at the documented count; the description of a call is ignored."""
    replies = _loop(31)

    assert [number for number, (_, after) in enumerate(replies, 1) if after] == [11]
    assert replies[10][1]["advice"].startswith("Loop detected: `bash` was called 10 times")
    assert replies[10][1]["abort"] is False
    assert [number for number, (before, _) in enumerate(replies, 1) if before] == list(range(21, 32))
    assert replies[20][0]["advice"].startswith("Loop detected: `bash` was called 20 times")
    assert [before["abort"] for before, _ in replies[20:]] == [*([False] * 10), True]


def test_work_that_makes_progress_is_left_alone() -> None:
    """Every reply is empty."""
    for number in range(40):
        given = {"filePath": f"/notes/{number}.md"}
        assert answer(HOOK, _before(number, "read", given)) is None
        assert answer(HOOK, _after(number, "read", given, result={"output": f"line {number}"})) is None


def test_a_loop_that_survives_a_compaction_ends_the_run() -> None:
    """The run ends with the outcome that completes the loop."""
    _loop(2)
    assert answer(HOOK, {**BASE, "event": "compacted"}) is None
    replies = []
    for number in range(10, 13):
        answer(HOOK, _before(number))
        replies.append(answer(HOOK, _after(number)))

    assert replies[:2] == [None, None]
    assert replies[2] is not None
    assert replies[2]["abort"] is True
    assert "after a compaction" in replies[2]["advice"]


def test_calls_that_fail_are_counted_by_their_errors() -> None:
    """They have an error instead of a result, and are warned about all the same."""
    given = {"filePath": "/none"}
    replies = []
    for number in range(11):
        answer(HOOK, _before(number, "read", given))
        replies.append(answer(HOOK, _after(number, "read", given, error="File not found: /none")))

    assert [number for number, reply in enumerate(replies, 1) if reply] == [11]


def test_a_tool_that_does_not_exist_has_the_name_that_the_model_used() -> None:
    """opencode runs it as `invalid`, but it is blocked under its own name."""
    given = {"tool": "fly", "error": UNAVAILABLE}
    replies = []
    for number in range(11):
        reply = answer(HOOK, _before(number, "invalid", given))
        replies.append(reply)
        if reply is None:
            answer(HOOK, _after(number, "invalid", given, result={"output": REFUSED + UNAVAILABLE}))

    assert replies[:10] == [None] * 10
    assert replies[10] is not None
    assert replies[10]["advice"].startswith(
        "Loop detected: `fly` was called 10 times, but there is no tool of that name"
    )


def test_parallel_calls_may_finish_in_any_order(home: Path) -> None:
    """Outcomes are matched to calls by id, and no call is counted twice."""
    warned_turns = []
    for turn in range(12):
        numbers = [turn * 3, turn * 3 + 1, turn * 3 + 2]
        for number in numbers[::-1]:
            given = {"command": f"cat {number % 3}"}
            assert answer(HOOK, _before(number, arguments=given, turn=f"t{turn}")) is None
        for number in numbers:
            given = {"command": f"cat {number % 3}"}
            result = _bash(f"new {number}", 0)
            if answer(HOOK, _after(number, arguments=given, turn=f"t{turn}", result=result)):
                warned_turns.append(turn)

    assert set(warned_turns) == {10}
    (record,) = _records(home)
    assert (record["calls"], record["run_id"], record["session_id"]) == (36, "msg_1", "ses_1")


def test_a_call_belongs_to_a_message_a_prompt_and_a_session() -> None:
    """Calls of one model message have the same turn."""
    event = HOOK.event(_before(7))
    assert event is not None
    ((call, _),) = event.calls

    assert (event.kind, event.key.session) == ("before", "ses_1")
    assert (call.tool, call.id, call.turn_id, call.run_id, call.session_id) == ("bash", "c7", "t7", "msg_1", "ses_1")


def test_prompts_and_sessions_are_counted_separately() -> None:
    """Each user message is a run, and each sub-agent is a session of its own."""
    for which in ({"run": "msg_2"}, {"session": "ses_2"}, {}):
        for number in range(9):
            assert answer(HOOK, {**_before(number), **which}) is None
            assert answer(HOOK, {**_after(number), **which}) is None
    assert answer(HOOK, {"event": "prompt", "session": "ses_1", "run": "msg_3"}) is None


PICTURE = {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AA==", "id": "prt_1"}


@pytest.mark.parametrize(
    ("tool", "more", "outcome"),
    [
        ("bash", {"result": _bash("ok\n", 0)}, Outcome.shell("ok\n", exit_code=0)),
        ("bash", {"result": _bash("no\n", 3)}, Outcome.shell("no\n", status="failed", exit_code=3)),
        ("bash", {"result": _bash("killed", None)}, Outcome.shell("killed", status="failed")),
        ("bash", {"error": "The bash tool was called with"}, Outcome.error("The bash tool was called with")),
        ("read", {"result": {"output": "1: a"}}, Outcome.result("1: a")),
        ("read", {"error": "File not found: /a"}, Outcome.error("File not found: /a")),
        (
            "read",
            {"result": {"output": "Image read", "attachments": [PICTURE, 7]}},
            Outcome.result(["Image read", ["image/png", "data:image/png;base64,AA=="]]),
        ),
        (
            "grep",
            {"result": {"output": "cut, see /data/tool_1", "metadata": {"outputPath": "/data/tool_1"}}},
            Outcome.result("cut, see "),
        ),
        (
            "task",
            {"result": {"output": '<task id="ses_9">done', "metadata": {"sessionId": "ses_9"}}},
            Outcome.result('<task id="">done'),
        ),
        ("task", {"error": "Subagent failed (task_id: ses_9): Aborted"}, Outcome.error(": Aborted")),
        ("m_look", {"result": {"content": [{"type": "text", "text": "a"}, {"text": "b"}]}}, Outcome.result("a\n\nb")),
        ("m_look", {"result": {"content": [{"type": "image"}]}}, Outcome.result([{"type": "image"}])),
        ("edit", {"error": RULED_OUT}, Outcome.denied(RULED_OUT)),
        ("edit", {"error": "Tool execution aborted"}, Outcome.missing()),
        ("task", {"result": None}, Outcome.missing()),
    ],
)
def test_outcomes_are_read_without_the_parts_that_always_change(
    tool: str, more: dict[str, Any], outcome: Outcome
) -> None:
    """The files that hold long outputs and the sessions of sub-agents have a new name with each call."""
    assert _outcome(tool, **more)[1] == outcome


@pytest.mark.parametrize(
    ("reason", "kind"), [(UNAVAILABLE, "unknown_tool"), ("Invalid input for tool fly: no JSON", "error")]
)
def test_a_call_that_opencode_did_not_understand_is_one_of_the_intended_tool(reason: str, kind: str) -> None:
    """The reason replaces the arguments, which opencode does not pass on."""
    call, outcome = _outcome("invalid", {"tool": "fly", "error": reason}, result={"output": REFUSED + reason})

    assert (call.tool, call.arguments) == ("fly", {"error": reason})
    assert outcome is not None
    assert outcome.kind == kind


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"event": "before"},
        {"event": 7, "session": "s"},
        {"event": "before", "session": 7},
        {**BASE, "event": "idle"},
        {**BASE, "event": "before", "tool": None, "call": 7, "arguments": "x", "run": 7, "turn": []},
        {**BASE, "event": "before", "tool": "invalid", "arguments": 7},
        {**BASE, "event": "before", "tool": "invalid", "arguments": {"tool": 7}},
        {**BASE, "event": "after", "tool": "invalid", "arguments": None, "result": {"output": 7}},
        {**BASE, "event": "after", "tool": "bash"},
        {**BASE, "event": "after", "tool": "bash", "result": 7, "error": 7},
        {**BASE, "event": "after", "tool": "bash", "result": {"metadata": {"exit": "x", "outputPath": 7}}},
        {**BASE, "event": "after", "tool": "read", "result": {"metadata": 7, "attachments": 7}},
        {**BASE, "event": "after", "tool": "mcp", "result": {"content": [7, {"text": 7}]}},
        {**BASE, "event": "prompt", "something": "new"},
    ],
)
def test_unknown_payloads_are_ignored(payload: dict[str, Any]) -> None:
    """Unknown events, fields and types get no reply."""
    assert answer(HOOK, payload) is None


class TestPlugin:
    def test_it_starts_the_hook_that_was_installed(self, home: Path) -> None:
        """The command is a list of words, so no shell is involved."""
        assert main(["install", "opencode"]) == 0
        plugin = (home / ".config/opencode/plugin/wheelspin.js").read_text()

        assert f"const [PROGRAM, ...WORDS] = {json.dumps(words_for('opencode'))}\n" in plugin
        assert "COMMAND" not in plugin

    def test_it_is_written_where_opencode_looks(
        self, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """`XDG_CONFIG_HOME` moves the user's; `OPENCODE_CONFIG_DIR` is an additional folder and moves nothing."""
        monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "xdg"))
        monkeypatch.setenv("OPENCODE_CONFIG_DIR", str(home / "more"))
        assert INSTALLER.settings(Scope.USER) == home / "xdg/opencode/plugin/wheelspin.js"

        assert main(["install", "opencode", "--scope", "project"]) == 0
        assert (home / ".opencode/plugin/wheelspin.js").exists()
        assert "note: the file contains paths of this machine" in capsys.readouterr().out

    def test_it_is_removed_and_files_of_others_stay(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """This holds for any path of the hook."""
        monkeypatch.setenv("XDG_STATE_HOME", str(home / 'a "b" \\c ü'))
        place = home / ".config/opencode/plugin/wheelspin.js"
        assert main(["install", "opencode"]) == 0
        assert main(["uninstall", "opencode"]) == 0
        assert not place.exists()

        place.write_text("export const Mine = async () => ({})\n")
        assert main(["uninstall", "opencode"]) == 0
        assert place.exists()
