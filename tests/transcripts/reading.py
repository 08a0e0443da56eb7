"""Write sessions and read their events, for the tests of all readers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.conftest import ROOT
from wheelspin import Outcome
from wheelspin.transcripts import reader_for
from wheelspin.transcripts.base import Event, ToolCalled, ToolReturned
from wheelspin.transcripts.files import TranscriptFile

__all__ = ["SAMPLES", "SESSIONS", "calls", "of", "outcomes", "read", "write"]

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
"""A session in the format of each reader."""


def write(folder: Path, *lines: Any, name: str = "session.jsonl") -> Path:
    """Write a session of JSON values, or of texts that are written unchanged."""
    path = folder / name
    path.write_text("".join(line if isinstance(line, str) else json.dumps(line) + "\n" for line in lines))
    return path


def read(path: Path, name: str | None = None) -> tuple[list[Event], TranscriptFile]:
    """Return the events of a session, and the file with its problems."""
    file = TranscriptFile(path)
    return list(reader_for(file, name).read(file)), file


def of(events: list[Event], kind: type[Any]) -> list[Any]:
    """Return the events of one kind."""
    return [event for event in events if isinstance(event, kind)]


def calls(events: list[Event]) -> list[tuple[str, Any]]:
    """Return the tool and the arguments of each call."""
    return [(event.call.tool, event.call.arguments) for event in of(events, ToolCalled)]


def outcomes(events: list[Event]) -> list[Outcome]:
    """Return the outcomes."""
    return [event.outcome for event in of(events, ToolReturned)]
