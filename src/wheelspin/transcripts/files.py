"""
A file on disk as a stream of JSON objects, plain or compressed with gzip, with the places that could not be read.

This module knows no format.
"""

from __future__ import annotations

import gzip
import io
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from orjson import JSONDecodeError, loads

from wheelspin.errors import TranscriptError
from wheelspin.wire.json_text import parsed

__all__ = ["Head", "Problem", "TranscriptFile"]

_GZIP = b"\x1f\x8b"
_HEAD_BYTES = 1 << 17
_HEAD_LINES = 20
_LONGEST_LINE = 512 << 20
_WHOLE_LIMIT = 64 << 20
"""Size in bytes up to which a JSON document is read at once; larger ones are streamed item by item, which is slower."""
_PROBLEMS_KEPT = 20
_LINES_PER_REPORT = 512
_BUFFER = 1 << 18
_PEEKED = 64
_BROKEN = (OSError, EOFError, zlib.error)
"""Exceptions that reading a damaged file raises."""


class Problem(NamedTuple):
    """A place in a file that could not be read."""

    line: int
    what: str
    """What is wrong there."""


class Head:
    """
    The beginning of a file, by which readers recognise their format.

    Args:
        data: The first bytes.
        lines: The first lines.
    """

    def __init__(self, data: bytes, lines: list[bytes]) -> None:
        self.data = data
        self._lines = lines
        self._read: list[dict[str, Any]] = []

    def objects(self) -> Iterator[dict[str, Any]]:
        """Yield the first lines that are JSON objects; none if the file is one JSON document over many lines."""
        yield from self._read
        while self._lines:
            line = self._lines.pop(0)
            value = parsed(line) if line.lstrip()[:1] == b"{" else None
            if isinstance(value, dict):
                self._read.append(value)
                yield value
            elif not self._read and line.strip():
                self._lines.clear()

    @property
    def first(self) -> dict[str, Any] | None:
        """The first line, if it is a JSON object."""
        return next(self.objects(), None)


