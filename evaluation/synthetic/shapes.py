"""The building blocks of synthetic runs: calls, and shapes that consist of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import chain, repeat
from typing import Any, NamedTuple

from evaluation.runs import Call, Run, Stretch

__all__ = [
    "Shape",
    "Table",
    "bash",
    "clock",
    "edit",
    "failed",
    "grep",
    "read",
    "rounds",
    "tag",
    "together",
]

Body = Callable[[], Iterator[Call]]


class Shape(NamedTuple):
    """A way of being stuck, or of good work that looks similar."""

    name: str
    """`stuck/…` or `healthy/…`."""
    why: str
    """Why it is stuck, or why it is not, in one sentence."""
    kind: str
    opening: tuple[Call, ...]
    """Good, varied work before the labelled part."""
    body: Body
    news: int
    """Number of calls in a stuck body that still bring something new."""

    def run(self) -> Run:
        """Return the run: the opening, then the body, which is the labelled stretch."""
        side = self.name.split("/")[0]
        calls = _numbered([*self.opening, *self.body()])
        calls[0] = calls[0]._replace(user_before=True)
        start, end = len(self.opening), len(calls) - 1
        if side == "stuck":
            stretch = Stretch("loop", self.kind, start, end, start + self.news)
        else:
            stretch = Stretch("ok", self.kind, start, end)
        return Run(self.name, f"synthetic-{side}", calls, [stretch], side == "healthy")


class Table:
    """The shapes of one module, in the order of their definitions."""

    def __init__(self, side: str) -> None:
        self.side = side
        self.shapes: list[Shape] = []

    def shape(self, kind: str, opening: tuple[Call, ...], news: int = 0) -> Callable[[Body], Body]:
        """Return a decorator that adds a function under its own name, with its docstring as the reason."""

        def enter(body: Body) -> Body:
            name = f"{self.side}/{body.__name__.replace('_', '-')}"
            self.shapes.append(Shape(name, (body.__doc__ or "").strip(), kind, opening, body, news))
            return body

        return enter


def bash(command: str, output: Any = "") -> Call:
    """Return a shell command and its output."""
    return Call("bash", {"command": command}, output)


def read(path: str, text: str, **more: int) -> Call:
    """Return a read of a file, in whole or in part."""
    return Call("read_file", {"path": path, **more}, text)


def grep(pattern: str, found: str, path: str = "src") -> Call:
    """Return a search in files."""
    return Call("grep", {"pattern": pattern, "path": path}, found)


def edit(path: str, old: str, new: str, answer: str = "") -> Call:
    """Return a replacement in a file."""
    args = {"path": path, "old_string": old, "new_string": new}
    return Call("edit", args, answer or f"The file {path} has been updated.")


def failed(call: Call) -> Call:
    """Return the call as one that failed."""
    return call._replace(error=True)


def rounds(number: int, *calls: Call) -> Iterator[Call]:
    """Yield the same calls in the same order, a number of times."""
    return chain.from_iterable(repeat(calls, number))


def together(number: int, *calls: Call) -> Iterator[Call]:
    """Yield calls of one message of the model; consecutive messages need different numbers."""
    return (call._replace(message=number) for call in calls)


def tag(number: int, length: int = 12) -> str:
    """Return a text that looks like an id, always the same for a number."""
    return hashlib.sha256(str(number).encode()).hexdigest()[:length]


def clock(second: int) -> str:
    """Return the time of day at a number of seconds into the run."""
    minutes, seconds = divmod(14 * 3600 + 127 + second, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"


def _numbered(calls: list[Call]) -> list[Call]:
    """Return calls with consecutive message numbers: neighbours with the same number share a message."""
    message, numbered = -1, []
    before: int | None = None
    for call in calls:
        if call.message is None or call.message != before:
            message += 1
        before = call.message
        numbered.append(call._replace(message=message))
    return numbered
