"""Many hook processes at once, and hook processes that are killed: no call is lost, and none counts twice."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from wheelspin.hooks.claude_code import HOOK
from wheelspin.hooks.launcher import launcher_path, write_launcher
from wheelspin.hooks.process import answer

HOST = "claude-code"
HELD_HOOK = str(Path(__file__).with_name("held_hook.py"))
STATE = Path(".local/state/wheelspin")
ROWS = "SELECT host, session, agent, state, records FROM sessions ORDER BY host, session, agent"
KILLS = 25
NOT_WRITTEN = ["before BEGIN", "after BEGIN", "after SELECT", "before COMMIT"]
WRITTEN = ["after COMMIT", "after CLOSE"]

Row = tuple[str, ...]


class Home:
    """A user's home with an installed hook, and the hook processes started in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.path.mkdir()
        self._started: list[subprocess.Popen[bytes]] = []

    def configure(self, block: str) -> None:
        """Write the user's configuration."""
        place = self.path / ".config" / "wheelspin" / "config.json5"
        place.parent.mkdir(parents=True)
        place.write_text(f"{{tools: {{loopDetection: {block}}}}}")

    def start(self, payload: dict[str, Any], point: str | None = None) -> subprocess.Popen[bytes]:
        """Start the hook as Claude Code does; with a point, it stops itself there."""
        program = [str(launcher_path())] if point is None else [HELD_HOOK, str(launcher_path()), point]
        process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-S", "-I", *program, HOST],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={"HOME": str(self.path)},
        )
        self._started.append(process)
        assert process.stdin is not None
        process.stdin.write(json.dumps(payload).encode())
        process.stdin.close()
        return process

    def hold(self, payload: dict[str, Any], point: str) -> subprocess.Popen[bytes]:
        """Start the hook and wait until it has stopped itself at a point."""
        process = self.start(payload, point)
        _wait_until_held(process)
        return process

    def run(self, payload: dict[str, Any]) -> Any:
        """Run the hook and return its reply."""
        return _reply(self.start(payload))

    def rows(self, *, copied: bool = False) -> list[Row]:
        """Return what is stored. Reading a copy leaves the recovery of the file to the next hook process."""
        folder = self.path / STATE
        if copied:
            folder = self.path / "copy"
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(self.path / STATE, folder, ignore=shutil.ignore_patterns("*-shm"))
        with closing(sqlite3.connect(folder / "sessions.db")) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            if database.execute("PRAGMA user_version").fetchone() == (0,):
                return []
            return database.execute(ROWS).fetchall()

    def record(self) -> dict[str, Any]:
        """Return the record of the only run that is stored."""
        ((*_, records),) = self.rows()
        (record,) = json.loads(records)
        assert isinstance(record, dict)
        return record

    def check(self) -> None:
        """Check that no hook logged a problem, and that the store was never set aside as damaged."""
        assert not (self.path / STATE / "hooks.log").exists()
        assert not list((self.path / STATE).glob("*.damaged-*"))

    def end(self) -> None:
        """End every process that is still there."""
        for process in self._started:
            if process.stdout is not None and not process.stdout.closed:
                _kill(process)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """Make a home with an installed hook, which is also the home of this process."""
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "WHEELSPIN_STORE", "WHEELSPIN_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    made = Home(tmp_path / "home")
    monkeypatch.setenv("HOME", str(made.path))
    write_launcher()
    yield made
    made.end()


@pytest.fixture
def undisturbed(home: Home, tmp_path: Path) -> Home:
    """Make another home, in which no process is killed."""
    return Home(tmp_path / "undisturbed")


def _before(number: int, path: str = "/a", session: str = "s1") -> dict[str, Any]:
    call = {"tool_name": "Read", "tool_input": {"file_path": path}, "tool_use_id": f"t{number}"}
    return {"session_id": session, "prompt_id": "p1", "hook_event_name": "PreToolUse", **call}


def _after(number: int, path: str = "/a", session: str = "s1") -> dict[str, Any]:
    return {**_before(number, path, session), "hook_event_name": "PostToolUse", "tool_response": f"text of {path}"}


def _wait_until_held(process: subprocess.Popen[bytes]) -> None:
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status), f"the process ended before it came to its point ({status})"


