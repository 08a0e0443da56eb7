"""Token usage of a turn, which every provider records under different keys."""

from __future__ import annotations

__all__ = ["tokens_in"]


def tokens_in(usage: object, counts: tuple[str, ...], total: str | None = None) -> int:
    """
    Return the total tokens of a usage record; 0 if it is not one.

    Args:
        usage: The record.
        counts: Keys of the counts to add up if there is no total.
        total: Key of the total, if the provider records one.
    """
    if type(usage) is not dict:
        return 0
    if total is not None and type(recorded := usage.get(total)) is int:
        return recorded
    tokens = 0
    for key in counts:
        count = usage.get(key)
        if type(count) is int:
            tokens += count
    return tokens
