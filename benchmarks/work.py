"""The pieces of work that are measured: functions without arguments, each with the number of calls it makes."""

from __future__ import annotations

import hashlib
import itertools
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from xxhash import xxh3_128_digest

from wheelspin import Guard, Outcome, Replay, Settings, ToolCall
from wheelspin.core.fingerprint import _plain
from wheelspin.core.identifiers import change_texts
from wheelspin.transcripts import reader_for
from wheelspin.transcripts.files import TranscriptFile

CALLS = 100
"""Number of calls in one round of a piece."""
SMALL = {"content": [{"type": "text", "text": "x" * 61}]}
LARGE = "x" * 100_000
HUGE = "x" * 1_000_000


def _hook_call(number: int) -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_input": {"command": f"cat notes/{number}.md"}, "tool_use_id": f"toolu_{number}"}


def _asked(number: int) -> dict[str, Any]:
    """Return the event before a call of Claude Code."""
    session = {"session_id": "s1", "prompt_id": "p1", "cwd": "/home/sam/shop"}
    return {**session, "hook_event_name": "PreToolUse", **_hook_call(number)}


def _told(number: int) -> dict[str, Any]:
    """Return the event after a call of Claude Code."""
    calls = [{**_hook_call(number), "tool_response": f"line {number}\n" * 50}]
    return {"session_id": "s1", "prompt_id": "p1", "hook_event_name": "PostToolBatch", "tool_calls": calls}


HookEvent = Callable[[int], dict[str, Any]]
HOOK_EVENTS: dict[str, HookEvent] = {"`PreToolUse`": _asked, "`PostToolBatch`": _told}
"""Events of Claude Code, as functions of the number of the call."""


class Piece(NamedTuple):
    """A piece of work."""

    run: Callable[[], object]
    calls: int


def arguments(number: int) -> dict[str, Any]:
    """Return arguments of 111 bytes in compact JSON, different for each number."""
    return {
        "command": "pytest -q tests/test_api.py -k create --maxfail=1 -x --no-header -qqq",
        "timeout": 120_000,
        "n": 100_000 + number,
    }


ARGUMENTS = [arguments(number) for number in range(CALLS)]


def guarded(result: object, *, history_size: int = 30, distinct: bool = True) -> Piece:
    """Call `before` and `after` as a host does; consecutive results always differ."""
    guard = Guard(Settings(enabled=True, history_size=history_size))
    outcomes = itertools.cycle(
        [Outcome.result(result), Outcome.result(change_texts(result, lambda text: text[:-1] + "y"))]
    )
    numbers = itertools.count()

    def run() -> None:
        for given in ARGUMENTS:
            if distinct:
                given["n"] = 100_000 + next(numbers) % 899_999
            call = ToolCall("execute", given, id="c1", run_id="r1")
            if not guard.before(call).stops:
                guard.after(call, next(outcomes))

    run()
    return Piece(run, CALLS)


def bare_walk(result: object) -> Piece:
    """Only walk over the arguments and the result, as a fingerprint does."""

    def run() -> None:
        for given in ARGUMENTS:
            _plain(given, [])
            _plain(result, [])

    return Piece(run, CALLS)


def bare_hash(result: object) -> Piece:
    """Only hash as many bytes as the arguments and the result have."""
    one, other = (json.dumps(value).encode() for value in (ARGUMENTS[0], result))

    def run() -> None:
        for _ in range(CALLS):
            xxh3_128_digest(one)
            xxh3_128_digest(other)

    return Piece(run, CALLS)


def sorted_json(result: object) -> Piece:
    """Hash sorted JSON with SHA-256, as the original does, without its history and detectors."""

    def run() -> None:
        for given in ARGUMENTS:
            hashlib.sha256(json.dumps(given, sort_keys=True).encode()).digest()
            hashlib.sha256(json.dumps(result, sort_keys=True).encode()).digest()

    return Piece(run, CALLS)


_FOLDER = tempfile.TemporaryDirectory(prefix="wheelspin-bench-")
"""Removed when the process ends."""


def _session(calls: int, words: int) -> Path:
    """Write a session of Claude Code in which an agent reads files without a loop."""
    path = Path(_FOLDER.name) / f"{calls}-{words}.jsonl"
    base = {"sessionId": "s", "cwd": "/home/sam/shop", "version": "2.1.332", "gitBranch": "main", "isSidechain": False}
    text = 'The quick brown fox jumps over the lazy dog, and "quotes" it.\n' * words
    with path.open("w") as out:
        for number in range(calls):
            usage = {"input_tokens": 3, "cache_read_input_tokens": 14_000 + number, "output_tokens": 74}
            thought = {"type": "text", "text": text[: len(text) // 4]}
            use = {
                "type": "tool_use",
                "id": f"t{number}",
                "name": "Read",
                "input": {"file_path": f"/home/sam/{number}.py"},
            }
            for block in (thought, use):
                message = {"id": f"m{number}", "role": "assistant", "content": [block], "usage": usage}
                out.write(json.dumps(base | {"type": "assistant", "uuid": f"a{number}", "message": message}) + "\n")
            result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"{number}\n{text}"}
            message = {"role": "user", "content": [result]}
            line = base | {"type": "user", "uuid": f"u{number}", "message": message, "toolUseResult": text}
            out.write(json.dumps(line) + "\n")
    return path


SESSION = _session(1500, 30)
SHORT_LINES = _session(1500, 4)


def scan(path: Path) -> Piece:
    """Read a session and replay it through a guard."""

    def run() -> None:
        source = TranscriptFile(path)
        reader = reader_for(source)
        Replay(tools=reader.tools).scan(reader.read(source))

    return Piece(run, 1)


def bare_parse(path: Path) -> Piece:
    """Only parse the lines of a session."""

    def run() -> None:
        with path.open("rb") as lines:
            for line in lines:
                orjson.loads(line)

    return Piece(run, 1)
