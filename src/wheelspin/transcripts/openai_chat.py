"""OpenAI chat messages: one conversation or many, as in tau-bench's results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from wheelspin.core.events import ToolCall
from wheelspin.transcripts.base import Event, OpenCalls, Reader, TokensUsed, ToolReturned, UserMessage
from wheelspin.transcripts.conversations import Message, mentions, messages, sample
from wheelspin.transcripts.files import Head, TranscriptFile
from wheelspin.wire import openai_chat

_SPEAKERS = ("user", "assistant", "system")
_ROLES = (*_SPEAKERS, "tool")
_RESULTS = ("tool", "function")


class OpenAIChat(Reader):
    """
    Read OpenAI chat messages.

    Each conversation of a file is a session of its own. The format marks no errors and no compactions.
    """

    name = "openai_chat"
    title = "OpenAI chat messages"
    place = "item"

    def matches(self, head: Head) -> bool:
        """Tell it by messages with calls in OpenAI's way; a conversation without any calls is taken for one, too."""
        found = sample(head)
        if found:
            return any(message.get("role") in _ROLES for message in found)
        return mentions(head, _SPEAKERS)

    def read(self, source: TranscriptFile) -> Iterator[Event]:
        """Give the events, message by message."""
        return self.events(messages(source))

    def events(self, said: Iterable[Message]) -> Iterator[Event]:
        """
        Give the events of messages, in their order.

        Args:
            said: The messages, conversation by conversation, wherever they are from.
        """
        conversation = None
        calls = OpenCalls()
        unnamed: list[ToolCall] = []
        for line, session, message in said:
            if session != conversation:
                conversation, calls, unnamed = session, OpenCalls(), []
            role = message["role"]
            if role == "user":
                yield UserMessage(line, session)
            elif role == "assistant":
                unnamed = []
                for call in openai_chat.tool_calls(message, session_id=session):
                    unnamed += [call] if call.id is None else []
                    yield from calls.ask(line, call)
                tokens = openai_chat.tokens_of(message.get("usage"))
                if tokens:
                    yield TokensUsed(line, tokens, session)
            elif role in _RESULTS:
                answered = calls.answered(message.get("tool_call_id"))
                if answered is None and unnamed:
                    answered = unnamed.pop(0)
                if answered is not None:
                    yield ToolReturned(line, answered, openai_chat.outcome_of(answered, message))
