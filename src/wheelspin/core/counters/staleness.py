"""The tally of stagnation: how many messages of the model in a row brought nothing new, whatever their order."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import Step

__all__ = ["Staleness"]


class Staleness:
    """
    The steps since the last one that brought something new, by the message that asked for them.

    Steps leave the history, and their messages with them, but the row goes on: of those that have left, the number is
    kept. Else a model that asks for many calls in each message would never have made enough of them.
    """

    __slots__ = ("_messages", "fresh", "passed")

    def __init__(self) -> None:
        self.fresh = -1
        """The newest message that brought something new, as the number of its first step."""
        self.passed = 0
        """Messages after it that brought nothing new, and have left the history."""
        self._messages: dict[int, int] = {}

    def __len__(self) -> int:
        """Count the messages since then that brought an outcome, and nothing new."""
        return self.passed + len(self._messages)

    def refresh(self, message: int) -> None:
        """Take in that a message of the history brought something new."""
        if message <= self.fresh:
            return
        self.fresh = message
        # The steps of a message stand side by side: all that have left the history are older than one that is in it.
        self.passed = 0
        if self._messages:
            self._messages = {later: steps for later, steps in self._messages.items() if later > message}

    def add(self, step: Step) -> None:
        """Take in a step that brought nothing new."""
        if step.message > self.fresh:
            self._messages[step.message] = self._messages.get(step.message, 0) + 1

    def drop(self, step: Step, *, is_last: bool) -> None:
        """
        Take out a step that brought nothing new: it leaves the history.

        Args:
            step: The step.
            is_last: Whether it is the last one of its message.
        """
        left = self._messages.get(step.message, 0) - 1
        if left > 0:
            self._messages[step.message] = left
        elif left == 0:
            del self._messages[step.message]
            self.passed += is_last
