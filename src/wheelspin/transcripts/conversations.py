"""Conversations in files of chat messages: a list of messages, an object with one, or many of either."""

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
    """Its line in JSONL; in a JSON document, its place, or that of its conversation."""
    conversation: str
    """Which of the file's conversations it is of."""
    content: dict[str, Any]
    """The message itself."""


def messages(source: TranscriptFile) -> Iterator[Message]:
    """
    Give all messages of a file, conversation by conversation.

    Args:
        source: A file of messages, or of objects with lists of messages, as JSON or as JSONL.
    """
    items = source.lines() if source.head().first is not None else source.documents()
    for place, item in items:
        if _is_message(item):
            yield Message(place, "1", item)
            continue
        for number, found in enumerate(_lists(item, 0), 1):
            for message in found:
                if _is_message(message):
                    yield Message(place, f"{place}" if number == 1 else f"{place}.{number}", message)


def sample(head: Head) -> list[dict[str, Any]]:
    """Give the messages at the beginning of a JSONL file, to tell its format from."""
    found = []
    for line in head.objects():
        found += [line] if _is_message(line) else [item for part in _lists(line, 0) for item in part]
    return [message for message in found if isinstance(message, dict)]


def mentions(head: Head, words: Iterable[str]) -> bool:
    """Tell whether a JSON document, of which only the head is at hand, holds messages and one of these words."""
    is_document = head.data.lstrip()[:1] in {b"{", b"["} and head.first is None
    return is_document and b'"role"' in head.data and any(f'"{word}"'.encode() in head.data for word in words)


def _is_message(item: object) -> bool:
    return isinstance(item, dict) and isinstance(item.get("role"), str)


def _lists(item: object, depth: int) -> Iterator[list[Any]]:
    """Find the lists of messages in an object."""
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
