"""Anthropic messages: one or more conversations, as programs store them that call the API themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from wheelspin.transcripts.base import Compacted, Event, OpenCalls, Reader, TokensUsed, UserMessage
from wheelspin.transcripts.conversations import Message, mentions, messages, sample
from wheelspin.transcripts.files import Head, TranscriptFile
from wheelspin.wire import anthropic

_TYPES = (*anthropic.CALLS, "tool_result")


class AnthropicMessages(Reader):
    """
    Read Anthropic messages.

    Each conversation in a file is a session. A block of the type `compaction` is a compaction.
    """

    name = "anthropic_messages"
    title = "Anthropic messages"
    unit = "item"

    def matches(self, head: Head) -> bool:
        """Return whether the file contains blocks of Anthropic's types."""
        found = sample(head)
        if found:
            return any(block.get("type") in _TYPES for message in found for block in anthropic.blocks_of(message))
        return mentions(head, _TYPES)

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
        for line, session, message in conversation:
            if session != current:
                current, calls = session, OpenCalls()
            blocks = anthropic.blocks_of(message)
            if any(block.get("type") == "compaction" for block in blocks):
                yield Compacted(line, session)
            if message["role"] == "assistant":
                for call in anthropic.tool_uses(message, session_id=session):
                    yield from calls.add(line, call)
                tokens = anthropic.tokens_of(message.get("usage"))
                if tokens:
                    yield TokensUsed(line, tokens, session)
            for block in blocks:
                yield from calls.returned(line, block.get("tool_use_id"), block, anthropic.outcome_of)
            if message["role"] == "user" and anthropic.is_prompt(blocks):
                yield UserMessage(line, session)
