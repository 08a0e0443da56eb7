"""The tally of stagnation: how many messages of the model in a row brought nothing new, whatever their order."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.step import Step

__all__ = ["Staleness"]


class Staleness:
    """The steps since the last one that brought something new, by the message that asked for them."""

    __slots__ = ("_messages", "fresh")

    def __init__(self) -> None:
        self.fresh = -1
        """The newest message that brought something new, as the number of its first step."""
        self._messages: dict[int, int] = {}

    def __len__(self) -> int:
        """Count the messages since then that brought an outcome, and nothing new."""
        return len(self._messages)

    def refresh(self, message: int) -> None:
        """Take in that a message brought something new."""
        if message <= self.fresh:
            return
        self.fresh = message
        if self._messages:
            self._messages = {later: steps for later, steps in self._messages.items() if later > message}

    def add(self, step: Step) -> None:
        """Take in a step that brought nothing new."""
        if step.message > self.fresh:
            self._messages[step.message] = self._messages.get(step.message, 0) + 1

    def drop(self, step: Step) -> None:
        """Take out a step that brought nothing new: it leaves the history."""
        left = self._messages.get(step.message, 0) - 1
        if left > 0:
            self._messages[step.message] = left
        elif left == 0:
            del self._messages[step.message]
