"""Conversations in files of chat messages: a list of messages, an object that contains one, or many of either."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from wheelspin.transcripts.files import Head, TranscriptFile

__all__ = ["Message", "mentions", "messages", "sample"]

_KEYS = (
    "messages",
    "traj",
    "trajectory",
    "conversation",
    "conversations",
    "history",
    "simulation",
    "simulations",
)
_DEEPEST = 4


class Message(NamedTuple):
    """One message."""

    line: int
    """Its line in a JSONL file; in a JSON document, the number of its item or of its conversation."""
    conversation: str
    """Id of the conversation within the file."""
    content: dict[str, Any]
    """The message itself."""


def messages(file: TranscriptFile) -> Iterator[Message]:
    """
    Yield all messages of a file, conversation by conversation.

    Args:
        file: A file of messages, or of objects that contain lists of messages, in JSON or JSONL.
    """
    items = file.lines() if file.head().first is not None else file.documents()
    for line, item in items:
        if _is_message(item):
            yield Message(line, "1", item)
            continue
        for number, found in enumerate(_lists(item, 0), 1):
            for message in found:
                if _is_message(message):
                    yield Message(line, f"{line}" if number == 1 else f"{line}.{number}", message)


def sample(head: Head) -> list[dict[str, Any]]:
    """Return the messages at the beginning of a JSONL file, by which its format is recognised."""
    found = []
    for line in head.objects():
        found += [line] if _is_message(line) else [item for part in _lists(line, 0) for item in part]
    return [message for message in found if isinstance(message, dict)]


def mentions(head: Head, words: Iterable[str]) -> bool:
    """Return whether the beginning of a JSON document contains messages and one of these words."""
    is_document = head.data.lstrip()[:1] in {b"{", b"["} and head.first is None
    return is_document and b'"role"' in head.data and any(f'"{word}"'.encode() in head.data for word in words)


def _is_message(item: object) -> bool:
    return isinstance(item, dict) and isinstance(item.get("role"), str)


def _lists(item: object, depth: int) -> Iterator[list[Any]]:
    """Yield the lists of messages in an object."""
    if depth > _DEEPEST or not isinstance(item, dict | list):
        return
    if isinstance(item, list):
        if any(map(_is_message, item)):
            yield item
        else:
            for part in item:
                yield from _lists(part, depth + 1)
        return
    for key in _KEYS:
        if key in item:
            yield from _lists(item[key], depth + 1)
