"""Recorded sessions that tests write: each letter is a call, and `.` is a call that is different each time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wheelspin.cli import main

SECRET = "hunter2"
"""A secret in every argument and result."""


def claude(path: Path, letters: str) -> Path:
    """Write a session of Claude Code; `/` is a user prompt. Each turn costs 100 tokens."""
    return _write(path, _claude_lines(letters))


def events(path: Path, letters: str, *first: dict[str, Any]) -> Path:
    """Write a session in the events format, after some given events."""
    return _write(path, [*first, *_event_lines(letters)])


def run_main(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Run the command line, and return its exit code, stdout and stderr."""
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def _write(path: Path, lines: Any) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def _arguments(number: int, letter: str) -> dict[str, str]:
    return {"path": f"/{SECRET}/{number if letter == '.' else letter}"}


def _claude_lines(letters: str) -> Iterator[dict[str, Any]]:
    for number, letter in enumerate(f"/{letters}"):
        common = {"sessionId": "s", "uuid": f"u{number}"}
        if letter == "/":
            yield {**common, "type": "user", "message": {"role": "user", "content": f"go on {number}"}}
            continue
        use = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": _arguments(number, letter)}
        message = {"id": f"m{number}", "role": "assistant", "content": [use], "usage": {"output_tokens": 100}}
        result = {
            "type": "tool_result",
            "tool_use_id": f"t{number}",
            "content": f"{SECRET} {_arguments(number, letter)}",
        }
        yield {**common, "type": "assistant", "message": message}
        yield {**common, "type": "user", "uuid": f"r{number}", "message": {"role": "user", "content": [result]}}


def _event_lines(letters: str) -> Iterator[dict[str, Any]]:
    for number, letter in enumerate(letters):
        yield {"type": "call", "tool": "read", "id": f"c{number}", "args": _arguments(number, letter)}
        yield {"type": "result", "id": f"c{number}", "result": f"{SECRET} {_arguments(number, letter)}"}
