"""The tally of tools that keep failing the same way, whatever they are called with."""

from __future__ import annotations

from wheelspin.core.call_record import SAME_FAILURE
from wheelspin.core.outcome_status import CHANGE, SUCCESS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeVar

    from wheelspin.core.call_record import Step

    _Key = TypeVar("_Key")

__all__ = ["Chain", "Failing"]

_SUCCESSES = frozenset({SUCCESS, CHANGE})


class Chain:
    """
    The newest outcomes of one tool, while they are failures of one kind.

    Attributes:
        way: The way in which they failed.
        first: Number of the step that it began with; an earlier one of the same group is not of it.
        nature: The nature of the newest.
        groups: The groups of parallel calls that they came in, each with how many of its steps are in the ring.
        signatures: The calls, each with how many of its steps are in the ring.
        vetoed: Signature of the call that was blocked for it, until another one was tried. What is blocked has the
            way of its failure, too.
    """

    __slots__ = ("first", "groups", "nature", "signatures", "vetoed", "way")

    def __init__(self, step: Step) -> None:
        self.way = step.kin
        self.first = step.number
        self.nature = ""
        self.groups: dict[int, int] = {}
        self.signatures: dict[bytes, int] = {}
        self.vetoed: bytes | None = None

    def __len__(self) -> int:
        return len(self.groups)

    def add(self, step: Step) -> None:
        """Take a step in."""
        self.groups[step.group] = self.groups.get(step.group, 0) + 1
        self.signatures[step.signature] = self.signatures.get(step.signature, 0) + 1

    def drop(self, step: Step) -> None:
        """Take a step out."""
        _count_down(self.groups, step.group)
        _count_down(self.signatures, step.signature)


class Failing(dict[str, Chain]):
    """The chains of one run, by tool."""

    __slots__ = ()

    def has(self, way: bytes) -> bool:
        """Tell whether a tool still fails in this way."""
        return any(chain.way == way for chain in self.values())

    def resolve(self, step: Step) -> None:
        """Take in the outcome of a step that is the newest of its tool."""
        tool = step.tool
        chain = self.get(tool)
        if step.kind == "veto":
            if step.pattern is not None and _is_counted(step):
                if chain is None or chain.way != step.kin:
                    chain = self[tool] = Chain(step)
                    chain.nature = step.pattern.nature
                chain.add(step)
                chain.vetoed = step.signature
            return
        if step.kin is None or step.nature in _SUCCESSES:
            if chain is not None:
                del self[tool]
            return
        if chain is None or chain.way != step.kin:
            chain = self[tool] = Chain(step)
        chain.nature = step.nature
        chain.vetoed = None
        chain.add(step)

    def recount(self, tool: str, steps: Iterable[Step]) -> None:
        """Count a tool anew: an outcome came after that of a later call."""
        self.pop(tool, None)
        for step in steps:
            if step.nature == CHANGE:
                self.pop(tool, None)
            elif step.tool == tool and step.kind != "open":
                self.resolve(step)

    def drop(self, step: Step) -> None:
        """Take out a step that leaves the history."""
        chain = self.get(step.tool)
        if chain is None or step.number < chain.first or step.kin != chain.way or not _is_counted(step):
            return
        chain.drop(step)
        if not chain.groups:
            del self[step.tool]


def _is_counted(step: Step) -> bool:
    if step.kind == "veto":
        return step.pattern is not None and step.pattern.detector == SAME_FAILURE
    return step.nature not in _SUCCESSES


def _count_down(counts: dict[_Key, int], key: _Key) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
