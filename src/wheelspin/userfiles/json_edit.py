"""
Edits of single places in a JSON text that leave every other byte as it is, because settings files belong to the user.

The text may have comments (`//`, `/* */`) and trailing commas, as many agents allow. Inserted text follows the
indentation of the file, on lines of its own if the file has them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

__all__ = ["JsonEditError", "with_item", "without_items"]

_BLANK = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SCALAR = re.compile(r"[^\s,\]}/]+")
_REST_OF_LINE = re.compile(r"[ \t]*(?://[^\n]*|/\*[^\n]*?\*/)?[ \t]*(?=\r?\n)")
_INDENT = "  "


class JsonEditError(ValueError):
    """A text is not valid JSON, or has another type where a list or an object is expected."""


class _Node(NamedTuple):
    """The position of a value in a text."""

    kind: str
    start: int
    end: int
    keys: tuple[str, ...]
    parts: tuple[_Node, ...]
    starts: tuple[int, ...]
    """Start of each member: of its key in an object, of the item in a list."""


def with_item(text: str, path: Sequence[str], item: Any) -> str:
    """
    Return a text with an item appended to a list. A missing list, and missing objects around it, are created.

    Args:
        text: A JSON text; an empty text stands for an empty object.
        path: The keys that lead to the list.
        item: The item, as a JSON value.

    Raises:
        JsonEditError: The text is not valid JSON, or has no object or list where the path leads.

    Example:
        >>> with_item('{"a": 1}', ["hooks", "Pre"], {"x": 2})
        '{"a": 1, "hooks": {"Pre": [{"x": 2}]}}'
    """
    if not text.strip():
        text = "{}\n"
    node = _read(text)
    for depth, key in enumerate(path):
        if node.kind != "object":
            raise JsonEditError(f"{_name(path[:depth])} is not an object")
        if key not in node.keys:
            value: Any = [item]
            for missing in reversed(path[depth + 1 :]):
                value = {missing: value}
            return _insert(text, node, depth, key, value)
        node = node.parts[len(node.keys) - 1 - node.keys[::-1].index(key)]
    if node.kind != "array":
        raise JsonEditError(f"{_name(path)} is not a list")
    return _insert(text, node, len(path), None, item)


def without_items(text: str, path: Sequence[str], is_meant: Callable[[Any], bool]) -> str:
    """
    Return a text without some items of a list. A list that becomes empty is removed with its key, as are empty objects.

    Args:
        text: A JSON text.
        path: The keys that lead to the list; if there is no such list, nothing changes.
        is_meant: Returns whether to remove an item.

    Raises:
        JsonEditError: The text is not valid JSON.

    Example:
        >>> without_items('{"a": 1, "hooks": {"Pre": [7]}}', ["hooks", "Pre"], lambda item: item == 7)
        '{"a": 1}'
    """
    while text.strip():
        nodes = [_read(text)]
        for key in path:
            node = nodes[-1]
            if node.kind != "object" or key not in node.keys:
                return text
            nodes.append(node.parts[node.keys.index(key)])
        found = nodes[-1]
        if found.kind != "array":
            return text
        values = [_value(text[part.start : part.end]) for part in found.parts]
        meant = [place for place, value in enumerate(values) if is_meant(value)]
        if not meant:
            return text
        text = _cut(text, nodes, path, meant[0])
    return text


def _name(path: Sequence[str]) -> str:
    return f"`{'.'.join(path)}`" if path else "the file"


def _cut(text: str, nodes: list[_Node], path: Sequence[str], place: int) -> str:
    """Remove an item, or the outermost member that contains nothing else, along with its comma and line."""
    depth = len(nodes) - 1
    while depth and len(nodes[depth].parts) == 1:
        depth -= 1
        place = nodes[depth].keys.index(path[depth])
    node = nodes[depth]
    if len(node.parts) == 1:
        return text[: node.start + 1] + text[node.end - 1 :]
    start, end = node.starts[place], node.parts[place].end
    line = _line(text, start)
    comma = _skip(text, end)
    if text[comma] == ",":
        if line is not None:
            return text[:line] + text[comma + 1 :]
        is_last = place + 1 == len(node.parts)
        return text[:start] + text[comma + 1 if is_last else node.starts[place + 1] :]
    before = _skip(text, node.parts[place - 1].end)
    between = text[before + 1 : line] if line is not None else ""
    return text[:before] + between + text[end:]


def _line(text: str, start: int) -> int | None:
    """Return the end of the line before a member; `None` if the member is not the first on its line."""
    line = text.rfind("\n", 0, start)
    if line < 0 or text[line:start].strip():
        return None
    return line - text.startswith("\r\n", line - 1)


def _insert(text: str, node: _Node, depth: int, key: str | None, value: Any) -> str:
    """Insert a member at the end of an object or a list, with the line endings of the text."""
    end_of_line = "\r\n" if "\r\n" in text else "\n"
    head = "" if key is None else f"{json.dumps(key)}: "
    if not node.parts:
        written = _written(head, value, _INDENT * (depth + 1), _INDENT).replace("\n", end_of_line)
        return f"{text[: node.start + 1]}{written}{end_of_line}{_INDENT * depth}{text[node.end - 1 :]}"
    end = node.parts[-1].end
    comma = _skip(text, end)
    has_comma = text[comma] == ","
    if "\n" not in text[node.start : node.end]:
        end = comma + 1 if has_comma else end
        return f"{text[:end]}{' ' if has_comma else ', '}{head}{json.dumps(value, ensure_ascii=False)}{text[end:]}"
    line = _line(text, node.starts[-1])
    before = _INDENT * (depth + 1) if line is None else text[line : node.starts[-1]].lstrip("\r\n")
    step = before[: len(before) // (depth + 1)]
    written = _written(head, value, before, step).replace("\n", end_of_line)
    if has_comma:
        after = _REST_OF_LINE.match(text, comma + 1)
        place = after.end() if after else comma + 1
        return f"{text[:place]}{written},{text[place:]}"
    after = _REST_OF_LINE.match(text, end)
    place = after.end() if after else end
    return f"{text[:end]},{text[end:place]}{written}{text[place:]}"


def _written(head: str, value: Any, before: str, step: str) -> str:
    """Return a member on lines of its own that begin with `before` and are indented by `step`."""
    text = json.dumps(value, indent=step, ensure_ascii=False).replace("\n", "\n" + before)
    return f"\n{before}{head}{text}"


def _value(text: str) -> Any:
    """Decode a value; return `None` for one with comments, which Wheelspin never writes."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def _read(text: str) -> _Node:
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    node = _node(text, start)
    if _skip(text, node.end) != len(text):
        raise JsonEditError("it has more than one JSON value")
    return node


