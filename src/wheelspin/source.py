"""
A file on disk as JSON objects: plain or gzip, streamed, with what could not be read counted.

Nothing here knows a format.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import orjson

from wheelspin.errors import TranscriptError

__all__ = ["Head", "Problem", "Source"]

_GZIP = b"\x1f\x8b"
_HEAD_BYTES = 1 << 17
_HEAD_LINES = 40
_LONGEST_LINE = 512 << 20
_WHOLE_LIMIT = 64 << 20
"""Bytes up to which a JSON document is read at once; a larger list is streamed item by item, which is slower."""
_PROBLEMS_KEPT = 20
_LINES_A_STEP = 512
_NOT_JSON = object()


class Problem(NamedTuple):
    """A place in a file that could not be read."""

    line: int
    what: str


class Head(NamedTuple):
    """The beginning of a file, from which its format is told."""

    data: bytes
    """Its first bytes."""
    lines: list[dict[str, Any]]
    """Its first lines that are JSON objects; none where the file is one JSON document over many lines."""


class Source:
    """
    One file.

    Args:
        path: The file; what begins like gzip is unpacked as it is read.
        moved: Called now and then with the number of bytes read from disk so far.

    Attributes:
        path: The file.
        problems: Places that could not be read, the first few of them.
        problem_count: How many there are.
    """

    def __init__(self, path: Path, moved: Callable[[int], object] | None = None) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self.problem_count = 0
        self._moved = moved

    def note(self, line: int, what: str) -> None:
        """Count a place that cannot be read."""
        self.problem_count += 1
        if len(self.problems) < _PROBLEMS_KEPT:
            self.problems.append(Problem(line, what))

    def head(self) -> Head:
        """
        Look at the beginning of the file.

        Raises:
            TranscriptError: It cannot be opened, is empty, or is no text.
        """
        data = b""
        lines: list[dict[str, Any]] = []
        with self._open() as stream:
            for number, line in self._lines_of(stream, note=lambda *_: None):
                data += line
                value = _parsed(line)
                if isinstance(value, dict):
                    lines.append(value)
                elif not lines and line.strip():
                    data += stream.read(_HEAD_BYTES)
                    break
                if len(data) > _HEAD_BYTES or number == _HEAD_LINES:
                    break
        if not data.strip():
            raise TranscriptError(str(self.path), "the file is empty", "Name a recorded session.")
        if b"\0" in data[:_HEAD_BYTES]:
            raise TranscriptError(str(self.path), "this is binary data", "Name a recorded session, JSON or JSONL.")
        return Head(data, lines)

    def lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """
        Give the JSON objects of a JSONL file, each with its line; a line that is none is noted.

        Raises:
            TranscriptError: The file cannot be opened.
        """
        with self._open() as stream:
            for number, line in self._lines_of(stream, self.note):
                value = _parsed(line)
                if type(value) is dict:
                    yield number, value
                elif line.strip():
                    self.note(number, "no JSON object")

    def documents(self) -> Iterator[tuple[int, Any]]:
        """
        Give the items of a JSON document, each with its place, counted from 1: those of a list, or the one object.

        Raises:
            TranscriptError: The file cannot be opened.
        """
        if self.path.stat().st_size > (_WHOLE_LIMIT // 8 if self._is_gzip() else _WHOLE_LIMIT):
            yield from self._streamed()
            return
        with self._open() as stream:
            value = _parsed(stream.read())
        if isinstance(value, list):
            yield from enumerate(value, 1)
        elif isinstance(value, dict):
            yield 1, value
        else:
            self.note(1, "no JSON document")

    def _streamed(self) -> Iterator[tuple[int, Any]]:
        import ijson

        place = 0
        with self._open() as stream:
            opening = stream.read(1)
            prefix = "item" if opening == b"[" else ""
            stream.seek(0)
            try:
                for place, item in enumerate(ijson.items(stream, prefix, use_float=True), 1):
                    self._move(stream)
                    yield place, item
            except ijson.JSONError as problem:
                self.note(place + 1, f"no JSON from here on ({problem})")

    def _lines_of(self, stream: IO[bytes], note: Callable[[int, str], object]) -> Iterator[tuple[int, bytes]]:
        """Give the lines with their numbers, as far as the file can be read."""
        number = 0
        try:
            while line := stream.readline(_LONGEST_LINE):
                number += 1
                if len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
                    note(number, f"longer than {_LONGEST_LINE >> 20} MB")
                    while line and not line.endswith(b"\n"):
                        line = stream.readline(_LONGEST_LINE)
                    continue
                if number % _LINES_A_STEP == 0:
                    self._move(stream)
                yield number, line
        except (OSError, EOFError, zlib.error) as problem:
            if number == 0:
                raise self._unreadable(problem) from None
            note(number + 1, "the file breaks off here")

    def _is_gzip(self) -> bool:
        with self.path.open("rb") as stream:
            return stream.read(2) == _GZIP

    @contextmanager
    def _open(self) -> Iterator[IO[bytes]]:
        try:
            stream: Any = gzip.open(self.path) if self._is_gzip() else self.path.open("rb")  # noqa: SIM115 - closed below
        except OSError as problem:
            raise self._unreadable(problem) from None
        with stream:
            yield stream
            self._move(stream)

    def _move(self, stream: Any) -> None:
        if self._moved:
            on_disk = stream.fileobj if hasattr(stream, "fileobj") else stream
            self._moved(on_disk.tell())

    def _unreadable(self, problem: Exception) -> TranscriptError:
        path = str(self.path)
        if isinstance(problem, FileNotFoundError):
            return TranscriptError(path, "there is no such file", "Check the path.")
        if isinstance(problem, IsADirectoryError):
            return TranscriptError(path, "this is a directory", "Name the files in it.")
        if isinstance(problem, EOFError | zlib.error | gzip.BadGzipFile):
            return TranscriptError(path, "its gzip data is damaged", "Copy the file once more.")
        why = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        return TranscriptError(path, f"it cannot be read ({why})", "Check the file and its permissions.")


def _parsed(data: bytes) -> Any:
    """Decode JSON; orjson is quick and strict, the standard library takes what it refuses: NaN, lone surrogates."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            return _NOT_JSON
