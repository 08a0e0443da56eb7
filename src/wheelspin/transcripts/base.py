"""
The contract of a reader: a recorded session becomes a trajectory, the ordered events that a guard is fed.

A reader knows one format. It looks at the head of a file to tell whether it is its own, and turns the file into
events as it goes, so a file of any size is streamed. What it cannot read, it notes in the `TranscriptFile` and goes on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

from wheelspin.core.events import Outcome, ToolCall
from wheelspin.core.known_tools import TOOLS
from wheelspin.core.tools import ToolTable
from wheelspin.transcripts.files import Head, TranscriptFile

__all__ = [
    "Compacted",
    "ConfigChanged",
    "Event",
    "OpenCalls",
    "Reader",
    "RunStarted",
    "TokensUsed",
    "ToolCalled",
    "ToolReturned",
    "UserMessage",
]


class ToolCalled(NamedTuple):
    """The model asked for a call."""

    line: int
    call: ToolCall


class ToolReturned(NamedTuple):
    """A call came back."""

    line: int
    call: ToolCall
    outcome: Outcome


class Compacted(NamedTuple):
    """The host shortened the context, or tried to."""

    line: int
    session_id: str | None = None
    agent_id: str | None = None
    ok: bool = True


class UserMessage(NamedTuple):
    """The user wrote a prompt: a new run."""

    line: int
    session_id: str | None = None
    agent_id: str | None = None


class RunStarted(NamedTuple):
    """The host began a run of this id."""

    line: int
    run_id: str
    session_id: str | None = None
    agent_id: str | None = None


class TokensUsed(NamedTuple):
    """
    Tokens that the model's last turn cost, all told; it comes after the calls of that turn.

    Where a turn is told of more than once, as one that is written block by block, the last word holds.
    """

    line: int
    tokens: int
    session_id: str | None = None
    agent_id: str | None = None
    turn_id: str | None = None


class ConfigChanged(NamedTuple):
    """The file says which configuration holds for what follows."""

    line: int
    config: dict[str, Any]


Event = ToolCalled | ToolReturned | Compacted | UserMessage | RunStarted | TokensUsed | ConfigChanged


class OpenCalls:
    """
    The calls that wait for their outcome, as a file is read.

    A call id that was met before is the same call, written once more; its outcome is told once.
    """

    def __init__(self) -> None:
        self._open: dict[str, ToolCall] = {}
        self._met: set[str] = set()

    def ask(self, line: int, call: ToolCall) -> list[Event]:
        """Give the event of a call; nothing, if the call was met before."""
        call_id = call.id
        if call_id is not None:
            if call_id in self._met:
                return []
            self._met.add(call_id)
            self._open[call_id] = call
        return [ToolCalled(line, call)]

    def answered(self, call_id: object) -> ToolCall | None:
        """Give the call that an outcome belongs to, and close it; `None` where it is not open."""
        return self._open.pop(call_id, None) if type(call_id) is str else None


class Reader(ABC):
    """One format. A reader is one file, and one line in `wheelspin.transcripts`."""

    name: ClassVar[str]
    """Its name, as `--format` takes it: the host's name, in snake case."""
    title: ClassVar[str]
    """What people call the format."""
    place: ClassVar[str] = "line"
    """What the numbers of its events count: lines, or the items of a list."""
    tools: ClassVar[ToolTable] = TOOLS
    """What is known about the host's tools."""

    @abstractmethod
    def matches(self, head: Head) -> bool:
        """Tell whether a file is of this format, from its beginning."""

    @abstractmethod
    def read(self, source: TranscriptFile) -> Iterator[Event]:
        """Give the events of a file, in the order in which they happened."""