def _skip(text: str, place: int) -> int:
    match = _BLANK.match(text, place)
    return match.end() if match else place


def _node(text: str, start: int) -> _Node:
    sign = text[start : start + 1]
    if sign in {"{", "["}:
        return _holder(text, start, sign)
    match = _STRING.match(text, start) if sign == '"' else _SCALAR.match(text, start)
    if match is None:
        raise JsonEditError(f"it is not valid JSON at character {start + 1}")
    return _Node("string" if sign == '"' else "scalar", start, match.end(), (), (), ())


def _holder(text: str, start: int, sign: str) -> _Node:
    """Read an object or a list."""
    end_sign = "}" if sign == "{" else "]"
    keys: list[str] = []
    parts: list[_Node] = []
    starts: list[int] = []
    place = _skip(text, start + 1)
    while text[place : place + 1] != end_sign:
        starts.append(place)
        if sign == "{":
            key = _STRING.match(text, place)
            colon = _skip(text, key.end()) if key else place
            if key is None or text[colon : colon + 1] != ":":
                raise JsonEditError(f"it is not valid JSON at character {place + 1}")
            keys.append(json.loads(key.group()))
            place = _skip(text, colon + 1)
        parts.append(_node(text, place))
        place = _skip(text, parts[-1].end)
        if text[place : place + 1] == ",":
            place = _skip(text, place + 1)
        elif text[place : place + 1] != end_sign:
            raise JsonEditError(f"it is not valid JSON at character {place + 1}")
    kind = "object" if sign == "{" else "array"
    return _Node(kind, start, place + 1, tuple(keys), tuple(parts), tuple(starts))
