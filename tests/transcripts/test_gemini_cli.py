"""The details of Gemini CLI's sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wheelspin import Outcome
from wheelspin.transcripts import reader_for
from wheelspin.transcripts.base import Compacted, Event, TokensUsed, ToolCalled, ToolReturned, UserMessage
from wheelspin.transcripts.files import TranscriptFile

HEADER = {"sessionId": "s", "projectHash": "h", "startTime": "t", "lastUpdated": "t", "kind": "main"}
ADVICE = "<hook_context>Loop detected: no.</hook_context>"
PICTURE = {"inlineData": {"mimeType": "image/png", "data": "aaaa"}}
STAND_IN = "Binary content provided (1 item(s))."


def _read(folder: Path, *lines: Any, header: dict[str, Any] = HEADER) -> list[Event]:
    path = folder / "session.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in (header, *lines)))
    source = TranscriptFile(path)
    return list(reader_for(source).read(source))


def _user(*parts: Any, name: str = "u1") -> dict[str, Any]:
    return {"type": "user", "id": name, "content": list(parts)}


def _model(name: str, *calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"type": "gemini", "id": name, "content": "", **({"toolCalls": list(calls)} if calls else {}), **fields}


def _call(
    name: str, tool: str = "read_file", response: Any = None, *others: Any, args: Any = None, **fields: Any
) -> dict[str, Any]:
    answer = {"functionResponse": {"id": name, "name": tool, "response": response}}
    result = [] if response is None else [answer, *others]
    return {"id": name, "name": tool, "args": args or {}, "result": result, "status": "success", **fields}


def _framed(text: str) -> str:
    return f"<untrusted_context>\n{text}\n</untrusted_context>"


def _outcomes(events: list[Event]) -> list[Outcome]:
    return [event.outcome for event in events if isinstance(event, ToolReturned)]


class TestMessages:
    def test_a_message_that_is_written_again_with_its_calls_is_one(self, tmp_path: Path) -> None:
        """All calls of a message come before their outcomes, and its tokens are reported once in between."""
        tokens = {"tokens": {"input": 7, "output": 2, "total": 9}}
        one, two = _call("c1", response={"output": "a"}), _call("c2", response={"output": "b"})
        events = _read(
            tmp_path,
            _user({"text": "go"}),
            _model("m1", **tokens),
            _model("m1", one, two, **tokens),
            _model("m1", one, two, **tokens),
            {"$set": {"messages": [_model("m1", one, two, **tokens)]}},
        )

        assert [type(event) for event in events] == [
            UserMessage,
            ToolCalled,
            ToolCalled,
            TokensUsed,
            ToolReturned,
            ToolReturned,
        ]
        assert [event.line for event in events] == [2, *[4] * 5]
        assert events[3] == TokensUsed(4, 9)

    def test_a_call_without_a_result_waits_for_it(self, tmp_path: Path) -> None:
        """The result may come when the message is written again, or never."""
        events = _read(
            tmp_path,
            _model("m1", _call("c1", status="executing"), tokens={"total": 9}),
            _model("m1", _call("c1", response={"output": "a"}), tokens={"total": 9}),
            _model("m2", _call("c2")),
        )

        assert [(type(event), event.line) for event in events] == [
            (ToolCalled, 2),
            (TokensUsed, 2),
            (ToolReturned, 3),
            (ToolCalled, 4),
        ]

    def test_messages_without_calls_cost_as_well(self, tmp_path: Path) -> None:
        """Each message reports its tokens once, with the latest figure, before the next event."""
        events = _read(
            tmp_path,
            _model("m1"),
            _model("m1", tokens={"total": 9}),
            _user({"text": "go on"}),
            _model("m2", tokens={"total": 3}),
        )

        assert events == [TokensUsed(3, 9), UserMessage(4), TokensUsed(5, 3)]

    def test_when_a_call_may_run_is_no_argument(self, tmp_path: Path) -> None:
        """The wording of a command's description is ignored, too."""
        path = {"file_path": "a", "wait_for_previous": True}
        (asked,) = _read(tmp_path, _model("m1", _call("c1", args=path)))

        assert isinstance(asked, ToolCalled)
        assert asked.call.arguments == {"file_path": "a"}
        tool = reader_for(TranscriptFile(tmp_path / "session.jsonl")).tools.look_up("run_shell_command", {})
        assert tool.identify({"command": "ls", "description": "List"}) == {"command": "ls"}

    @pytest.mark.parametrize(
        ("content", "is_prompt"),
        [
            ([{"text": "fix it"}], True),
            ("fix it", True),
            ([{"text": "look at"}, PICTURE], True),
            ([{"text": "<session_context>\nThis is the Gemini CLI."}], False),
            ([{"text": "System: Potential loop detected. Details: x"}], False),
            ([{"text": "[System: You previously returned an empty response with no text or thoughts."}], False),
            ([{"text": "Please continue."}], False),
            ([{"functionResponse": {"id": "c1", "response": {"output": "a"}}}, {"text": "and now?"}], False),
            ([], False),
            (None, False),
        ],
    )
    def test_a_prompt_is_told_from_what_the_host_says(self, content: Any, is_prompt: bool, tmp_path: Path) -> None:
        """Only a prompt of the user starts a run."""
        assert bool(_read(tmp_path, {"type": "user", "id": "u", "content": content})) is is_prompt

    def test_a_sub_agent_has_a_file_of_its_own(self, tmp_path: Path) -> None:
        """Its instructions are not a prompt of the user."""
        header = {**HEADER, "sessionId": "helper", "kind": "subagent"}
        events = _read(tmp_path, _user({"text": "task"}), _model("m1", _call("c1"), tokens={"total": 9}), header=header)
        asked, spent = events

        assert isinstance(asked, ToolCalled)
        assert asked.call.agent_id == "helper"
        assert spent == TokensUsed(3, 9, None, "helper")

    def test_an_older_session_is_one_object(self, tmp_path: Path) -> None:
        """Its events are numbered by message, and a broken file is noted."""
        messages = [3, _user({"text": "go"}), _model("m1", _call("c1", response={"output": "a"}))]
        whole = {**HEADER, "messages": messages}
        path = tmp_path / "session.json"
        for indent in (None, 1):
            path.write_text(json.dumps(whole, indent=indent))
            source = TranscriptFile(path)
            assert reader_for(source).name == "gemini_cli"
            assert [event.line for event in reader_for(source).read(source)] == [2, 3, 3]

        path.write_text(json.dumps(whole, indent=1)[:-20])
        source = TranscriptFile(path)
        assert list(reader_for(source).read(source)) == []
        assert source.problem_count == 1


