"""JSON as agents write it, including values that the standard forbids."""

from __future__ import annotations

import json
from typing import Any

from orjson import JSONDecodeError, loads

__all__ = ["NOT_JSON", "parsed"]

NOT_JSON = object()
"""Result of `parsed` for text that is not valid JSON."""


def parsed(data: bytes | str) -> Any:
    """
    Parse JSON, including NaN and lone surrogates, which orjson rejects.

    Args:
        data: The text.

    Returns:
        The value; `NOT_JSON` if the text is not valid JSON.
    """
    try:
        return loads(data)
    except JSONDecodeError:
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            return NOT_JSON
