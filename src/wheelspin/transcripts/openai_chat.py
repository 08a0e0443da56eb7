"""OpenAI chat messages: one or more conversations, as in tau-bench's results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from wheelspin.core.events import ToolCall
from wheelspin.transcripts.base import Event, OpenCalls, Reader, TokensUsed, ToolReturned, UserMessage
from wheelspin.transcripts.conversations import Message, mentions, messages, sample
from wheelspin.transcripts.files import Head, TranscriptFile
from wheelspin.wire import openai_chat
from wheelspin.wire.advice import outcome_without_advice

_SPEAKERS = ("user", "assistant", "system")
_ROLES = (*_SPEAKERS, "tool")
_RESULTS = ("tool", "function")


class OpenAIChat(Reader):
    """
    Read OpenAI chat messages.

    Each conversation in a file is a session. The format marks neither errors nor compactions.
    """

    name = "openai_chat"
    title = "OpenAI chat messages"
    unit = "item"

    def matches(self, head: Head) -> bool:
        """Return whether the file contains messages with roles; a conversation without calls matches, too."""
        found = sample(head)
        if found:
            return any(message.get("role") in _ROLES for message in found)
        return mentions(head, _SPEAKERS)

    def read(self, file: TranscriptFile) -> Iterator[Event]:
        """Yield the events message by message."""
        return self.events(messages(file))

    def events(self, conversation: Iterable[Message]) -> Iterator[Event]:
        """
        Yield the events of messages from any source, in order.

        Args:
            conversation: The messages, one conversation after the other.
        """
        current = None
        calls = OpenCalls()
        without_id: list[ToolCall] = []
        for line, session, message in conversation:
            if session != current:
                current, calls, without_id = session, OpenCalls(), []
            role = message["role"]
            if role == "user":
                yield UserMessage(line, session)
            elif role == "assistant":
                without_id = []
                for call in openai_chat.tool_calls(message, session_id=session):
                    without_id += [call] if call.id is None else []
                    yield from calls.add(line, call)
                tokens = openai_chat.tokens_of(message.get("usage"))
                if tokens:
                    yield TokensUsed(line, tokens, session)
            elif role in _RESULTS:
                returned = calls.pop(message.get("tool_call_id"))
                if returned is None and without_id:
                    returned = without_id.pop(0)
                if returned is not None:
                    outcome = outcome_without_advice(returned, message, openai_chat.outcome_of)
                    yield ToolReturned(line, returned, outcome)
