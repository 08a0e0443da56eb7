"""Counts stagnation: how many messages of the model in a row brought nothing new, whatever their order."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import CallRecord

__all__ = ["Staleness"]


class Staleness:
    """
    The calls since the last one that brought something new, by the message that requested them.

    Records leave the history, and their messages with them, but the count goes on: how many messages have left is kept.
    Otherwise a model that requests many calls in each message would never reach a threshold.
    """

    __slots__ = ("_messages", "departed", "fresh")

    def __init__(self) -> None:
        self.fresh = -1
        """The newest message that brought something new, as the number of its first record."""
        self.departed = 0
        """Messages after it that brought nothing new and have left the history."""
        self._messages: dict[int, int] = {}

    def __len__(self) -> int:
        """Return the number of messages since then that brought an outcome, and nothing new."""
        return self.departed + len(self._messages)

    def refresh(self, message: int) -> None:
        """Note that a message brought something new."""
        if message <= self.fresh:
            return
        self.fresh = message
        # Records of one message are adjacent: all that have left the history are older than one that is in it.
        self.departed = 0
        if self._messages:
            self._messages = {later: records for later, records in self._messages.items() if later > message}

    def add(self, record: CallRecord) -> None:
        """Add a record that brought nothing new."""
        if record.message > self.fresh:
            self._messages[record.message] = self._messages.get(record.message, 0) + 1

    def drop(self, record: CallRecord, *, is_last: bool) -> None:
        """
        Remove a record that brought nothing new and leaves the history.

        Args:
            record: The record.
            is_last: Whether it is the last one of its message.
        """
        left = self._messages.get(record.message, 0) - 1
        if left > 0:
            self._messages[record.message] = left
        elif left == 0:
            del self._messages[record.message]
            self.departed += is_last