class TestCompactions:
    def test_a_history_with_a_new_summary_is_one(self, tmp_path: Path) -> None:
        """A replaced history without a new summary is not a compaction, and repeats no calls."""
        call = _call("c1", response={"output": "a"})
        summary = [
            _user({"text": "<state_snapshot>x</state_snapshot>"}, name="u8"),
            _model("m8", content=[{"text": "Got it. Thanks for the additional context!"}]),
        ]
        events = _read(
            tmp_path,
            {"$set": {"messages": [_user({"text": "<session_context>"})]}},
            _model("m1", tokens={"total": 9}),
            _model("m1", call, tokens={"total": 9}),
            {"$set": {"messages": [_model("m1", call)]}},
            _model("m2", tokens={"total": 8}),
            {"$set": {"messages": summary}},
            {"$set": {"messages": [*summary, _model("m9", call)]}},
        )

        assert [type(event) for event in events] == [ToolCalled, TokensUsed, ToolReturned, TokensUsed, Compacted]
        assert events[-1] == Compacted(7)


class TestOutcomes:
    @pytest.mark.parametrize(
        ("call", "outcome"),
        [
            (_call("c", response={"output": "a"}), Outcome.result("a")),
            (_call("c", response={"output": f"a\n\n{ADVICE}"}), Outcome.result("a")),
            (_call("c", response={"output": f"a\n\n\n{ADVICE}"}), Outcome.result("a")),
            (_call("c", response={"output": f"{ADVICE} is what it says"}), Outcome.result(f"{ADVICE} is what it says")),
            (
                _call("c", response={"output": _framed("a") + f"\n\n{ADVICE}"}),
                Outcome.result("a"),
            ),
            (_call("c", "read_file", {"output": STAND_IN}, PICTURE), Outcome.result(PICTURE)),
            (_call("c", "read_file", {"output": f"\n\n{ADVICE}"}, PICTURE), Outcome.result(PICTURE)),
            (_call("c", "read_file", {"output": "two"}, PICTURE), Outcome.result(["two", PICTURE])),
            (_call("c", "mcp_x", {"rows": [1]}), Outcome.result({"rows": [1]})),
            (_call("c", "mcp_x", {"rows": [1]}, PICTURE), Outcome.result([{"rows": [1]}, PICTURE])),
            (_call("c", response={"error": "File not found: a"}, status="error"), Outcome.error("File not found: a")),
            (
                _call("c", "frob", {"error": 'Tool "frob" not found. Did you mean one of: "glob"?'}, status="error"),
                Outcome.unknown_tool('Tool "frob" not found. Did you mean one of: "glob"?'),
            ),
            (
                _call("c", response={"error": "Tool execution blocked: Loop detected: x"}, status="error"),
                Outcome.denied("Tool execution blocked: Loop detected: x"),
            ),
            (
                _call("c", response={"error": "Agent execution stopped by hook: wheelspin: x"}, status="error"),
                Outcome.denied("Agent execution stopped by hook: wheelspin: x"),
            ),
            (
                _call("c", response={"error": "Tool execution denied by policy."}, status="error"),
                Outcome.denied("Tool execution denied by policy."),
            ),
            (
                _call("c", response={"output": "half", "error": "[Operation Cancelled] x"}, status="cancelled"),
                Outcome.denied("[Operation Cancelled] x"),
            ),
        ],
    )
    def test_outcomes_are_told_apart(self, call: dict[str, Any], outcome: Outcome, tmp_path: Path) -> None:
        """Context of hooks and the text in place of a picture are left out, and refused calls are not failures."""
        assert _outcomes(_read(tmp_path, _model("m1", call))) == [outcome]

    def test_a_picture_within_the_answer_is_one_beside_it(self, tmp_path: Path) -> None:
        """Sessions of newer models have the picture inside the response."""
        call = _call("c1", response={"output": STAND_IN})
        call["result"][0]["functionResponse"]["parts"] = [PICTURE]

        assert _outcomes(_read(tmp_path, _model("m1", call))) == [Outcome.result(PICTURE)]

    @pytest.mark.parametrize(
        ("response", "outcome"),
        [
            (
                {"output": _framed("Output: hi\nProcess Group PGID: 512")},
                Outcome.shell("hi"),
            ),
            (
                {"output": _framed("Output: no\nExit Code: 3\nProcess Group PGID: 9")},
                Outcome.shell("no", status="failed", exit_code=3),
            ),
            (
                {"output": _framed("Command moved to background (PID: 7). Output hidden.")},
                Outcome.shell("Command moved to background (PID: ). Output hidden."),
            ),
            ({"error": "spawn failed"}, Outcome.shell("spawn failed", status="failed")),
        ],
    )
    def test_a_command_has_the_outcome_that_the_hook_gives_it(
        self, response: Any, outcome: Outcome, tmp_path: Path
    ) -> None:
        """Process numbers are left out."""
        call = _call("c1", "run_shell_command", response, args={"command": "x"})

        assert _outcomes(_read(tmp_path, _model("m1", call))) == [outcome]

    def test_a_long_output_is_the_same_with_an_advice_and_without(self, tmp_path: Path) -> None:
        """Advice takes the place of some output, and the name of the file with the full output always differs."""

        def shown(number: int, *, advised: bool) -> dict[str, str]:
            whole = "Output: " + "".join(f"line {row}\n" for row in range(9000)) + f"Process Group PGID: {number}"
            told = _framed(whole) + (f"\n\n{ADVICE}" if advised else "")
            left_out = f"\n\n... [{len(told) - 40_000:,} characters omitted] ...\n\n"
            head = f"Output too large. Showing first 8,000 and last 32,000 characters. For full output see: /{number}\n"
            return {"output": head + told[:8000] + left_out + told[-32_000:]}

        calls = [
            _call(f"c{number}", "run_shell_command", shown(number, advised=number == 501)) for number in (500, 501, 502)
        ]
        one, *others = _outcomes(_read(tmp_path, *(_model(call["id"], call) for call in calls)))

        assert others == [one, one]
        assert isinstance(one.value, dict)
        assert one.value["aggregated"].startswith("line 0\n")
        assert one.value["aggregated"].endswith("line 8999")
