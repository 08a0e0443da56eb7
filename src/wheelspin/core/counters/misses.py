"""The tally of missing tools: how often each was not there since it last worked (SPEC 6, rule 1)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from wheelspin.core.call_record import Step

__all__ = ["Misses"]


class Misses(dict[str, list[int]]):
    """The misses of one run: the numbers of their steps, by the name that was asked for."""

    __slots__ = ()

    def of(self, tool: str) -> int:
        """Count the misses of a tool."""
        return len(self.get(tool, ()))

    def resolve(self, step: Step, newer: Iterable[Step]) -> None:
        """
        Take in a miss; or that a tool worked, which forgets the misses before.

        Args:
            step: The step.
            newer: The steps after it.
        """
        if step.is_miss():
            if not any(other.tool == step.tool and other.worked() for other in newer):
                numbers = self.setdefault(step.tool, [])
                numbers.append(step.number)
                numbers.sort()
        elif step.tool in self and step.worked():
            self._keep(step.tool, step.number)

    def drop(self, step: Step) -> None:
        """Take out a step that leaves the history."""
        if step.is_miss() and step.tool in self:
            self._keep(step.tool, step.number)

    def _keep(self, tool: str, since: int) -> None:
        """Keep the misses of a tool that came after a step."""
        self[tool] = [number for number in self[tool] if number > since]
        if not self[tool]:
            del self[tool]
