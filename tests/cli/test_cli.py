"""The command line, as a user calls it: its output, exit codes and error messages."""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.conftest import ROOT
from wheelspin.cli import _parser, main

SESSIONS = ROOT / "examples" / "sessions"
CONFIG = """{
  tools: { loopDetection: { enabled: true, historySize: 15, warningThreshold: 3 } },
  agents: { list: [{ id: "safe-runner", tools: { loopDetection: { criticalThreshold: 2 } } }] },
}"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration with a notice."""
    path = tmp_path / "openclaw.json5"
    path.write_text(CONFIG)
    return path


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """A session with seven unreadable lines."""
    path = tmp_path / "s.jsonl"
    path.write_bytes((SESSIONS / "events.jsonl").read_bytes() + b"{broken\n" * 7)
    return path


def _run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def _parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield a parser and those of its commands."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _parsers(command)


class TestReplay:
    def test_it_reports_each_file_and_run_and_the_totals(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The report says where the guard would have acted, by which detector, and what that would have saved."""
        code, out, err = _run(capsys, "replay", SESSIONS)

        assert (code, err) == (0, "")
        assert f"{SESSIONS / 'claude-code.jsonl'}  Claude Code sessions: 2 runs, 43 calls" in out
        assert "warn   call 12             line 24  Bash  generic-repeat: 10 of 10" in out
        assert "block  call 22 and 9 more  line 44  Bash  generic-repeat: 20 of 20" in out
        assert "abort  call 32 and 3 more  line 64  Bash  global-circuit-breaker: 30 of 30" in out
        assert "saved 14 calls, 341,138 of 735,608 tokens" in out
        assert "clean 1 other run" in out
        files = json.loads(_run(capsys, "replay", "--json", SESSIONS)[1])["files"]
        runs = [run for file in files for run in file["runs"]]
        calls, blocks, tokens = (sum(run[key] for run in runs) for key in ("calls", "blocks", "savedTokens"))
        assert out.splitlines()[-1].startswith(f"{len(files)} files, {len(runs)} runs, {calls} calls: ")
        assert f" ended; {blocks} calls and {tokens:,} of " in out.splitlines()[-1]

    def test_all_four_actions_and_a_clean_run_are_in_the_samples(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The samples therefore make a complete demo."""
        _, out, _ = _run(capsys, "replay", "--json", SESSIONS)
        runs = [run for file in json.loads(out)["files"] for run in file["runs"]]

        assert {each["action"] for run in runs for each in run["interventions"]} == {"warn", "block", "abort"}
        assert any(not run["interventions"] for run in runs)

    def test_no_argument_and_no_result_is_in_a_report(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Both can contain secrets."""
        for options in ((), ("--json",), ("--verdicts",)):
            _, out, _ = _run(capsys, "replay", *options, SESSIONS)
            assert "pytest" not in out
            assert "assert 90 == 100" not in out

    def test_the_report_for_programs_is_one_document(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Its keys are in camel case, and it contains paths and totals."""
        _, out, _ = _run(capsys, "replay", "--json", SESSIONS / "events.jsonl")
        document = json.loads(out)
        (file,) = document["files"]

        assert file["path"] == str(SESSIONS / "events.jsonl")
        assert file["runs"][0]["interventions"][0] == {
            "action": "warn",
            "line": 8,
            "call": 4,
            "tool": "fetch",
            "detector": "generic-repeat",
            "code": "generic_repeat",
            "count": 3,
            "threshold": 3,
            "reason": "`fetch` was called 3 times with the same arguments (limit 3).",
            "times": 1,
        }
        assert document["totals"] == {
            "runs": 2,
            "calls": 14,
            "warnedRuns": 1,
            "blockedRuns": 1,
            "endedRuns": 1,
            "savedCalls": 5,
            "tokens": 0,
            "savedTokens": 0,
            "problems": 0,
        }

    def test_verdicts_are_one_line_for_each_call_result_and_compaction(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        """Each has the line in the file, the action, the finding and the reason."""
        path = tmp_path / "e.jsonl"
        events: list[dict[str, Any]] = [
            {
                "type": "config",
                "tools": {"loopDetection": {"enabled": True, "warningThreshold": 1, "criticalThreshold": 2}},
            },
            {"type": "compaction", "ok": False},
        ]
        for number in range(4):
            events += [
                {"type": "call", "tool": "read", "id": f"c{number}"},
                {"type": "result", "id": f"c{number}", "result": "x"},
            ]
        events.append({"type": "user_message"})
        path.write_text("".join(json.dumps(event) + "\n" for event in events))
        _, out, _ = _run(capsys, "replay", "--format", "events", "--verdicts", path)
        lines = [json.loads(line) for line in out.splitlines()]

        assert [(line["line"], line["type"], line["action"]) for line in lines] == [
            (2, "compaction", "allow"),
            (3, "call", "allow"),
            (4, "result", "allow"),
            (5, "call", "warn"),
            (6, "result", "allow"),
            (7, "call", "block"),
            (8, "result", "allow"),
            (9, "call", "block"),
            (10, "result", "allow"),
        ]
        assert lines[5] == {
            "file": str(path),
            "line": 7,
            "type": "call",
            "action": "block",
            "level": "critical",
            "detector": "generic-repeat",
            "count": 2,
            "code": "generic_repeat",
            "reason": (
                "`read` was called 2 times with the same arguments and returned the same result each time (limit 2); "
                "this call is blocked."
            ),
        }
        assert lines[6]["reason"] == "the call was blocked, so its result is skipped"
        assert lines[1] == {
            "file": str(path),
            "line": 3,
            "type": "call",
            "action": "allow",
            "level": None,
            "detector": None,
            "count": None,
            "code": None,
            "reason": None,
        }

    def test_a_configuration_applies_to_all_files(self, capsys: pytest.CaptureFixture[str], config: Path) -> None:
        """Its notices are printed with the totals."""
        _, out, _ = _run(capsys, "replay", "--config", config, SESSIONS / "openclaw.jsonl")

        assert "known-poll-no-progress: 3 of 3" in out
        assert "note: `criticalThreshold` 20 can never be reached with 15 calls kept" in out

        _, out, _ = _run(capsys, "replay", "--config", config, "--agent", "Safe-Runner", SESSIONS / "openclaw.jsonl")
        assert "known-poll-no-progress: 4 of 4" in out

    def test_files_in_a_folder_that_are_not_sessions_are_skipped(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        """They are counted, and the other files are read."""
        (tmp_path / "package.json").write_text('{"name": "x"}')
        (tmp_path / "notes.txt").write_text("x")
        (tmp_path / "deep").mkdir()
        (tmp_path / "deep" / "s.jsonl").write_bytes((SESSIONS / "events.jsonl").read_bytes())
        code, out, err = _run(capsys, "replay", tmp_path)

        assert (code, err) == (0, "")
        assert "skipped 1 file that is not a session" in out
        assert "1 file, 2 runs" in out

    def test_a_named_file_that_is_not_a_session_is_an_error(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        """The other files are read all the same."""
        wrong = tmp_path / "package.json"
        wrong.write_text('{"name": "x"}')
        code, out, err = _run(capsys, "replay", wrong, SESSIONS / "events.jsonl")

        assert code == 2
        assert err.startswith(f"wheelspin: {wrong}: this is not a session that Wheelspin can read. It reads ")
        assert "Claude Code sessions" in err
        assert "not read 1 file\n1 file, 2 runs" in out

    def test_there_is_no_report_if_nothing_could_be_read(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        """There is only the error."""
        code, out, err = _run(capsys, "replay", tmp_path / "none.jsonl")

        assert (code, out) == (2, "")
        assert err == f"wheelspin: {tmp_path / 'none.jsonl'}: there is no such file. Check the path.\n"

    def test_unreadable_lines_are_reported(self, capsys: pytest.CaptureFixture[str], broken: Path) -> None:
        """The first few are listed, and the rest are counted."""
        code, out, _ = _run(capsys, "replay", broken)

        assert code == 0
        assert "not read line 30: not a JSON object" in out
        assert "not read 2 more lines" in out
        assert "not read 7 places\n1 file" in out

    def test_unreadable_lines_are_reported_on_stderr_with_verdicts(
        self, capsys: pytest.CaptureFixture[str], broken: Path
    ) -> None:
        """The output has no report that could mention them."""
        code, out, err = _run(capsys, "replay", "--verdicts", broken)

        assert code == 0
        assert all(json.loads(line)["file"] == str(broken) for line in out.splitlines())
        assert err == f"wheelspin: {broken}: 7 places could not be read, the first at line 30: not a JSON object\n"

    def test_a_file_without_calls_is_noted(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        """Its calls may be in a format that is not supported."""
        path = tmp_path / "chat.json"
        path.write_text('[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]')
        _, out, _ = _run(capsys, "replay", path)

        assert "it contains no tool calls" in out

    def test_events_without_a_configuration_are_noted_as_unguarded(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        """The documented default applies to them, in which the detectors are disabled."""
        path = tmp_path / "e.jsonl"
        path.write_text('{"type": "call", "tool": "read"}\n' * 40)
        _, out, _ = _run(capsys, "replay", path)

        assert "it contains no configuration, so the detectors are off" in out
        assert "0 warned" in out

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (["none.jsonl"], "there is no such file"),
            (["EMPTY"], "the file is empty"),
            (["BINARY"], "this is binary data"),
            (["FOLDER"], "this folder contains no sessions"),
            (["WRONG"], "its configuration is wrong: line 1: `tools.loopDetection.enabled`"),
        ],
    )
    def test_invalid_input_is_one_line_of_error_and_exit_code_two(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], said: str
    ) -> None:
        """The error names the file and the next step, without a traceback."""
        (tmp_path / "EMPTY").write_text("")
        (tmp_path / "BINARY").write_bytes(b"\x00\x01")
        (tmp_path / "FOLDER").mkdir()
        (tmp_path / "WRONG").write_text('{"type":"config","tools":{"loopDetection":{"enabled":1}}}\n')
        code, _, err = _run(capsys, "replay", *(tmp_path / argument for argument in arguments))

        assert code == 2
        assert err.startswith(f"wheelspin: {tmp_path / arguments[0]}: ")
        assert said in err
        assert err.count("\n") == 1
        assert "Traceback" not in err


class TestConfig:
    def test_show_prints_the_effective_settings_and_their_sources(
        self, capsys: pytest.CaptureFixture[str], config: Path
    ) -> None:
        """It prints every key with its value and source, and the notices."""
        code, out, _ = _run(capsys, "config", "show", "--config", config, "--agent", "safe-runner")
        rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()}

        assert code == 0
        assert rows["enabled"] == ["true", "global"]
        assert rows["criticalThreshold"] == ["4", "raised"]
        assert rows["detectors.pingPong"] == ["true", "default"]
        assert "note: `criticalThreshold` raised from 2 to 4" in out

    def test_show_prints_the_defaults_without_a_file(self, capsys: pytest.CaptureFixture[str]) -> None:
        """`enabled` is not set, and there is no notice about it."""
        code, out, _ = _run(capsys, "config", "show")

        assert code == 0
        assert ["enabled", "not", "set", "default"] in [line.split() for line in out.splitlines()]
        assert "note" not in out

    def test_show_prints_json(self, capsys: pytest.CaptureFixture[str], config: Path) -> None:
        """The document has the values, their sources and the notices."""
        _, out, _ = _run(capsys, "config", "show", "--json", "--config", config)
        document = json.loads(out)

        assert document["values"]["warningThreshold"] == 3
        assert document["origins"]["warningThreshold"] == "global"
        assert len(document["notices"]) == 2

    def test_check_reports_a_valid_file(self, capsys: pytest.CaptureFixture[str], config: Path) -> None:
        """It prints the notices of every agent."""
        code, out, _ = _run(capsys, "config", "check", config)

        assert code == 0
        assert out.splitlines()[-1] == f"{config}: valid for all agents, including safe-runner"
        assert "note: safe-runner: `criticalThreshold` raised from 2 to 4" in out

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ("", "it is empty"),
            ("{tools: {loopDetection: {", "is never closed"),
            ("\ufeff{}", "byte order mark"),
            ('{"tools": {"loopDetection": {"enabled\\t": true}}}', "did you mean `enabled`?"),
            ("{tools: {loopDetection: {enabled: true, enabled: true}}}", "the key twice"),
            ("{tools: {loopDetection: {enabled: 1}}}", "expected true or false"),
            ("- yaml: true", "is not valid JSON5"),
            ("\x00", "binary data"),
        ],
    )
    def test_check_reports_what_is_wrong(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str, said: str
    ) -> None:
        """The exit code is 2, there is no traceback, and the file is left as it was."""
        path = tmp_path / "c.json5"
        path.write_text(content)
        code, out, err = _run(capsys, "config", "check", path)

        assert (code, out) == (2, "")
        assert said in err
        assert "Traceback" not in err
        assert path.read_text() == content
        assert [file.name for file in tmp_path.iterdir()] == ["c.json5"]

    @pytest.mark.parametrize("verb", [["config", "show"], ["replay", str(SESSIONS)], ["explain", "A1"]])
    def test_an_unknown_agent_is_an_error(
        self, capsys: pytest.CaptureFixture[str], config: Path, verb: list[str]
    ) -> None:
        """The error lists the known agents, and suggests a similar one."""
        code, out, err = _run(capsys, *verb, "--config", config, "--agent", "safe-runer")

        assert (code, out) == (2, "")
        assert "did you mean `safe-runner`?" in err

    def test_an_agent_without_a_configuration_is_an_error(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The error says that a configuration is needed."""
        code, _, err = _run(capsys, "config", "show", "--agent", "x")

        assert code == 2
        assert "--config" in err

    def test_schema_is_a_json_schema(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Editors can use it."""
        _, out, _ = _run(capsys, "config", "schema")

        jsonschema.Draft202012Validator.check_schema(json.loads(out))


class TestExplain:
    def test_it_explains_each_move_and_says_why(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Equal moves in a row that are allowed share a row."""
        code, out, _ = _run(capsys, "explain", "A1*12 | A1*3 |! / B1")
        text = " ".join(out.split())

        assert code == 0
        assert "1-10 A1 allow" in text
        assert "11 A1 warn generic-repeat: `A` was called 10 times" in text
        assert "(warning not repeated yet)" in text
        assert "| a compaction: the post-compaction guard is armed for 3 attempts" in text
        assert "outcome abort post-compaction-guard: after a compaction, `A` was called 3 times" in text
        assert "|! a failed compaction does not arm the post-compaction guard" in text
        assert "/ a new run: counting starts over" in text

    def test_an_outcome_that_ends_the_run_has_a_row_of_its_own(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The call itself was allowed."""
        _, out, _ = _run(capsys, "explain", "| A1*3")

        assert "3 A1 allow outcome abort post-compaction-guard" in " ".join(out.split())

    def test_a_configuration_applies(self, capsys: pytest.CaptureFixture[str], config: Path, tmp_path: Path) -> None:
        """Its notices are printed, too."""
        _, out, _ = _run(capsys, "explain", "A1*4", "--config", config)
        assert "warn" in out
        assert "note:" in out

        off = tmp_path / "off.json5"
        off.write_text("{tools: {loopDetection: {enabled: false}}}")
        _, out, _ = _run(capsys, "explain", "| A1*4", "--config", off)
        assert "the post-compaction guard is off" in out
        assert "warn" not in out

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("A1 #2", "'#' has no meaning at character 4"),
            ("(A1", "'(' is never closed at character 1"),
            ("A1)", "')' has no opening bracket at character 3"),
            ("(A1]", "']' has no opening bracket at character 4"),
            ("(*3 A1)", "a repetition belongs after the closing bracket"),
            ("", "expected a move at character 1"),
            ("A1*0", "expected a move at character 1"),
            ("A1*9999999", "more than 100000 moves"),
            (f"A1*{10**30}", "more than 100000 moves"),
            (f"(A1)*{'9' * 5000}", "more than 100000 moves"),
            ("(A1*1000)*1000", "more than 100000 moves"),
        ],
    )
    def test_an_invalid_trajectory_is_an_error_with_the_position(
        self, capsys: pytest.CaptureFixture[str], text: str, said: str
    ) -> None:
        """The error also says where to read about the notation."""
        code, out, err = _run(capsys, "explain", text)

        assert (code, out) == (2, "")
        assert said in err
        assert "wheelspin explain --help" in err

    def test_its_help_explains_the_notation(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The help lists every sign of it."""
        with pytest.raises(SystemExit):
            main(["explain", "--help"])

        assert "call A returns result 1" in capsys.readouterr().out


class TestProcess:
    def test_a_closed_pipe_is_not_an_error(self) -> None:
        """This happens in `wheelspin replay … | head`."""
        command = f"{shlex.quote(sys.executable)} -m wheelspin replay --verdicts {shlex.quote(str(SESSIONS))} | head -1"
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)  # noqa: S603, S607

        assert done.stderr == ""
        assert done.stdout.count("\n") == 1

    @pytest.mark.parametrize("arguments", [["--version"], ["--help"]])
    def test_the_program_has_a_version_and_help(self, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        """Both are printed with exit code 0."""
        with pytest.raises(SystemExit) as done:
            main(arguments)

        assert done.value.code == 0
        assert "wheelspin" in capsys.readouterr().out

    @pytest.mark.parametrize("parser", list(_parsers(_parser())), ids=lambda parser: parser.prog)
    def test_every_command_and_option_has_help(self, parser: argparse.ArgumentParser) -> None:
        """The description of a command is written for users, and is not the docstring of a module."""
        assert parser.description
        assert not parser.description.startswith("`wheelspin")
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                assert [choice.dest for choice in action._choices_actions if choice.help] == list(action.choices)
            else:
                assert action.help

    @pytest.mark.parametrize("verb", [parser.prog for parser in _parsers(_parser()) if " " in parser.prog])
    def test_every_command_is_documented(self, verb: str) -> None:
        """README.md or a page in `docs/` names it."""
        pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]

        assert any(verb in page.read_text() for page in pages)

    def test_an_interrupt_ends_the_program_silently(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The exit code is 130, as usual for an interrupt."""

        def interrupt(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr("wheelspin.cli.explain.play", interrupt)

        assert _run(capsys, "explain", "A1") == (130, "", "")

    def test_long_work_has_a_progress_bar_on_the_terminal(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The bar is written to stderr, and only if that is a terminal."""
        monkeypatch.setattr("wheelspin.cli._sessions._LONG_WORK", 1)
        monkeypatch.setattr("wheelspin.transcripts.files._LINES_PER_REPORT", 1)
        assert _run(capsys, "replay", SESSIONS)[2] == ""

        monkeypatch.setattr("sys.stderr.isatty", lambda: True)
        code, out, _ = _run(capsys, "replay", SESSIONS)
        assert code == 0
        assert f"{len(json.loads(_run(capsys, 'replay', '--json', SESSIONS)[1])['files'])} files" in out
