"""What the made runs are built of: calls, and shapes that are made of them."""

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
    """One way of being stuck, or one way of good work that looks like it."""

    name: str
    """`stuck/…` or `healthy/…`."""
    why: str
    """One sentence: why this is stuck, or why it is not."""
    kind: str
    opening: tuple[Call, ...]
    """Good and varied work before the part that counts."""
    body: Body
    news: int
    """How many calls of a stuck body still bring something new."""

    def run(self) -> Run:
        """Give the run: the opening, then the body, which is the judged stretch."""
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
    """The shapes of one module, in the order in which they are written."""

    def __init__(self, side: str) -> None:
        self.side = side
        self.shapes: list[Shape] = []

    def shape(self, kind: str, opening: tuple[Call, ...], news: int = 0) -> Callable[[Body], Body]:
        """Enter the function below under its own name, with its docstring as the reason."""

        def enter(body: Body) -> Body:
            name = f"{self.side}/{body.__name__.replace('_', '-')}"
            self.shapes.append(Shape(name, (body.__doc__ or "").strip(), kind, opening, body, news))
            return body

        return enter


def bash(command: str, output: Any = "") -> Call:
    """Give a shell command and its output."""
    return Call("bash", {"command": command}, output)


def read(path: str, text: str, **more: int) -> Call:
    """Give a read of a file, whole or in part."""
    return Call("read_file", {"path": path, **more}, text)


def grep(pattern: str, found: str, path: str = "src") -> Call:
    """Give a search in files."""
    return Call("grep", {"pattern": pattern, "path": path}, found)


def edit(path: str, old: str, new: str, answer: str = "") -> Call:
    """Give one replacement in a file."""
    args = {"path": path, "old_string": old, "new_string": new}
    return Call("edit", args, answer or f"The file {path} has been updated.")


def failed(call: Call) -> Call:
    """Give the call as one whose tool said that it failed."""
    return call._replace(error=True)


def rounds(number: int, *calls: Call) -> Iterator[Call]:
    """Give the same calls in the same order, so many times."""
    return chain.from_iterable(repeat(calls, number))


def together(number: int, *calls: Call) -> Iterator[Call]:
    """Give calls that came in one message of the model; messages that follow each other need different numbers."""
    return (call._replace(message=number) for call in calls)


def tag(number: int, length: int = 12) -> str:
    """Give something that looks like an id, always the same for a number."""
    return hashlib.sha256(str(number).encode()).hexdigest()[:length]


def clock(second: int) -> str:
    """Give the time of day, so many seconds into the run."""
    minutes, seconds = divmod(14 * 3600 + 127 + second, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}"


def _numbered(calls: list[Call]) -> list[Call]:
    """Number the messages of a run: neighbours with one number share a message, other calls have their own."""
    message, numbered = -1, []
    before: int | None = None
    for call in calls:
        if call.message is None or call.message != before:
            message += 1
        before = call.message
        numbered.append(call._replace(message=message))
    return numbered
