"""
Remove the per-call identifiers from the result of a sent message (SPEC 4.2, rule 5).

Two "sent" results for the same message differ only in the ids and times that the messenger gave them. Without these
they are equal, so sending the same message forever is no progress.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable

__all__ = ["change_texts", "normalised_key", "read_json", "without_identifiers"]

_KEYS = frozenset(
    {
        "messageid",
        "messageids",
        "platformmessageid",
        "platformmessageids",
        "fileid",
        "fileids",
        "filekey",
        "pollid",
        "receipt",
        "receipts",
        "runid",
        "idempotencykey",
        "ts",
        "timestamp",
        "sentat",
        "deliveredat",
        "createdat",
    }
)
"""Keys whose value is an identifier or a time, as `normalised_key` writes them."""
_PARTS_OF_A_MESSAGE = frozenset({"text", "body", "content", "chat", "channel", "from", "to", "sender", "author"})
"""An object that has one of these beside its `id` is itself a message."""
_NAMED_IN_TEXT = r"\b(?:message|file|poll|run)[ _-]?id\b['\"]?\s*[:=#]?\s*['\"]?"
_MASK = "#"
_DEEPEST = 64
_LONGEST_TEXT = 1 << 16
_LONGEST_IDENTIFIER = 256
_MOST_IDENTIFIERS = 64


def normalised_key(key: object) -> object:
    """Return a key as it is compared: `messageId`, `message_id` and `message-id` are equal."""
    return key.replace("_", "").replace("-", "").lower() if isinstance(key, str) else key


def without_identifiers(result: object) -> object:
    """
    Return a result without its identifiers and times, at any depth and inside its texts.

    Args:
        result: What the sending tool returned; a text that is JSON is decoded.

    Example:
        >>> without_identifiers({"ok": True, "messageId": "m7", "note": "sent as m7"})
        {'ok': True, 'note': 'sent as #'}
    """
    identifiers: set[str] = set()
    kept = _keep(read_json(result), identifiers, is_message=False, depth=0)
    pattern = _pattern(identifiers)
    return change_texts(kept, lambda text: pattern.sub(_MASK, text) if len(text) <= _LONGEST_TEXT else text)


def read_json(value: object) -> object:
    """Decode a text that is JSON; return any other value as it is."""
    if not isinstance(value, str) or value[:1] not in {"{", "["} or len(value) > _LONGEST_TEXT:
        return value
    import json

    try:
        read: object = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return read


def _keep(value: object, identifiers: set[str], *, is_message: bool, depth: int) -> object:
    """Return a value without its identifiers, which are added to the set."""
    if depth > _DEEPEST:
        return value
    if isinstance(value, list | tuple):
        return [_keep(read_json(item), identifiers, is_message=is_message, depth=depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    is_message = is_message or not _PARTS_OF_A_MESSAGE.isdisjoint(value)
    kept = {}
    for key, item in value.items():
        if normalised_key(key) in _KEYS or (key == "id" and is_message):
            _collect(item, identifiers, depth)
        else:
            holds_message = key in {"message", "messages"}
            kept[key] = _keep(read_json(item), identifiers, is_message=holds_message, depth=depth + 1)
    return kept


def _collect(value: object, identifiers: set[str], depth: int) -> None:
    """Add every text and number of a dropped value to the set."""
    if depth > _DEEPEST or len(identifiers) >= _MOST_IDENTIFIERS:
        return
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            _collect(item, identifiers, depth + 1)
    elif isinstance(value, str) and 0 < len(value) <= _LONGEST_IDENTIFIER:
        identifiers.add(value)
    elif type(value) is int and value.bit_length() <= _LONGEST_IDENTIFIER:
        identifiers.add(str(value))


def _pattern(identifiers: set[str]) -> re.Pattern[str]:
    """Return a pattern for the identifiers as whole words, and for what a text itself calls an id."""
    import re

    known = [rf"(?<!\w){re.escape(word)}(?!\w)" for word in sorted(identifiers, key=len, reverse=True)]
    return re.compile("|".join([*known, rf"(?i:{_NAMED_IN_TEXT})[\w.:-]+"]))


def change_texts(value: object, change: Callable[[str], str], depth: int = 0) -> object:
    """
    Return a value in which every text is replaced; keys stay as they are.

    Args:
        value: Any value.
        change: Called with each text; returns its replacement.
        depth: Depth of the value; texts deeper than 64 levels stay as they are.
    """
    if isinstance(value, str):
        return change(str.__str__(value))
    if depth > _DEEPEST:
        return value
    if isinstance(value, dict):
        return {key: change_texts(item, change, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [change_texts(item, change, depth + 1) for item in value]
    return value
