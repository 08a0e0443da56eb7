"""`wheelspin status`, `show`, `allow` and `doctor`, for users of guarded command-line agents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from wheelspin.cli import main
from wheelspin.hooks import hook_named
from wheelspin.hooks.launcher import launcher_path
from wheelspin.hooks.process import answer
from wheelspin.userfiles.paths import config_path, log_path, store_path

HOOK = hook_named("claude-code")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set up an empty home directory."""
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "WHEELSPIN_STORE", "WHEELSPIN_CONFIG", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def _loop(times: int, session: str = "session-1", run: str = "prompt-1") -> list[Any]:
    """Let Claude Code make one call `times` times, and return the replies before each."""
    replies = []
    for number in range(times):
        call = {"tool_name": "Bash", "tool_input": {"command": "secret"}, "tool_use_id": f"t{number}"}
        payload = {"session_id": session, "prompt_id": run, **call}
        replies.append(answer(HOOK, {**payload, "hook_event_name": "PreToolUse"}))
        answer(HOOK, {**payload, "hook_event_name": "PostToolUse", "tool_response": "hidden"})
    return replies


def _out(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def _lines(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


class TestStatus:
    def test_it_lists_the_runs_and_why_they_were_ended(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The most recent run is first, and neither arguments nor results are shown."""
        _loop(31)
        _loop(3, session="session-2", run="prompt-2")
        out = _out(capsys, "status")

        assert _lines(out)[1:] == [
            ["claude-code", "prompt-2", "just", "now", "3", "0", "0"],
            ["claude-code", "prompt-1", "just", "now", "31", "1", "11", "global_circuit_breaker"],
        ]
        assert "secret" not in out + _out(capsys, "show", "prompt-1", "--json")
        assert len(_lines(_out(capsys, "status", "--most", "1"))) == 2

    def test_ids_are_shortened_as_long_as_they_stay_unique(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The ids of some agents begin with the time, so their beginnings are alike."""
        for run in ("msg_0123456789", "msg_0123499999", "msg_0123499999abc", "other"):
            _loop(1, session=run, run=run)
        shown = [line[1] for line in _lines(_out(capsys, "status"))[1:]]

        assert shown == ["other", "msg_0123499999a", "msg_0123499999", "msg_012345"]

    def test_it_prints_json(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The document has the complete records."""
        _loop(31)
        (run,) = json.loads(_out(capsys, "status", "--json"))

        assert (run["host"], run["calls"], run["code"]) == ("claude-code", 31, "global_circuit_breaker")

    def test_without_guarded_runs_it_says_what_to_do(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The next step is to install the hooks."""
        assert _out(capsys, "status") == "no runs have been guarded yet; see `wheelspin install --help`\n"
        assert json.loads(_out(capsys, "status", "--json")) == []


class TestShow:
    @pytest.mark.parametrize("named", ["prompt-1", "prompt", "session-1", "sess"])
    def test_a_run_is_found_by_its_id_or_that_of_its_session(
        self, named: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The beginning of an id is enough."""
        _loop(31)
        shown = {tuple(line[:-1]): line[-1] for line in _lines(_out(capsys, "show", named))}

        assert shown["run", "id"] == "prompt-1"
        assert shown["code",] == "global_circuit_breaker"
        assert shown["ended", "at", "call"] == "31"

    def test_an_exact_id_is_preferred(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A longer id with the same beginning does not match then."""
        _loop(2, run="prompt-1")
        _loop(3, session="session-2", run="prompt-11")

        assert [run["calls"] for run in json.loads(_out(capsys, "show", "prompt-1", "--json"))] == [2]

    def test_an_unknown_run_is_an_error(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The error says how to list the runs."""
        assert main(["show", "nope"]) == 2
        assert capsys.readouterr().err.endswith(
            "there is no run 'nope'; `wheelspin status` lists the runs in the store.\n"
        )


class TestAllow:
    def test_a_run_continues(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The call that ended it runs again, and the record says who allowed it."""
        assert _loop(31)[-1]["continue"] is False
        assert "prompt-1: all calls unblocked by " in _out(capsys, "allow", "prompt-1")

        assert set(map(bool, _loop(20))) == {False}
        (run,) = json.loads(_out(capsys, "show", "prompt-1", "--json"))
        assert (run["code"], run["calls"]) == (None, 51)
        assert run["allowed_by"]
        assert run["allowed_at"]

    def test_a_single_call_is_unblocked(self, capsys: pytest.CaptureFixture[str]) -> None:
        """It is named by its signature in the record, or the beginning of it."""
        assert _loop(21)[-1]
        (run,) = json.loads(_out(capsys, "show", "prompt-1", "--json"))
        (signature,) = run["signatures"]

        assert f"calls with signature {signature} unblocked by " in _out(capsys, "allow", signature[:8])
        assert not _loop(1)[-1]

    def test_an_unknown_run_or_signature_is_an_error(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A few digits are not enough for a signature."""
        _loop(21)
        (run,) = json.loads(_out(capsys, "show", "prompt-1", "--json"))

        for what in ("nope", run["signatures"][0][:3]):
            assert main(["allow", what]) == 2
            assert f"there is no run or blocked signature {what!r}" in capsys.readouterr().err


class TestDoctor:
    def test_it_reports_which_agents_are_guarded_and_that_the_hook_works(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """It also reports the preset in use."""
        main(["install", "claude-code"])
        capsys.readouterr()
        found = json.loads(_out(capsys, "doctor", "--json"))
        host = next(host for host in found["hosts"] if host["host"] == "claude-code")

        assert (host["guarded"], host["trusted"], host["preset"]) == (["user"], None, "standard")
        assert host["milliseconds"] > 0
        assert found["store"] == {"path": store_path(), "state": "writable, 0 sessions"}
        assert found["problems"] == []
        assert f"configuration: {config_path()}: not found, the defaults apply" in _out(capsys, "doctor")

    def test_in_the_home_directory_both_scopes_are_one_file(
        self, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """That file counts as the user's."""
        monkeypatch.chdir(home)
        main(["install", "claude-code"])
        capsys.readouterr()

        assert json.loads(_out(capsys, "doctor", "--json"))["hosts"][0]["guarded"] == ["user"]

    def test_without_installed_hooks_there_is_no_problem(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The agents are listed as not guarded."""
        assert _lines(_out(capsys, "doctor"))[1][2:] == ["not", "guarded"]

    @pytest.mark.parametrize("content", [None, "{"])
    def test_a_hook_that_does_not_start_is_a_problem(
        self, content: str | None, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The launcher may be missing or damaged; installing again fixes it."""
        main(["install", "claude-code"])
        if content is None:
            launcher_path().unlink()
        else:
            launcher_path().write_text(content)
        capsys.readouterr()

        assert main(["doctor"]) == 1
        out = capsys.readouterr().out
        assert "problem: the hook of Claude Code does not answer: " in out
        assert "run `wheelspin install claude-code` to write it again" in out
        main(["install", "claude-code"])
        assert main(["doctor"]) == 0

    def test_a_configuration_with_faults_is_a_problem(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The problem is reported once, although the hook fails because of it, too."""
        main(["install", "claude-code"])
        Path(config_path()).parent.mkdir(parents=True)
        Path(config_path()).write_text("{tools: {loopDetection: {warningThreshold: 0}}}")
        capsys.readouterr()

        assert main(["doctor"]) == 1
        out = capsys.readouterr().out
        assert out.count("problem: ") == 1
        assert ": invalid\n" in out
        assert "no errors" in out
        assert not Path(log_path()).exists()

    def test_notices_of_the_configuration_are_printed(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A notice is not a problem."""
        Path(config_path()).parent.mkdir(parents=True)
        Path(config_path()).write_text("{tools: {loopDetection: {warningThreshold: 40}}}")

        out = _out(capsys, "doctor")
        assert "note: " in out
        assert f"configuration: {config_path()}: valid" in out

    def test_an_unusable_store_is_a_problem(
        self, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The report lists it."""
        (home / "file").write_text("x")
        monkeypatch.setenv("WHEELSPIN_STORE", str(home / "file" / "s.db"))

        assert main(["doctor"]) == 1
        assert "problem: " in capsys.readouterr().out

    def test_unreadable_settings_of_an_agent_are_a_problem(
        self, home: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """The other agents are still checked."""
        (home / ".claude").mkdir()
        (home / ".claude" / "settings.json").write_text("{")

        assert main(["doctor"]) == 1
        assert "it is not valid JSON at character 2" in capsys.readouterr().out
