"""The details of Qwen Code's sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wheelspin import Outcome
from wheelspin.transcripts import reader_for
from wheelspin.transcripts.base import Compacted, Event, TokensUsed, ToolCalled, ToolReturned, UserMessage
from wheelspin.transcripts.files import TranscriptFile

ADVICE = "\n\nLoop detected: `x` was called 2 times. Calling it again will not change that. Write it down."
PICTURE = [{"inlineData": {"mimeType": "image/png", "data": "aaaa"}}]
SIDE: dict[str, Any] = {"isSidechain": True, "agentId": "helper-c0"}


def _read(folder: Path, *lines: dict[str, Any]) -> list[Event]:
    path = folder / "session.jsonl"
    whole = [{"uuid": f"u{number}", "sessionId": "s", **line} for number, line in enumerate(lines)]
    path.write_text("".join(json.dumps(line) + "\n" for line in whole))
    source = TranscriptFile(path)
    reader = reader_for(source)
    assert reader.name == "qwen_code"
    return list(reader.read(source))


def _user(text: str = "go", **fields: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "parts": [{"text": text}]}, **fields}


def _model(*calls: str, tool: str = "read_file", tokens: int = 0, args: Any = None, **fields: Any) -> dict[str, Any]:
    parts = [{"functionCall": {"id": call, "name": tool, "args": args or {}}} for call in calls]
    cost = {"usageMetadata": {"totalTokenCount": tokens}} if tokens else {}
    return {"type": "assistant", "message": {"role": "model", "parts": parts}, **cost, **fields}


def _result(
    call: str, response: Any, status: str = "success", kind: str = "", *, inner: Any = None, **fields: Any
) -> dict[str, Any]:
    answer = {"id": call, "name": "x", "response": response} | ({"parts": inner} if inner else {})
    told = {"callId": call, "status": status} | ({"errorType": kind} if kind else {})
    message = {"role": "user", "parts": [{"functionResponse": answer}]}
    return {"type": "tool_result", "message": message, "toolCallResult": told, **fields}


def _outcomes(events: list[Event]) -> list[Outcome]:
    return [event.outcome for event in events if isinstance(event, ToolReturned)]


class TestMessages:
    def test_calls_of_one_message_are_asked_for_before_any_comes_back(self, tmp_path: Path) -> None:
        """The tokens of the message are reported once in between, and telemetry is ignored."""
        telemetry = {"type": "system", "subtype": "ui_telemetry", "systemPayload": {"uiEvent": {}}}
        events = _read(
            tmp_path,
            _user(),
            _model("c1", "c2", tokens=9),
            telemetry,
            _result("c1", {"output": "a"}),
            _result("c2", {"output": "b"}),
            _model("c1", tokens=3),
            _model(tokens=2),
        )

        assert [type(event) for event in events] == [
            *(UserMessage, ToolCalled, ToolCalled, TokensUsed, ToolReturned, ToolReturned),
            *(TokensUsed, TokensUsed),
        ]
        assert events[3] == TokensUsed(2, 9)
        assert events[-2:] == [TokensUsed(6, 3), TokensUsed(7, 2)]

    def test_in_a_sub_agent_s_file_the_cost_stands_before_the_calls(self, tmp_path: Path) -> None:
        """The tokens are reported after the calls, and the sub-agent's task is not a prompt of the user."""
        events = _read(
            tmp_path,
            _user(**SIDE),
            _model(tokens=9, **SIDE),
            _model("c1", **SIDE),
            _result("c1", {"output": "a"}, **SIDE),
        )
        asked, spent, answered = events

        assert isinstance(asked, ToolCalled)
        assert asked.call.agent_id == "helper-c0"
        assert spent == TokensUsed(3, 9, None, "helper-c0")
        assert isinstance(answered, ToolReturned)

    def test_when_a_call_may_run_is_no_argument(self, tmp_path: Path) -> None:
        """The wording of a command's description is ignored, too."""
        _, asked = _read(tmp_path, _user(), _model("c1", args={"file_path": "a", "wait_for_previous": True}))

        assert isinstance(asked, ToolCalled)
        assert asked.call.arguments == {"file_path": "a"}
        tool = reader_for(TranscriptFile(tmp_path / "session.jsonl")).tools.look_up("run_shell_command", {})
        assert tool.identify({"command": "ls", "description": "List"}) == {"command": "ls"}

    @pytest.mark.parametrize("subtype", [None, "cron", "notification", "mid_turn_user_message"])
    def test_what_begins_a_turn_of_the_host_or_is_said_within_one_is_a_prompt(
        self, subtype: str | None, tmp_path: Path
    ) -> None:
        """Live, each of them has a prompt id of its own or unblocks calls."""
        assert _read(tmp_path, _user(subtype=subtype)) == [UserMessage(1)]

    def test_a_compaction_is_a_line_of_its_own(self, tmp_path: Path) -> None:
        """Its history contains no new calls, and any status other than 1 is a failure."""

        def compaction(**info: int) -> dict[str, Any]:
            history = _model("c9")["message"]
            payload = {"info": info, "compressedHistory": [history]}
            return {"type": "system", "subtype": "chat_compression", "systemPayload": payload}

        events = _read(
            tmp_path, _user(), compaction(compressionStatus=1), compaction(), compaction(compressionStatus=2)
        )

        assert events == [UserMessage(1), Compacted(2), Compacted(3), Compacted(4, ok=False)]


