"""
Paths into a value: they select a part of a call's arguments or of a result (SPEC 6.3).

`path` is a key, `options.depth` a key in a key, `todos[*].status` that key of every item of a list.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["parse", "pick", "without"]

_EVERY = "[*]"
_Path = tuple[str, ...]


def parse(path: object) -> _Path:
    """
    Split a path into its parts.

    Raises:
        ValueError: It is not a path.

    Example:
        >>> parse("todos[*].status")
        ('todos', '[*]', 'status')
    """
    if not isinstance(path, str) or not path.strip():
        raise ValueError(f"{path!r} is not a path: write `key`, `key.key` or `key[*].key`")
    parts: list[str] = []
    for piece in path.strip().split("."):
        key = piece
        depth = 0
        while key.endswith(_EVERY):
            key = key[: -len(_EVERY)]
            depth += 1
        if "[" in key or "]" in key or not (key or depth):
            raise ValueError(f"{path!r} is not a path: write `key`, `key.key` or `key[*].key`")
        parts += [key] * bool(key) + [_EVERY] * depth
    return tuple(parts)


def pick(value: Any, path: _Path) -> object:
    """
    Return the part of a value that a path leads to; `None` if there is none.

    Example:
        >>> pick({"todos": [{"status": "done"}, {"status": "open"}]}, parse("todos[*].status"))
        ['done', 'open']
    """
    for place, part in enumerate(path):
        if part == _EVERY:
            if not isinstance(value, list | tuple):
                return None
            return [pick(item, path[place + 1 :]) for item in value]
        if not isinstance(value, dict):
            return None
        value = value.get(part)
    found: object = value
    return found


def without(value: Any, path: _Path) -> object:
    """
    Return a copy of a value without the part that a path leads to.

    Example:
        >>> without({"took": 3, "rows": [{"id": 1, "name": "a"}]}, parse("rows[*].id"))
        {'took': 3, 'rows': [{'name': 'a'}]}
    """
    part, rest = path[0], path[1:]
    if part == _EVERY:
        if not isinstance(value, list | tuple):
            return value
        return [without(item, rest) for item in value] if rest else []
    if not isinstance(value, dict) or part not in value:
        return value
    kept = {key: item for key, item in value.items() if key != part}
    return {**kept, part: without(value[part], rest)} if rest else kept
