"""JSON as agents write it: with values that the standard forbids, and text that is not JSON at all."""

from __future__ import annotations

import json
from typing import Any

from orjson import JSONDecodeError, loads

__all__ = ["NOT_JSON", "parsed"]

NOT_JSON = object()
"""What `parsed` returns for text that is not JSON."""


def parsed(data: bytes | str) -> Any:
    """
    Decode JSON, including the NaN and lone surrogates that orjson refuses.

    Args:
        data: The text.

    Returns:
        The value, or `NOT_JSON`.
    """
    try:
        return loads(data)
    except JSONDecodeError:
        try:
            return json.loads(data)
        except (ValueError, RecursionError):
            return NOT_JSON