class TestOutcomes:
    @pytest.mark.parametrize(
        ("result", "outcome"),
        [
            (_result("c", {"output": "a"}), Outcome.result("a")),
            (_result("c", {"output": f"a{ADVICE}"}), Outcome.result("a")),
            (_result("c", {"output": f"a{ADVICE}\nLoop detected: y. This call was not run."}), Outcome.result("a")),
            (
                _result("c", {"output": f"a{ADVICE}\n\nis what it says"}),
                Outcome.result("a\n\nis what it says"),
            ),
            (
                _result("c", {"output": f"two{ADVICE}"}, inner=PICTURE),
                Outcome.result([{"functionResponse": {"name": "x", "response": {"output": "two"}, "parts": PICTURE}}]),
            ),
            (_result("c", {"error": f"no{ADVICE}"}, "error", "file_not_found"), Outcome.error("no", "file_not_found")),
            (_result("c", {"error": "no"}, "error", "tool_not_registered"), Outcome.unknown_tool("no")),
            (_result("c", {"error": "no"}, "error", "execution_denied"), Outcome.denied("no")),
            (_result("c", {"error": "no"}, "cancelled"), Outcome.denied("no")),
        ],
    )
    def test_outcomes_are_told_apart(self, result: dict[str, Any], outcome: Outcome, tmp_path: Path) -> None:
        """Qwen Code records the status; advice is left out."""
        assert _outcomes(_read(tmp_path, _user(), _model("c"), result)) == [outcome]

    @pytest.mark.parametrize(
        ("response", "outcome"),
        [
            ({"output": "a"}, Outcome.result("a")),
            ({"error": "File not found: a"}, Outcome.error("File not found: a")),
            (
                {"error": 'Tool "read_file" not found in registry.'},
                Outcome.unknown_tool('Tool "read_file" not found in registry.'),
            ),
            (
                {"error": "Loop detected: x. This call was not run. y"},
                Outcome.missing(),
            ),
            (
                {"error": 'This "read_file" invocation was denied by permission rules. x'},
                Outcome.denied('This "read_file" invocation was denied by permission rules. x'),
            ),
            (
                {"error": 'Qwen Code requires permission to use "read_file", but that permission was declined.'},
                Outcome.denied('Qwen Code requires permission to use "read_file", but that permission was declined.'),
            ),
        ],
    )
    def test_where_nothing_is_said_of_them_what_the_model_reads_tells_them_apart(
        self, response: Any, outcome: Outcome, tmp_path: Path
    ) -> None:
        """The text for the model identifies the outcome in the file of a sub-agent."""
        result = {**_result("c", response, **SIDE), "toolCallResult": {"callId": "c", "durationMs": 3}}

        assert _outcomes(_read(tmp_path, _user(**SIDE), _model("c", **SIDE), result)) == [outcome]

    def test_a_command_has_the_outcome_that_the_hook_gives_it(self, tmp_path: Path) -> None:
        """The exit code is read, and Qwen Code's labels are left out."""
        shown = "Command: x\nDirectory: (root)\nOutput: no\nError: (none)\nExit Code: 3\nSignal: (none)"
        result = _result("c", {"error": f"{shown}\nProcess Group PGID: 7{ADVICE}"}, "error", "shell_execute_error")
        model = _model("c", tool="run_shell_command", args={"command": "x"})

        assert _outcomes(_read(tmp_path, _user(), model, result)) == [Outcome.shell("no", status="failed", exit_code=3)]
