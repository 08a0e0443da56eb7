"""Anthropic messages: one conversation or many, as programs that call the API themselves keep them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from wheelspin.transcripts.base import Compacted, Event, OpenCalls, Reader, TokensUsed, ToolReturned, UserMessage
from wheelspin.transcripts.conversations import Message, mentions, messages, sample
from wheelspin.transcripts.files import Head, TranscriptFile
from wheelspin.wire import anthropic

_TYPES = (*anthropic.CALLS, "tool_result")


class AnthropicMessages(Reader):
    """
    Read Anthropic messages.

    Each conversation of a file is a session of its own. A block of the type `compaction` is a compaction.
    """

    name = "anthropic_messages"
    title = "Anthropic messages"
    place = "item"

    def matches(self, head: Head) -> bool:
        """Tell it by blocks of Anthropic's types."""
        found = sample(head)
        if found:
            return any(block.get("type") in _TYPES for message in found for block in anthropic.blocks_of(message))
        return mentions(head, _TYPES)

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
        for line, session, message in said:
            if session != conversation:
                conversation, calls = session, OpenCalls()
            blocks = anthropic.blocks_of(message)
            if any(block.get("type") == "compaction" for block in blocks):
                yield Compacted(line, session)
            if message["role"] == "assistant":
                for call in anthropic.tool_uses(message, session_id=session):
                    yield from calls.ask(line, call)
                tokens = anthropic.tokens_of(message.get("usage"))
                if tokens:
                    yield TokensUsed(line, tokens, session)
            for block in blocks:
                answered = calls.answered(block.get("tool_use_id"))
                if answered is not None:
                    yield ToolReturned(line, answered, anthropic.outcome_of(answered, block))
            if message["role"] == "user" and anthropic.is_prompt(blocks):
                yield UserMessage(line, session)