def _ended(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    """Wait until a process ends and return its exit code, stdout and stderr."""
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        written, problems = process.stdout.read(), process.stderr.read()
        return process.wait(), written, problems


def _kill(process: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    """Kill a process and return its exit code and what it had written to stdout."""
    process.kill()
    code, written, _ = _ended(process)
    return code, written


def _reply(process: subprocess.Popen[bytes]) -> Any:
    """Wait until a process ends, check that it had no problems and return its reply."""
    code, written, problems = _ended(process)
    assert (code, problems) == (0, b"")
    return json.loads(written) if written else None


def _answer(home: Home, *payloads: dict[str, Any]) -> Any:
    """Pass payloads to the hook in this process and return the last reply."""
    reply = None
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("HOME", str(home.path))
        for payload in payloads:
            reply = answer(HOOK, payload)
    return reply


BLOCKED = ([_before(0), _after(0), _before(1), _after(1)], _before(2), "was called 2 times")
WARNED = ([_before(0), _after(0), _before(1)], _after(1), "was called 1 time")
"""Earlier payloads, the payload whose process is killed, and a part of its reply, at the thresholds 1 and 2."""


@pytest.mark.parametrize("case", [BLOCKED, WARNED], ids=["a call that is blocked", "an outcome with a warning"])
@pytest.mark.parametrize("point", [*NOT_WRITTEN, *WRITTEN])
def test_a_killed_process_has_written_all_or_nothing(
    home: Home, undisturbed: Home, point: str, case: tuple[list[dict[str, Any]], dict[str, Any], str]
) -> None:
    """Nothing is stored before COMMIT and everything after it, and an event that is sent again counts once."""
    first, payload, reply = case
    for each in (undisturbed, home):
        each.configure("{warningThreshold: 1, criticalThreshold: 2}")
        _answer(each, *first, _before(0, "/b", "s2"))
    before = home.rows()
    assert reply in str(_answer(undisturbed, payload))
    expected = before if point in NOT_WRITTEN else undisturbed.rows()

    process = home.hold(payload, point)
    assert home.rows() == expected
    assert _kill(process) == (-signal.SIGKILL, b"")
    assert home.rows(copied=True) == expected

    again = home.run(payload)
    assert again is None if case is WARNED and point in WRITTEN else reply in str(again)
    assert home.rows() == undisturbed.rows() != before
    home.check()


@pytest.mark.parametrize(
    ("point", "is_written"),
    [("before CREATE", False), ("after CREATE", False), ("after SELECT", False), ("before DELETE", True)],
)
def test_a_process_that_is_killed_while_it_makes_the_store_leaves_one_that_can_be_used(
    home: Home, undisturbed: Home, point: str, *, is_written: bool
) -> None:
    """The next process creates whatever is missing."""
    _answer(undisturbed, _before(0))
    expected = undisturbed.rows()

    assert _kill(home.hold(_before(0), point)) == (-signal.SIGKILL, b"")
    assert home.rows(copied=True) == (expected if is_written else [])

    assert home.run(_before(0)) is None
    assert home.rows() == expected
    home.check()


def test_a_process_waits_while_another_one_creates_the_store(home: Home, undisturbed: Home) -> None:
    """SQLite itself does not wait while it switches a file to write-ahead logging."""
    _answer(undisturbed, _before(0))
    (home.path / STATE).mkdir(parents=True, exist_ok=True)

    with closing(sqlite3.connect(home.path / STATE / "sessions.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        process = home.hold(_before(0), "before BEGIN")
        other.execute("COMMIT")
    process.send_signal(signal.SIGCONT)

    assert _reply(process) is None
    assert home.rows() == undisturbed.rows()
    home.check()


@pytest.mark.parametrize("point", ["after BEGIN", "after SELECT", "before COMMIT"])
def test_a_process_that_waits_for_a_killed_one_goes_on(home: Home, undisturbed: Home, point: str) -> None:
    """The kill releases the lock, and the waiting process writes what it would have written anyway."""
    _answer(undisturbed, _before(0), _before(2))
    _answer(home, _before(0))

    killed = home.hold(_before(1), point)
    waiting = home.hold(_before(2), "before BEGIN")
    waiting.send_signal(signal.SIGCONT)
    _kill(killed)

    assert _reply(waiting) is None
    assert home.rows() == undisturbed.rows()
    home.check()


def test_eight_processes_at_once_count_every_call_once(home: Home) -> None:
    """
    Twenty equal calls bring exactly one warning, and the next one is blocked because there were twenty.

    Each process is held when it has opened the store, until all eight are there.
    """
    replies = []
    for numbers in (range(8), range(8, 16), range(16, 20)):
        for event in (_before, _after):
            processes = [home.start(event(number), "before PRAGMA") for number in numbers]
            for process in processes:
                _wait_until_held(process)
            for process in processes:
                process.send_signal(signal.SIGCONT)
            replies += [_reply(process) for process in processes]

    (warning,) = [reply for reply in replies if reply is not None]
    assert "`Read` was called 10 times" in warning["hookSpecificOutput"]["additionalContext"]
    record = home.record()
    assert (record["calls"], record["warnings"], record["blocks"]) == (20, 1, 0)
    blocked = home.run(_before(20))["hookSpecificOutput"]
    assert blocked["permissionDecision"] == "deny"
    assert "`Read` was called 20 times" in blocked["permissionDecisionReason"]
    home.check()


def test_a_process_that_is_killed_at_any_moment_takes_at_most_its_own_call_with_it(home: Home) -> None:
    """Every call whose process was not killed is counted, and the next process can use the store."""
    started = time.monotonic()
    home.run(_before(0, "/0"))
    usual = time.monotonic() - started
    counted = 1
    for number in range(1, 2 * KILLS, 2):
        process = home.start(_before(number, f"/{number}"))
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=random.uniform(0, usual))  # noqa: S311 - any moment will do
        code, _ = _kill(process)
        assert code in {0, -signal.SIGKILL}
        home.run(_before(number + 1, f"/{number + 1}"))
        calls = home.record()["calls"]
        assert calls - counted in ({2} if code == 0 else {1, 2})
        counted = calls

    home.check()
