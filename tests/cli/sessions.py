"""Recorded sessions that tests write: each step is a call of one letter, `.` for one that differs each time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from wheelspin.cli import main

SECRET = "hunter2"
"""Stands in every argument and every result."""


def claude(path: Path, steps: str) -> Path:
    """Write a session of Claude Code; `/` is a prompt of the user. Each turn costs a hundred tokens."""
    return _write(path, _claude_lines(steps))


def events(path: Path, steps: str, *first: dict[str, Any]) -> Path:
    """Write events of our own, after the given ones."""
    return _write(path, [*first, *_event_lines(steps)])


def run_main(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Call the command line, and give its exit code and what it wrote."""
    code = main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def _write(path: Path, lines: Any) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def _arguments(number: int, step: str) -> dict[str, str]:
    return {"path": f"/{SECRET}/{number if step == '.' else step}"}


def _claude_lines(steps: str) -> Iterator[dict[str, Any]]:
    for number, step in enumerate(f"/{steps}"):
        common = {"sessionId": "s", "uuid": f"u{number}"}
        if step == "/":
            yield {**common, "type": "user", "message": {"role": "user", "content": f"go on {number}"}}
            continue
        use = {"type": "tool_use", "id": f"t{number}", "name": "Read", "input": _arguments(number, step)}
        said = {"id": f"m{number}", "role": "assistant", "content": [use], "usage": {"output_tokens": 100}}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"{SECRET} {_arguments(number, step)}"}
        yield {**common, "type": "assistant", "message": said}
        yield {**common, "type": "user", "uuid": f"r{number}", "message": {"role": "user", "content": [result]}}


def _event_lines(steps: str) -> Iterator[dict[str, Any]]:
    for number, step in enumerate(steps):
        yield {"type": "call", "tool": "read", "id": f"c{number}", "args": _arguments(number, step)}
        yield {"type": "result", "id": f"c{number}", "result": f"{SECRET} {_arguments(number, step)}"}
