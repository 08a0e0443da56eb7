"""Where the keys of a JSON5 text stand, and which of them stand there twice."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

import pyjson5

__all__ = ["Duplicate", "KeyPositions", "Path", "line_and_column", "show_path"]

Path = tuple[str | int, ...]
"""The way to a value: keys, and indices of lists."""

_TOKEN = re.compile(
    r"""//[^\n\r\u2028\u2029]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[{}\[\],:]|[^\s{}\[\],:"'/]+""",
    re.DOTALL,
)
_COMMENTS = ("//", "/*")


class Duplicate(NamedTuple):
    """A key that is in an object for the second time."""

    path: Path
    line: int
    first_line: int


@dataclass
class _Open:
    """An object or a list that is being read."""

    path: Path
    is_object: bool
    lines: dict[str, int] = field(default_factory=dict)
    key: str | None = None
    index: int = 0

    def child(self) -> Path:
        return (*self.path, self.key or "") if self.is_object else (*self.path, self.index)


class KeyPositions:
    """
    The lines of all keys in a text.

    Args:
        text: A valid JSON5 text.

    Attributes:
        lines: The line of each key and list item, from 1.
        duplicates: Keys that are there twice.
    """

    def __init__(self, text: str) -> None:
        self.lines: dict[Path, int] = {}
        self.duplicates: list[Duplicate] = []
        breaks = [match.start() for match in re.finditer("\n", text)]
        waiting: list[_Open] = []
        for match in _TOKEN.finditer(text):
            token = match.group()
            if not token.startswith(_COMMENTS):
                self._read(token, bisect_right(breaks, match.start()) + 1, waiting)

    def _read(self, token: str, line: int, waiting: list[_Open]) -> None:
        inside = waiting[-1] if waiting else None
        if token in "{[":
            waiting.append(_Open(inside.child() if inside else (), token == "{"))
        elif token in "}]":
            waiting.pop()
        elif inside is None or token == ":":
            return
        elif token == ",":
            inside.key = None
            inside.index += 1
        elif inside.is_object and inside.key is None:
            inside.key = _key(token)
            self._note(inside, line)
        if inside is not None and not inside.is_object:
            self.lines.setdefault(inside.child(), line)

    def _note(self, inside: _Open, line: int) -> None:
        key = inside.key or ""
        if key in inside.lines:
            self.duplicates.append(Duplicate(inside.child(), line, inside.lines[key]))
        inside.lines[key] = line
        self.lines[inside.child()] = line


def _key(token: str) -> str:
    text = token if token[0] in "\"'" else f'"{token}"'
    return str(pyjson5.decode(text))


def show_path(path: Path) -> str:
    """Return a path as users write it: `agents.list[0].tools`."""
    shown = ""
    for part in path:
        if isinstance(part, int):
            shown += f"[{part}]"
        else:
            plain = part if part.isprintable() and part else repr(part)
            shown += f".{plain}" if shown else plain
    return shown


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Return the line and the column of an offset in a text, both from 1."""
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1
