"""
The contract of a reader, which turns a recorded session into the ordered events that a guard is fed.

A reader knows one format. It recognises its files by their beginning and yields events as it reads, so that a file of
any size is streamed. Places that it cannot read are noted in the `TranscriptFile`, and reading goes on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple, TypeVar

from wheelspin.core.events import Outcome, ToolCall
from wheelspin.core.known_tools import TOOLS
from wheelspin.core.tools import ToolTable
from wheelspin.transcripts.files import Head, TranscriptFile
from wheelspin.wire.advice import outcome_without_advice

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

_Result = TypeVar("_Result")


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
    """The host compacted the context, or tried to."""

    line: int
    session_id: str | None = None
    agent_id: str | None = None
    ok: bool = True


class UserMessage(NamedTuple):
    """The user wrote a prompt, which starts a run."""

    line: int
    session_id: str | None = None
    agent_id: str | None = None


class RunStarted(NamedTuple):
    """The host started a run with this id."""

    line: int
    run_id: str
    session_id: str | None = None
    agent_id: str | None = None


class TokensUsed(NamedTuple):
    """
    The total tokens of the model's last turn; it follows the calls of that turn.

    A session may report a turn several times, for instance once per block; the last report counts.
    """

    line: int
    tokens: int
    session_id: str | None = None
    agent_id: str | None = None
    turn_id: str | None = None


class ConfigChanged(NamedTuple):
    """The file contains a configuration, which applies to the events that follow."""

    line: int
    config: dict[str, Any]


Event = ToolCalled | ToolReturned | Compacted | UserMessage | RunStarted | TokensUsed | ConfigChanged


class OpenCalls:
    """
    The calls that have not returned yet, as a file is read.

    A session may contain a call twice. A call id that was added before is the same call, and returns once.
    """

    def __init__(self) -> None:
        self._open: dict[str, ToolCall] = {}
        self._added: set[str] = set()

    def add(self, line: int, call: ToolCall) -> list[Event]:
        """Add a call and return its event; return no event if the call was added before."""
        call_id = call.id
        if call_id is not None:
            if call_id in self._added:
                return []
            self._added.add(call_id)
            self._open[call_id] = call
        return [ToolCalled(line, call)]

    def pop(self, call_id: object) -> ToolCall | None:
        """Remove an open call and return it; return `None` if no open call has this id."""
        return self._open.pop(call_id, None) if type(call_id) is str else None

    def returned(
        self, line: int, call_id: object, result: _Result, outcome_of: Callable[[ToolCall, _Result], Outcome]
    ) -> list[Event]:
        """
        Close a call and return the event of its outcome, in which Wheelspin's own advice has no part.

        Args:
            line: Line of the result.
            call_id: Id of the call.
            result: The result as it is written in the file.
            outcome_of: Reads the outcome from the call and from the result without advice.

        Returns:
            The event; none if no open call has this id.
        """
        call = self._open.pop(call_id, None) if type(call_id) is str else None
        return [] if call is None else [ToolReturned(line, call, outcome_without_advice(call, result, outcome_of))]


class Reader(ABC):
    """The reader of one format: one file in `wheelspin.transcripts`, listed in its `READERS`."""

    name: ClassVar[str]
    """Name of the format, as `--format` takes it: the host's name in snake case."""
    title: ClassVar[str]
    """Name of the format for people."""
    unit: ClassVar[str] = "line"
    """What the line numbers of its events count: `line`, or `item` or `message` in a JSON document."""
    tools: ClassVar[ToolTable] = TOOLS
    """What is known about the host's tools."""

    @abstractmethod
    def matches(self, head: Head) -> bool:
        """Return whether a file has this format, judging by its beginning."""

    @abstractmethod
    def read(self, file: TranscriptFile) -> Iterator[Event]:
        """Yield the events of a file in the order in which they happened."""
