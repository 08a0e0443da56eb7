"""What a turn cost: every provider tells it under names of its own."""

from __future__ import annotations

__all__ = ["tokens_in"]


def tokens_in(usage: object, counts: tuple[str, ...], total: str | None = None) -> int:
    """
    Give all tokens of a usage record; 0 where it is none.

    Args:
        usage: The record.
        counts: Keys of the parts that are added up where there is no total.
        total: Key of the total, where the provider tells one.
    """
    if type(usage) is not dict:
        return 0
    if total is not None and type(told := usage.get(total)) is int:
        return told
    tokens = 0
    for key in counts:
        count = usage.get(key)
        if type(count) is int:
            tokens += count
    return tokens