class TranscriptFile:
    """
    A file with a recorded session.

    Args:
        path: Path of the file; one that begins like gzip is decompressed as it is read.
        on_progress: Called every now and then with the number of bytes read from disk so far.

    Attributes:
        path: Path of the file.
        problems: The first few places that could not be read.
        problem_count: Number of places that could not be read.
    """

    def __init__(self, path: Path, on_progress: Callable[[int], object] | None = None) -> None:
        self.path = path
        self.problems: list[Problem] = []
        self.problem_count = 0
        self._on_progress = on_progress
        self._head: Head | None = None

    def note(self, line: int, what: str) -> None:
        """Note a place that cannot be read."""
        self.problem_count += 1
        if len(self.problems) < _PROBLEMS_KEPT:
            self.problems.append(Problem(line, what))

    def head(self) -> Head:
        """
        Return the beginning of the file.

        Raises:
            TranscriptError: The file cannot be opened, is empty, or is not text.
        """
        if self._head is None:
            with self._open() as stream:
                lines = self._first_lines(stream)
            data = b"".join(lines)
            if not data.strip():
                raise TranscriptError(str(self.path), "the file is empty", "Name a recorded session.")
            if b"\0" in data[:_HEAD_BYTES]:
                raise TranscriptError(str(self.path), "this is binary data", "Name a recorded session, JSON or JSONL.")
            self._head = Head(data, lines)
        return self._head

    def _first_lines(self, stream: io.BufferedReader) -> list[bytes]:
        lines: list[bytes] = []
        try:
            for line in self._bounded_lines(stream, lambda *_: None):
                lines.append(line)
                if len(lines) == _HEAD_LINES or sum(map(len, lines)) > _HEAD_BYTES:
                    break
            else:
                return lines
            lines.append(stream.read(max(0, _HEAD_BYTES - sum(map(len, lines)))))
        except _BROKEN as problem:
            if not lines:
                raise self._unreadable(problem) from None
        return lines

    def lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """
        Yield the JSON objects of a JSONL file with their line numbers; lines that are not JSON objects are noted.

        Raises:
            TranscriptError: The file cannot be opened.
        """
        number = 0
        with self._open() as stream:
            try:
                for line in self._bounded_lines(stream, self.note):
                    number += 1
                    try:
                        value = loads(line)
                    except JSONDecodeError:
                        value = parsed(line)
                    if type(value) is dict:
                        yield number, value
                    elif line.strip():
                        self.note(number, "not a JSON object")
                    if number % _LINES_PER_REPORT == 0:
                        self._report_progress(stream)
            except _BROKEN as problem:
                if number == 0:
                    raise self._unreadable(problem) from None
                self.note(number + 1, "the file breaks off here")

    def documents(self) -> Iterator[tuple[int, Any]]:
        """
        Yield the items of a JSON document with their numbers from 1: those of a list, or the document itself.

        Raises:
            TranscriptError: The file cannot be opened.
        """
        if self.path.stat().st_size > (_WHOLE_LIMIT // 8 if self._is_gzip() else _WHOLE_LIMIT):
            yield from self._streamed()
            return
        with self._open() as stream:
            value = parsed(stream.read())
        if isinstance(value, list):
            yield from enumerate(value, 1)
        elif isinstance(value, dict):
            yield 1, value
        else:
            self.note(1, "not a JSON document")

    def _streamed(self) -> Iterator[tuple[int, Any]]:
        import ijson

        number = 0
        with self._open() as stream:
            prefix = "item" if stream.peek(_PEEKED).lstrip().startswith(b"[") else ""
            try:
                for number, item in enumerate(ijson.items(stream, prefix, use_float=True), 1):
                    self._report_progress(stream)
                    yield number, item
            except ijson.JSONError as problem:
                self.note(number + 1, f"not valid JSON from here on ({problem})")

    def _bounded_lines(self, stream: io.BufferedReader, note: Callable[[int, str], object]) -> Iterable[bytes]:
        """Return the lines, none of them too long to hold in memory."""
        return stream if self._is_small() else self._short_lines(stream, note)

    def _is_small(self) -> bool:
        """Return whether the file is so small that any line of it can be held in memory."""
        return self.path.stat().st_size < (_LONGEST_LINE // 8 if self._is_gzip() else _LONGEST_LINE)

    def _short_lines(self, stream: io.BufferedReader, note: Callable[[int, str], object]) -> Iterator[bytes]:
        """Yield the lines of a large file; a line that is too long to hold is noted and replaced by an empty one."""
        number = 0
        while line := stream.readline(_LONGEST_LINE):
            number += 1
            if len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
                note(number, f"longer than {_LONGEST_LINE >> 20} MB")
                while line and not line.endswith(b"\n"):
                    line = stream.readline(_LONGEST_LINE)
                line = b"\n"
            yield line

    def _is_gzip(self) -> bool:
        with self.path.open("rb") as stream:
            return stream.read(2) == _GZIP

    @contextmanager
    def _open(self) -> Iterator[io.BufferedReader]:
        try:
            stream: Any = gzip.open(self.path) if self._is_gzip() else self.path.open("rb", _BUFFER)  # noqa: SIM115 - closed below
        except OSError as problem:
            raise self._unreadable(problem) from None
        with stream:
            try:
                if stream.peek(len(BOM_UTF8)).startswith(BOM_UTF8):
                    stream.read(len(BOM_UTF8))
            except _BROKEN as problem:
                raise self._unreadable(problem) from None
            yield stream
            self._report_progress(stream)

    def _report_progress(self, stream: Any) -> None:
        if self._on_progress:
            on_disk = stream.fileobj if hasattr(stream, "fileobj") else stream
            self._on_progress(on_disk.tell())

    def _unreadable(self, problem: Exception) -> TranscriptError:
        path = str(self.path)
        if isinstance(problem, FileNotFoundError):
            return TranscriptError(path, "there is no such file", "Check the path.")
        if isinstance(problem, IsADirectoryError):
            return TranscriptError(path, "this is a directory", "Name the files in it.")
        if isinstance(problem, EOFError | zlib.error | gzip.BadGzipFile):
            return TranscriptError(path, "its gzip data is damaged", "Copy the file again.")
        why = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        return TranscriptError(path, f"it cannot be read ({why})", "Check the file and its permissions.")
