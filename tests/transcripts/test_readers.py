"""The contract that every reader keeps, and what each makes of the fine points of its format."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from wheelspin import Outcome, Replay, transcripts
from wheelspin.errors import ConfigError, TranscriptError
from wheelspin.testing.readers import READER_LAWS
from wheelspin.transcripts import READERS, reader_for
from wheelspin.transcripts.base import (
    Compacted,
    ConfigChanged,
    Event,
    Reader,
    RunStarted,
    TokensUsed,
    ToolCalled,
    ToolReturned,
    UserMessage,
)
from wheelspin.transcripts.files import TranscriptFile

SESSIONS = ROOT / "examples" / "sessions"
SAMPLES = {
    "claude_code": "claude-code.jsonl",
    "codex": "codex.jsonl",
    "gemini_cli": "gemini-cli.jsonl",
    "copilot_cli": "copilot-cli.jsonl",
    "openclaw": "openclaw.jsonl",
    "qwen_code": "qwen-code.jsonl",
    "opencode": "opencode.json",
    "events": "events.jsonl",
    "openai_chat": "openai-chat.json",
    "anthropic_messages": "anthropic-messages.json",
}


WORDS = sorted(
    set(re.findall(r'"([a-zA-Z_]+)"', "".join(path.read_text() for path in (ROOT / "src/wheelspin").rglob("*.py"))))
)
"""Every word that the sources quote: the keys and the kinds of all formats are among them."""
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(WORDS) | st.just("{"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=12,
)
SHAPED = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["assistant", "user", "message", "response_item", "event_msg", "call", "result"])
        | VALUES,
        "message": st.fixed_dictionaries(
            {},
            optional={
                "role": st.sampled_from(["assistant", "user", "toolResult"]) | VALUES,
                "content": st.lists(st.fixed_dictionaries({"type": st.sampled_from(WORDS) | VALUES})) | VALUES,
                "usage": VALUES,
            },
        ),
        "payload": st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=5),
        "role": st.sampled_from(["assistant", "user", "tool", "function"]) | VALUES,
        "content": VALUES,
        "tool_calls": st.lists(VALUES, max_size=3) | VALUES,
        "messages": VALUES,
        "usage": VALUES,
    },
)
LINES = SHAPED | st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=5)


def _write(folder: Path, *lines: Any, name: str = "session.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return path


def _read(path: Path, name: str | None = None) -> tuple[list[Event], TranscriptFile]:
    source = TranscriptFile(path)
    return list(reader_for(source, name).read(source)), source


def _of(events: list[Event], kind: type[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def _calls(events: list[Event]) -> list[tuple[str, Any]]:
    return [(event.call.tool, event.call.arguments) for event in _of(events, ToolCalled)]


def _outcomes(events: list[Event]) -> list[Outcome]:
    return [event.outcome for event in _of(events, ToolReturned)]


class TestContract:
    @pytest.mark.parametrize("law", READER_LAWS, ids=lambda law: law.__name__)
    @pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
    def test_a_reader_keeps_its_contract(self, law: Callable[[Reader, Path], None], reader: Reader) -> None:
        """Each reader keeps each law on its sample."""
        law(reader, SESSIONS / SAMPLES[reader.name])

    @pytest.mark.parametrize(("name", "file"), SAMPLES.items())
    def test_its_sample_is_recognised(self, name: str, file: str) -> None:
        """No other reader is asked first that takes it, and it is long enough to show something."""
        events, _ = _read(SESSIONS / file)

        assert reader_for(TranscriptFile(SESSIONS / file)).name == name
        assert len(_of(events, ToolCalled)) > 5

    @given(lines=st.lists(LINES, min_size=1, max_size=4), reader=st.sampled_from(READERS))
    def test_no_line_breaks_a_reader(self, lines: list[Any], reader: Any) -> None:
        """Keys of all formats with values of any shape: it is told whether a file is theirs, and the file is played."""
        with TemporaryDirectory() as folder:
            source = TranscriptFile(_write(Path(folder), *lines))

            assert reader.matches(source.head()) in {True, False}
            with suppress(ConfigError):
                Replay(tools=reader.tools).scan(reader.read(source))

    def test_every_file_of_the_family_is_listed(self) -> None:
        """A reader that is written but not named in the family would never be asked."""
        files = {path.stem for path in Path(next(iter(transcripts.__path__))).glob("*.py")} - {
            "__init__",
            "base",
            "conversations",
            "files",
        }

        assert files == {reader.name for reader in READERS} == set(SAMPLES)

    def test_the_samples_are_those_that_their_scripts_write(self) -> None:
        """Whoever changes a script runs it."""
        written: dict[str, str] = {}
        for script in SESSIONS.glob("make_*.py"):
            scope: dict[str, Any] = {"__file__": str(script), "__name__": script.stem}
            exec(script.read_text(), scope)  # noqa: S102 - our own script
            make: Callable[[], Iterator[tuple[str, str]]] = scope["sessions"]
            written.update(make())

        assert set(written) == set(SAMPLES.values())
        assert all((SESSIONS / name).read_text() == text for name, text in written.items())


class TestUnreadable:
    def test_lines_that_are_no_json_are_counted_and_named(self, tmp_path: Path) -> None:
        """The rest of the file is read."""
        call = {"type": "call", "tool": "read", "id": "c1"}
        path = _write(tmp_path, call, "{broken\n", "[]\n", "\n", {"type": "result", "id": "c1", "result": 1})
        events, source = _read(path)

        assert [problem.line for problem in source.problems] == [2, 3]
        assert source.problem_count == 2
        assert len(events) == 2

    def test_what_orjson_refuses_the_standard_library_reads(self, tmp_path: Path) -> None:
        """NaN and lone surrogates come about in real sessions."""
        path = _write(tmp_path, '{"type":"call","tool":"read","args":{"a":NaN,"b":"\\ud800"}}\n')
        ((tool, arguments),) = _calls(_read(path)[0])

        assert tool == "read"
        assert arguments["b"] == "\ud800"

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (b"", "the file is empty"),
            (b" \n\n", "the file is empty"),
            (b"\x00\x01\x02", "this is binary data"),
            (b"\x1f\x8b\x08\x00broken", "its gzip data is damaged"),
            (b"hello\nworld\n", "this is not a session that Wheelspin can read"),
            (b'{"name": "package", "version": "1.0"}\n', "this is not a session that Wheelspin can read"),
            (b'[{"a": 1}]', "this is not a session that Wheelspin can read"),
            (b"<html></html>", "this is not a session that Wheelspin can read"),
        ],
    )
    def test_a_file_that_is_none_of_ours_says_so(self, content: bytes, said: str, tmp_path: Path) -> None:
        """With the file's name and the next step."""
        path = tmp_path / "file"
        path.write_bytes(content)

        with pytest.raises(TranscriptError) as failure:
            _read(path)
        assert failure.value.diagnostics().startswith(f"{path}: {said}")

    def test_a_file_that_is_not_there_says_so(self, tmp_path: Path) -> None:
        """A missing file and a folder are told apart."""
        with pytest.raises(TranscriptError, match="there is no such file"):
            _read(tmp_path / "none.jsonl")
        with pytest.raises(TranscriptError, match="this is a directory"):
            _read(tmp_path)

    def test_a_packed_file_that_breaks_off_is_read_as_far_as_it_goes(self, tmp_path: Path) -> None:
        """The place is named."""
        data = gzip.compress((SESSIONS / "claude-code.jsonl").read_bytes())
        path = tmp_path / "cut.jsonl.gz"
        path.write_bytes(data[: len(data) // 2])
        events, source = _read(path, "claude_code")

        assert events
        assert source.problems[-1].what in {"the file breaks off here", "not a JSON object"}

    @pytest.mark.parametrize(("name", "file"), SAMPLES.items())
    def test_a_byte_order_mark_does_no_harm(
        self, name: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Some editors write one, also before a blank."""
        path = tmp_path / file
        path.write_bytes(b"\xef\xbb\xbf\n" + (SESSIONS / file).read_bytes())

        whole = _calls(_read(SESSIONS / file)[0])
        assert reader_for(TranscriptFile(path)).name == name
        assert _calls(_read(path)[0]) == whole
        monkeypatch.setattr("wheelspin.transcripts.files._WHOLE_LIMIT", 10)
        assert _calls(_read(path)[0]) == whole

    def test_packed_data_that_is_damaged_from_the_start_says_so(self, tmp_path: Path) -> None:
        """It is no session, and no crash."""
        path = tmp_path / "session.jsonl.gz"
        path.write_bytes(b"\x1f\x8b" + b"damaged" * 9)

        with pytest.raises(TranscriptError, match="Copy the file again"):
            _read(path)

    def test_a_folder_that_is_named_as_a_file_says_so(self, tmp_path: Path) -> None:
        """Where a file is expected."""
        with pytest.raises(TranscriptError, match="this is a directory"):
            TranscriptFile(tmp_path).head()

    def test_a_disk_that_fails_says_so(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """With what the system says; read as far as it went where it went anywhere."""

        def fail(*_: object) -> Iterator[bytes]:
            raise OSError(5, "Input/output error")
            yield b""

        path = _write(tmp_path, {"type": "call", "tool": "read"})
        monkeypatch.setattr(TranscriptFile, "_bounded_lines", fail)

        with pytest.raises(TranscriptError, match="Input/output error"):
            TranscriptFile(path).head()
        with pytest.raises(TranscriptError, match="Input/output error"):
            list(TranscriptFile(path).lines())

    def test_no_more_problems_are_kept_than_people_read(self, tmp_path: Path) -> None:
        """All of them are counted."""
        _, source = _read(_write(tmp_path, {"type": "call", "tool": "read"}, "no json\n" * 50))

        assert (len(source.problems), source.problem_count) == (20, 50)

    def test_a_line_without_end_is_passed_over(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """One line must not fill the memory."""
        monkeypatch.setattr("wheelspin.transcripts.files._LONGEST_LINE", 200)
        call = {"type": "call", "tool": "read"}
        path = _write(tmp_path, call, {"type": "call", "tool": "x" * 1000}, call)
        events, source = _read(path)

        assert len(events) == 2
        assert [problem.line for problem in source.problems] == [2]

    def test_a_large_list_is_streamed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """It gives the events that it gives when it is read at once."""
        whole = _read(SESSIONS / "openai-chat.json")[0]
        monkeypatch.setattr("wheelspin.transcripts.files._WHOLE_LIMIT", 10)

        assert _read(SESSIONS / "openai-chat.json")[0] == whole
        data = (SESSIONS / "openai-chat.json").read_text()
        cut = tmp_path / "cut.json"
        cut.write_text(data[: data.rindex('"task_id"') - 4])
        events, source = _read(cut)
        assert 0 < len(events) < len(whole)
        assert "not valid JSON from here on" in source.problems[0].what


class TestEvents:
    def test_every_kind_of_event_is_read(self, tmp_path: Path) -> None:
        """With all keys, and with none but those that must be there."""
        path = _write(
            tmp_path,
            {"type": "config", "tools": {"loopDetection": {"enabled": True}}, "agents": {}},
            {
                "type": "call",
                "tool": "read",
                "args": {"a": 1},
                "id": "c",
                "turn": "t",
                "run": "r",
                "agent": "x",
                "session": "s",
            },
            {"type": "call", "tool": "list"},
            {"type": "result", "result": None},
            {"type": "result", "id": "c", "run": "r", "error": "boom", "error_kind": "Timeout"},
            {"type": "compaction"},
            {"type": "compaction", "ok": False, "agent": "x", "session": "s"},
            {"type": "user_message"},
            {"type": "run_start", "run": "r2"},
        )
        events, source = _read(path)
        config, first, second, unnamed, named, compacted, failed, spoke, started = events

        assert source.problem_count == 0
        assert config == ConfigChanged(1, {"tools": {"loopDetection": {"enabled": True}}, "agents": {}})
        assert isinstance(first, ToolCalled)
        call = first.call
        assert (call.id, call.turn_id, call.run_id, call.agent_id, call.session_id) == ("c", "t", "r", "x", "s")
        assert isinstance(second, ToolCalled)
        assert second.call.agent_id == "main"
        assert unnamed == ToolReturned(4, second.call, Outcome.result(None))
        assert named == ToolReturned(5, call, Outcome.error("boom", "Timeout"))
        assert compacted == Compacted(6, None, "main", ok=True)
        assert failed == Compacted(7, "s", "x", ok=False)
        assert spoke == UserMessage(8, None, "main")
        assert started == RunStarted(9, "r2", None, "main")

    @pytest.mark.parametrize(
        ("result", "outcome"),
        [
            ({"result": [1]}, Outcome.result([1])),
            ({"error": "x"}, Outcome.error("x")),
            ({"error": "x", "error_kind": "unknown_tool"}, Outcome.unknown_tool("x")),
            ({"error": "x", "error_kind": "denied"}, Outcome.denied("x")),
            ({}, Outcome.missing()),
        ],
    )
    def test_every_kind_of_outcome_is_read(self, result: dict[str, Any], outcome: Outcome, tmp_path: Path) -> None:
        """Errors of two kinds are outcomes of their own; no outcome at all is one that was never learned."""
        path = _write(tmp_path, {"type": "call", "tool": "a", "id": "c"}, {"type": "result", "id": "c", **result})

        assert _outcomes(_read(path)[0]) == [outcome]

    def test_a_result_belongs_to_the_newest_open_call_of_its_id_and_run(self, tmp_path: Path) -> None:
        """A call that is announced again is the newest."""
        path = _write(
            tmp_path,
            {"type": "call", "tool": "a", "args": 1, "id": "c", "run": "r1"},
            {"type": "call", "tool": "a", "args": 2, "id": "c", "run": "r2"},
            {"type": "call", "tool": "a", "args": 3, "id": "c", "run": "r1"},
            {"type": "result", "id": "c", "run": "r1", "result": 0},
            {"type": "result", "id": "c", "result": 0},
        )
        answered = _of(_read(path)[0], ToolReturned)

        assert [event.call.arguments for event in answered] == [3, 2]

    def test_what_means_nothing_is_noted(self, tmp_path: Path) -> None:
        """A result without a call, an event of another type."""
        _, source = _read(_write(tmp_path, {"type": "user_message"}, {"type": "result", "id": "x"}, {"type": "other"}))

        assert [problem.what for problem in source.problems] == [
            "a result without a call",
            "unknown event type 'other'",
        ]

    def test_calls_that_are_never_answered_do_not_fill_the_memory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The oldest are given up."""
        monkeypatch.setattr("wheelspin.transcripts.events._MOST_OPEN", 2)
        calls = [{"type": "call", "tool": "a", "id": f"c{number}"} for number in range(3)]
        path = _write(tmp_path, *calls, {"type": "result", "id": "c0"}, {"type": "result", "id": "c1"})

        assert len(_of(_read(path)[0], ToolReturned)) == 1


def _claude(kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content} | fields.pop("message", {})
    return {"type": kind, "sessionId": "s", "uuid": fields.pop("uuid", "u"), "message": message, **fields}


def _use(call: str, tool: str = "Read", **arguments: Any) -> list[dict[str, Any]]:
    return [{"type": "tool_use", "id": call, "name": tool, "input": arguments}]


def _result(call: str, content: Any, *, failed: bool = False) -> list[dict[str, Any]]:
    return [{"type": "tool_result", "tool_use_id": call, "content": content, "is_error": failed}]


class TestClaudeCode:
    def test_lines_that_are_written_again_after_a_compaction_are_one_call(self, tmp_path: Path) -> None:
        """They are known by their call ids."""
        kept = [_claude("assistant", _use("t1")), _claude("user", _result("t1", "x"))]
        boundary = {"type": "system", "subtype": "compact_boundary", "sessionId": "s", "uuid": "b"}
        summary = _claude("user", "This session is being continued", isCompactSummary=True)
        path = _write(
            tmp_path, _claude("user", "go"), *kept, boundary, summary, *kept, _claude("assistant", _use("t2"))
        )
        events, _ = _read(path)

        assert [type(event) for event in events] == [UserMessage, ToolCalled, ToolReturned, Compacted, ToolCalled]

    def test_a_partial_compaction_of_old_results_is_none(self, tmp_path: Path) -> None:
        """Only a boundary after which the context was summarised arms the guard."""
        line = {"type": "system", "subtype": "microcompact_boundary", "sessionId": "s", "uuid": "b"}

        assert _read(_write(tmp_path, line))[0] == []

    @pytest.mark.parametrize(
        ("line", "is_prompt"),
        [
            (_claude("user", "fix it"), True),
            (_claude("user", [{"type": "text", "text": "fix it"}, {"type": "image"}]), True),
            (_claude("user", "<command-message>review</command-message>\n<command-name>/review</command-name>"), True),
            (_claude("user", "<command-name>/clear</command-name>"), False),
            (_claude("user", "<local-command-stdout>ok</local-command-stdout>"), False),
            (_claude("user", [{"type": "text", "text": "[Request interrupted by user]"}]), False),
            (_claude("user", "<task-notification>done</task-notification>"), False),
            (_claude("user", "context", isMeta=True), False),
            (_claude("user", _result("t1", "x")), False),
            (_claude("user", []), False),
        ],
    )
    def test_a_prompt_of_the_user_is_told_from_what_the_host_writes(
        self, line: dict[str, Any], is_prompt: bool, tmp_path: Path
    ) -> None:
        """Only a prompt opens a run."""
        events, _ = _read(_write(tmp_path, line, _claude("assistant", [])))

        assert bool(_of(events, UserMessage)) is is_prompt

    @pytest.mark.parametrize(
        ("tool", "result", "failed", "outcome"),
        [
            ("Read", "text", False, Outcome.result("text")),
            ("Read", [{"type": "text", "text": "text"}], False, Outcome.result("text")),
            ("Read", [{"type": "image", "source": 1}], False, Outcome.result([{"type": "image", "source": 1}])),
            ("Read", "gone", True, Outcome.error("gone")),
            ("Bash", "out", False, Outcome.shell("out")),
            ("Bash", "Exit code 1\nout", True, Outcome.shell("Exit code 1\nout", status="failed")),
            ("Bash", "The user doesn't want to proceed with this tool use. x", True, None),
        ],
    )
    def test_outcomes_are_told_apart(
        self, tool: str, result: Any, failed: bool, outcome: Outcome | None, tmp_path: Path
    ) -> None:
        """The shell tool has the shell's outcome; what the user refused is a denial."""
        path = _write(
            tmp_path, _claude("assistant", _use("t1", tool)), _claude("user", _result("t1", result, failed=failed))
        )
        (found,) = _outcomes(_read(path)[0])

        assert found == (outcome or Outcome.denied(result))

    def test_sub_agents_are_agents_of_their_own(self, tmp_path: Path) -> None:
        """Those in a side chain, with an id or without, and those that the file quotes."""
        quoted = {"type": "assistant", "message": {"content": _use("t4")}}
        path = _write(
            tmp_path,
            _claude("assistant", _use("t1"), uuid="a"),
            _claude("user", "sub task", uuid="b", isSidechain=True),
            _claude("assistant", _use("t2"), uuid="c", parentUuid="b", isSidechain=True),
            _claude("assistant", _use("t3"), uuid="d", isSidechain=True, agentId="helper"),
            {"type": "progress", "data": {"type": "agent_progress", "agentId": "quoted", "message": quoted}},
            {"type": "progress", "data": {"type": "bash_progress"}},
            {"type": "progress", "data": {"type": "agent_progress", "agentId": "quoted"}},
            {"type": "assistant", "sessionId": "s", "message": "none"},
            {"type": "user", "sessionId": "s", "message": "none"},
        )
        events, _ = _read(path)

        assert [event.call.agent_id for event in _of(events, ToolCalled)] == [None, "b", "helper", "quoted"]
        assert [event.agent_id for event in _of(events, UserMessage)] == ["b"]

    def test_quotes_of_sub_agents_are_left_out_where_their_files_lie_beside(self, tmp_path: Path) -> None:
        """A folder that is replayed counts them once."""
        quoted = {"type": "assistant", "message": {"content": _use("t4")}}
        line = {"type": "progress", "data": {"type": "agent_progress", "agentId": "quoted", "message": quoted}}
        path = _write(tmp_path, _claude("assistant", _use("t1")), line)
        (tmp_path / "session" / "subagents").mkdir(parents=True)

        assert len(_of(_read(path)[0], ToolCalled)) == 1

    def test_the_description_of_a_command_does_not_count(self) -> None:
        """It is worded anew each time."""
        reader = reader_for(TranscriptFile(SESSIONS / "claude-code.jsonl"))
        tool = reader.tools.look_up("Bash", {})

        assert tool.identify({"command": "ls", "description": "List"}) == {"command": "ls"}

    def test_tokens_are_those_of_the_message(self, tmp_path: Path) -> None:
        """All that was read, cached or not, and what was written; each message names itself."""
        usage = {
            "input_tokens": 1,
            "cache_creation_input_tokens": 10,
            "cache_read_input_tokens": 100,
            "output_tokens": 5,
        }
        path = _write(tmp_path, _claude("assistant", _use("t1"), message={"id": "m1", "usage": usage}))

        assert _of(_read(path)[0], TokensUsed) == [TokensUsed(1, 116, None, None, "m1")]


def _codex(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "t", "type": kind, "payload": payload}


def _item(**payload: Any) -> dict[str, Any]:
    return _codex("response_item", **payload)


class TestCodex:
    def test_the_history_that_replaces_another_holds_no_new_calls(self, tmp_path: Path) -> None:
        """A line `compacted` is a compaction and nothing else."""
        call = {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c9"}
        events, _ = _read(_write(tmp_path, _codex("compacted", message="", replacement_history=[call])))

        assert events == [Compacted(1)]

    @pytest.mark.parametrize(
        ("item", "tool", "arguments"),
        [
            (
                {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}'},
                "shell",
                {"command": ["ls"]},
            ),
            ({"type": "function_call", "name": "f", "namespace": "mcp__x", "arguments": "{"}, "mcp__x__f", "{"),
            ({"type": "function_call", "name": "f", "namespace": "agents", "arguments": "{"}, "agents.f", "{"),
            ({"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin"}, "apply_patch", "*** Begin"),
            ({"type": "local_shell_call", "action": {"type": "exec"}}, "local_shell", {"type": "exec"}),
            ({"type": "tool_search_call", "arguments": {"query": "x"}}, "tool_search", {"query": "x"}),
        ],
    )
    def test_every_kind_of_call_is_read(self, item: dict[str, Any], tool: str, arguments: Any, tmp_path: Path) -> None:
        """Arguments come as JSON text; text that is none counts as it is."""
        assert _calls(_read(_write(tmp_path, _item(call_id="c1", **item)))[0]) == [(tool, arguments)]

    @pytest.mark.parametrize(
        ("tool", "output", "outcome"),
        [
            (
                "exec_command",
                "Chunk ID: 1a\nWall time: 0.1 s\nProcess exited with code 3\nOriginal token count: 2\nOutput:\nhi\n",
                Outcome.shell("hi\n", status="failed", exit_code=3),
            ),
            (
                "exec_command",
                "Chunk ID: 2b\nWall time: 9.9 seconds\nProcess exited with code 0\nOutput:\nhi",
                Outcome.shell("hi", exit_code=0),
            ),
            (
                "write_stdin",
                "Chunk ID: 2b\nWall time: 9.9 seconds\nProcess running with session ID 7\nOutput:\nhi",
                Outcome.shell("hi", status="running"),
            ),
            (
                "shell_command",
                "Exit code: 1\nWall time: 0 seconds\nOutput:\nno",
                Outcome.shell("no", status="failed", exit_code=1),
            ),
            (
                "shell",
                '{"output":"hi","metadata":{"exit_code":1,"duration_seconds":0.2}}',
                Outcome.shell("hi", status="failed", exit_code=1),
            ),
            ("shell", {"type": "input_text", "text": "hi"}, Outcome.shell("hi")),
            ("update_plan", "Plan updated", Outcome.result("Plan updated")),
            ("view_image", [{"type": "input_text", "text": "a"}], Outcome.result("a")),
            (
                "view_image",
                [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "u"}],
                Outcome.result(["a", {"type": "input_image", "image_url": "u"}]),
            ),
            ("mcp", {"content": "no", "success": False}, Outcome.error("no")),
            (
                "mcp__x__f",
                [
                    {"type": "input_text", "text": "Wall time: 0.0038 seconds\nOutput:"},
                    {"type": "input_text", "text": "a"},
                ],
                Outcome.result("a"),
            ),
            ("mcp__x__f", 'Wall time: 0.0037 seconds\nOutput:\n{"left":3}', Outcome.result('{"left":3}')),
            ("apply_patch", "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nDone.\n", Outcome.result("Done.\n")),
            ("apply_patch", "Exit code: 1\nWall time: 0.1 seconds\nOutput:\nNo.\n", Outcome.error("No.\n")),
            (
                "exec",
                [
                    {"type": "input_text", "text": "Script completed\nWall time 0.1 seconds\nOutput:\n"},
                    {"type": "input_text", "text": "a"},
                    {"type": "input_text", "text": '{"chunk_id":"d5","wall_time_seconds":6.6e-6,"output":"b"}'},
                ],
                Outcome.result(["a", '{"output":"b"}']),
            ),
            (
                "exec",
                [
                    {"type": "input_text", "text": "Script failed\nWall time 0.1 seconds\nOutput:\n"},
                    {"type": "input_text", "text": "Script error:\nno"},
                ],
                Outcome.error("Script error:\nno"),
            ),
            (
                "wait",
                "Script running with cell ID 12\nWall time 0.5 seconds\nOutput:\nhi",
                Outcome.shell("hi", status="running"),
            ),
        ],
    )
    def test_outcomes_are_read_without_what_codex_adds(
        self, tool: str, output: Any, outcome: Outcome, tmp_path: Path
    ) -> None:
        """Chunk ids, wall times and token counts change with every call."""
        path = _write(
            tmp_path,
            _item(type="function_call", name=tool, arguments="{}", call_id="c1"),
            _item(type="function_call_output", call_id="c1", output=output),
        )

        assert _outcomes(_read(path)[0]) == [outcome]

    def test_prompts_are_events_and_older_files_have_them_as_messages(self, tmp_path: Path) -> None:
        """Where the file tells a prompt twice, it counts once; what the host adds is no prompt."""
        text = [{"type": "input_text", "text": "go"}]
        context = [{"type": "input_text", "text": "<environment_context>x</environment_context>"}]
        message = _item(type="message", role="user", content=text)
        path = _write(tmp_path, _codex("event_msg", type="user_message", message="go"), message)
        answer = _item(type="message", role="assistant", content=text)
        older = _write(tmp_path, _item(type="message", role="user", content=context), message, answer, name="o.jsonl")

        assert [event.line for event in _of(_read(path)[0], UserMessage)] == [1]
        assert [event.line for event in _of(_read(older)[0], UserMessage)] == [2]


class TestOpenClaw:
    @pytest.mark.parametrize(
        ("tool", "message", "outcome"),
        [
            ("read", {"content": "x"}, Outcome.result({"content": "x", "details": None})),
            ("read", {"content": "x", "isError": True}, Outcome.error("x")),
            ("bash", {"content": "x", "details": {}, "isError": True}, Outcome.shell("x", status="failed")),
            (
                "exec",
                {"content": "x", "details": {"status": "failed", "exitCode": 1}, "isError": True},
                Outcome.result({"content": "x", "details": {"status": "failed", "exitCode": 1}}),
            ),
        ],
    )
    def test_outcomes_are_told_apart(
        self, tool: str, message: dict[str, Any], outcome: Outcome, tmp_path: Path
    ) -> None:
        """A command's details are looked at where there are any; else its text and whether it failed."""
        wanted = {"type": "toolCall", "id": "c1", "name": tool, "arguments": {}}
        path = _write(
            tmp_path,
            {"type": "session", "id": "s"},
            {"type": "message", "message": {"role": "assistant", "content": [wanted]}},
            {"type": "message", "message": {"role": "toolResult", "toolCallId": "c1", **message}},
        )

        assert _outcomes(_read(path)[0]) == [outcome]

    def test_compactions_resets_and_all_branches_are_read(self, tmp_path: Path) -> None:
        """The calls of a branch that was left were made all the same."""

        def call(number: int, parent: str) -> dict[str, Any]:
            wanted = {"type": "toolCall", "id": f"c{number}", "name": "read", "arguments": {}}
            message = {"role": "assistant", "content": [wanted], "usage": {"input": 3, "output": 4}}
            return {"type": "message", "id": f"e{number}", "parentId": parent, "message": message}

        user = {"type": "message", "id": "u", "parentId": "h", "message": {"role": "user", "content": "go"}}
        path = _write(
            tmp_path,
            user,
            call(1, "u"),
            user | {"id": "u2", "parentId": "u"},
            call(2, "u2"),
            {"type": "compaction", "id": "k", "summary": "…"},
            {"type": "reset"},
            {"type": "model_change"},
        )
        kinds = [type(event) for event in _read(path)[0]]

        assert kinds == [
            UserMessage,
            ToolCalled,
            TokensUsed,
            UserMessage,
            ToolCalled,
            TokensUsed,
            Compacted,
            UserMessage,
        ]


def _tool_call(call: str | None, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call, "type": "function", "function": {"name": name, "arguments": arguments}}


class TestChatMessages:
    @pytest.mark.parametrize("indent", [None, 2])
    def test_one_conversation_may_be_a_list_an_object_or_lines(self, indent: int | None, tmp_path: Path) -> None:
        """However it is written down, it holds the same calls."""
        messages = [
            {"role": "user", "content": "go"},
            {
                "role": "assistant",
                "tool_calls": [_tool_call("c1", "bash", '{"command":"ls"}')],
                "usage": {"total_tokens": 9},
            },
            {"role": "tool", "tool_call_id": "c1", "content": "out"},
        ]
        for name, content in (
            ("list.json", json.dumps(messages, indent=indent)),
            ("object.json", json.dumps({"model": "m", "messages": messages}, indent=indent)),
            ("lines.jsonl", "".join(json.dumps(message) + "\n" for message in messages)),
            ("many.json", json.dumps([{"traj": messages}], indent=indent)),
            ("runs.json", json.dumps({"simulations": [{"messages": messages}]}, indent=indent)),
            ("many.jsonl", json.dumps({"conversation": {"messages": messages}}) + "\n"),
        ):
            path = tmp_path / name
            path.write_text(content)
            events, _ = _read(path)
            assert _calls(events) == [("bash", {"command": "ls"})], name
            assert _outcomes(events) == [Outcome.shell("out")]
            assert [event.tokens for event in _of(events, TokensUsed)] == [9]
            assert len(_of(events, UserMessage)) == 1

    def test_calls_without_ids_are_answered_in_order(self, tmp_path: Path) -> None:
        """The older form has none, and some servers leave them out."""
        path = _write(
            tmp_path,
            {"role": "assistant", "function_call": {"name": "f", "arguments": "{"}},
            {"role": "assistant", "tool_calls": [_tool_call(None, "g", "1"), _tool_call(None, "h", "2")]},
            {"role": "tool", "content": "x"},
            {"role": "function", "name": "h", "content": "y"},
            {"role": "function", "name": "h", "content": "without a call"},
        )
        events, _ = _read(path)

        assert _calls(events) == [("f", "{"), ("g", 1), ("h", 2)]
        assert [(event.call.tool, event.outcome) for event in _of(events, ToolReturned)] == [
            ("g", Outcome.result("x")),
            ("h", Outcome.result("y")),
        ]

    def test_tokens_without_a_total_are_added_up(self, tmp_path: Path) -> None:
        """A server that tells none costs nothing."""
        usage = {"prompt_tokens": 3, "completion_tokens": 4}
        path = _write(
            tmp_path,
            {"role": "assistant", "usage": usage},
            {"role": "assistant", "usage": {}},
            {"role": "assistant"},
        )

        assert [event.tokens for event in _of(_read(path)[0], TokensUsed)] == [7]

    def test_conversations_are_found_however_deep_they_lie(self, tmp_path: Path) -> None:
        """Lists of lists, too, but no bottomless ones."""
        messages = [{"role": "assistant", "tool_calls": [_tool_call("c1", "f", "{}")]}]
        deep: Any = messages
        for _ in range(9):
            deep = {"messages": deep}
        path = tmp_path / "deep.json"
        path.write_text(json.dumps([[messages], {"history": [[messages]]}, deep, {"messages": 1}, 7]))

        assert [event.call.session_id for event in _of(_read(path)[0], ToolCalled)] == ["1", "2"]

    def test_an_unknown_tool_is_recognised_by_its_text(self, tmp_path: Path) -> None:
        """The format has no flag for errors."""
        path = _write(
            tmp_path,
            {"role": "assistant", "tool_calls": [_tool_call("c1", "fly", "{}")]},
            {"role": "tool", "tool_call_id": "c1", "content": "Error: unknown tool: fly"},
        )

        assert _outcomes(_read(path)[0])[0].kind == "unknown_tool"

    def test_conversations_do_not_share_ids(self, tmp_path: Path) -> None:
        """A model numbers its calls anew in each."""
        messages = [
            {"role": "assistant", "tool_calls": [_tool_call("c1", "f", "{}")]},
            {"role": "tool", "tool_call_id": "c1", "content": "x"},
        ]
        events, _ = _read(_write(tmp_path, {"messages": messages}, {"messages": messages}))

        assert [event.call.session_id for event in _of(events, ToolReturned)] == ["1", "2"]

    def test_anthropic_messages_are_told_from_openai_messages(self, tmp_path: Path) -> None:
        """By their blocks; servers' own calls count, and a compaction block is a compaction."""
        messages = [
            {"role": "user", "content": [{"type": "text", "text": "go"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "compaction", "content": "summary"},
                    {"type": "server_tool_use", "id": "t1", "name": "web_search", "input": {"query": "x"}},
                    {"type": "web_search_tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "y"}]},
                ],
            },
        ]
        path = tmp_path / "messages.json"
        path.write_text(json.dumps(messages))
        source = TranscriptFile(path)
        reader = reader_for(source)
        events = list(reader.read(source))

        assert reader.name == "anthropic_messages"
        assert [type(event) for event in events] == [UserMessage, Compacted, ToolCalled, ToolReturned]
