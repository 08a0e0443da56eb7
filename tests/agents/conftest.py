"""Fixtures for the tests with real agents: a home of its own for each test, the installed hook, and the program."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.agents.setup import AGENTS
from wheelspin import Replay
from wheelspin.cli import main
from wheelspin.core.settings import settings_from
from wheelspin.stores.sqlite import SqliteStore
from wheelspin.transcripts import reader_for
from wheelspin.transcripts.files import TranscriptFile

FOLDER = Path(os.environ.get("WHEELSPIN_AGENTS", ""))
SECONDS = 120
_OURS = ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "WHEELSPIN_STORE", "WHEELSPIN_CONFIG")
_HOSTS = ("CLAUDE_CONFIG_DIR", "GEMINI_CLI_HOME", "QWEN_HOME")


class Ended(NamedTuple):
    """The exit code and the output of a program."""

    code: int
    out: str
    err: str

    def lines(self) -> list[dict[str, Any]]:
        """Return the JSON lines of its output."""
        return [json.loads(line) for line in self.out.splitlines() if line.startswith("{")]


class Home:
    """A user's home in which one agent runs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.work = path / "work"
        self.work.mkdir(parents=True)

    def install(self, host: str) -> None:
        """Install the hook of an agent, as a user does."""
        assert main(["install", host]) == 0

    def configure(self, block: str) -> None:
        """Write the user's configuration."""
        place = self.path / ".config" / "wheelspin" / "config.json5"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{{tools: {{loopDetection: {block}}}}}")

    def run(self, command: list[str], **environment: str) -> Ended:
        """Run a program in this home, without the machine's own settings."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TERM") if name in os.environ}
        ended = subprocess.run(  # noqa: S603 - the agent under test
            command,
            cwd=self.work,
            env={**kept, "HOME": str(self.path), **environment},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    def records(self) -> list[dict[str, Any]]:
        """Return the records of the guarded runs, newest first."""
        return [run.record for run in SqliteStore(str(self.path / ".local/state/wheelspin/sessions.db")).runs()]

    def log(self) -> str:
        """Return the log of the hooks, in which they write what went wrong."""
        path = self.path / ".local/state/wheelspin/hooks.log"
        return path.read_text() if path.exists() else ""


def replayed(
    transcript: Path, preset: str = "standard", settings: dict[str, int] | None = None
) -> list[tuple[str, int, str, int]]:
    """
    Return what the guard would have done in a session that an agent recorded.

    Args:
        transcript: The file of the session.
        preset: Name of the preset.
        settings: Settings that override the preset.

    Returns:
        Action, number of the call, code and number of times, for each finding that is reported.
    """
    source = TranscriptFile(transcript)
    reader = reader_for(source)
    replay = Replay(settings=settings_from({"enabled": True, "preset": preset, **(settings or {})}), tools=reader.tools)
    return [
        (intervention.action.value, intervention.call, intervention.code, intervention.times)
        for run in replay.scan(reader.read(source))
        for intervention in run.interventions
    ]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Make a home, which is also the home of this process."""
    for name in (*_OURS, *_HOSTS):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("CODEX_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return Home(tmp_path)


@pytest.fixture(scope="session")
def program() -> Callable[[str], str]:
    """Return a function that finds the program of an agent."""

    def find(host: str) -> str:
        agent = next(agent for agent in AGENTS if agent.host == host)
        return str(next((FOLDER / host).glob(agent.program)))

    return find
