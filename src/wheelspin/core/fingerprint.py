"""
Stable 128-bit digests of any Python value (SPEC 3 and 4.1).

One walk writes the value down as a text that no unequal value shares, and XXH3 digests the text. Three rules hold here:

1. Key order is ignored, `1` and `1.0` are equal, everything else is exact.
2. Equal values have equal digests in every process, on every machine and in every version: no memory address, no hash
   seed and no `repr` of an arbitrary object ever enters one. `tests/core/fingerprints.json` pins the digests.
3. No value raises an exception. What cannot be inspected is *opaque*, and proves nothing.

| written | for |
| --- | --- |
| `N` `T` `F` | `None`, `True`, `False` |
| `i…;` | a whole number, in hexadecimal |
| `f…;` | any other float, as `repr` writes it |
| `s<length>:…` | a string |
| `S<length>:…` | a long string, as the digest of its UTF-8 form |
| `b<length>:…` | bytes, and anything else with a buffer, as the digest of its content |
| `d<size>:` and the sorted keys, then the values | a mapping |
| `l<size>:` and the items | a list or a tuple |
| `o<length>:<type>` before any of these | an arbitrary object whose content can be inspected |
| `^<levels>;` | the container so many levels up: a cycle |
| `?<type>;` | an object that cannot be inspected: the value is opaque |
"""

from __future__ import annotations

from functools import partial

from xxhash import xxh3_128, xxh3_128_digest, xxh3_128_hexdigest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

__all__ = ["digest", "fingerprint"]

_INLINE = 1024
"""Characters up to which a string is written into the text; a longer one is digested separately, without a copy."""
_SLICE = 1 << 20
"""Characters of a long string that are encoded at once, so that a 100 MB result does not need another 100 MB."""
_SHAPES_KEPT = 512
"""Sets of mapping keys whose written form is cached: an agent's tools use the same few again and again."""
_SHAPE_LENGTH = 256
"""Characters of keys up to which that form is cached."""
_PLAIN_LIMIT = 20_000
"""Containers up to which the fast path is tried."""
_SHARED_LIMIT = 100_000
"""Shared containers to write again before the rest is opaque: nested ones can grow without bound."""
_OBJECT_LIMIT = 10_000
"""Arbitrary objects after which the rest is opaque: a client or a session can hold half the application."""


def fingerprint(value: object) -> bytes:
    """
    Return the 16-byte digest of a value.

    Args:
        value: Anything: JSON values, bytes, sets, objects, cycles. It is read, never changed.

    Returns:
        16 bytes, equal for equal values in every process and version.

    Example:
        >>> fingerprint({"a": 1, "b": [2]}) == fingerprint({"b": [2.0], "a": 1})
        True
    """
    return digest("", value)[0]


def digest(prefix: str, value: object) -> tuple[bytes, bool]:
    """
    Return the digest of a value with a prefix, and whether all of the value could be inspected.

    Args:
        prefix: What kind of value it is. No prefix in use may be the beginning of another.
        value: Anything.

    Returns:
        16 bytes; and `False` if a part of the value is opaque: two such values may differ although their digests are
            equal, so equal digests prove nothing.
    """
    whole = True
    try:
        text = prefix + _plain(value, [])
    except (KeyError, TypeError, _TooManyError, RecursionError):
        parts = [prefix]
        whole = _walk(value, parts)
        text = "".join(parts)
    try:
        return xxh3_128_digest(text.encode()), whole
    except UnicodeEncodeError:
        return xxh3_128_digest(text.encode("utf-8", "surrogatepass")), whole


class _TooManyError(Exception):
    """A value has too many containers for the fast path."""


def _plain(value: Any, met: list[None]) -> str:
    """
    Write down a value of plain JSON types: the fast path.

    Args:
        value: The value.
        met: One item for each container so far.

    Raises:
        KeyError, TypeError: It contains something else.
        RecursionError: It is too deep, or has a cycle.
        _TooManyError: It has too many containers.
    """
    kind = type(value)
    if kind is dict:
        met.append(None)
        if len(met) > _PLAIN_LIMIT:
            raise _TooManyError
        try:
            text, keys = _shapes[tuple(value)]
        except KeyError:
            text, keys = _shape(value)
        for key in keys:
            child = value[key]
            kind = type(child)
            if kind is str and len(child) <= _INLINE:
                text += f"s{len(child)}:{child}"
            elif kind is int:
                text += f"i{child:x};"
            else:
                text += _plain(child, met)
        return text
    if kind is list or kind is tuple:
        met.append(None)
        if len(met) > _PLAIN_LIMIT:
            raise _TooManyError
        text = f"l{len(value)}:"
        for item in value:
            text += _plain(item, met)
        return text
    return _SCALARS[kind](value)


def _walk(value: object, parts: list[str]) -> bool:
    """Write down any value, however deep; return whether all of it could be inspected."""
    write = parts.append
    waiting: list[Iterator[object]] = []
    inside: list[object] = []
    levels: dict[int, int] = {}
    children: Iterator[object] = iter((value,))
    whole = True
    seen: set[int] = set()
    shared = objects = 0
    while True:
        for child in children:
            token = _token(child)
            if token is not None:
                write(token)
                continue
            if id(child) in levels:
                write(f"^{len(inside) - levels[id(child)]};")
                continue
            shared += id(child) in seen
            objects += type(child) not in _CONTAINERS
            if shared > _SHARED_LIMIT or objects > _OBJECT_LIMIT:
                write("?;")
                return False
            head, content, visible = _open(child)
            write(head)
            whole = whole and visible
            seen.add(id(child))
            levels[id(child)] = len(inside)
            inside.append(child)
            waiting.append(children)
            children = iter(content)
            break
        else:
            if not inside:
                return whole
            del levels[id(inside.pop())]
            children = waiting.pop()


_shapes: dict[tuple[object, ...], tuple[str, list[Any]]] = {}


def _shape(item: dict[Any, object]) -> tuple[str, list[Any]]:
    """Write down the keys of a mapping, all strings; return the text, and the keys in its order."""
    keys = sorted(item)
    length = len("".join(keys))
    shape = f"d{len(keys)}:" + "".join([_text(key) for key in keys]), keys
    if length <= _SHAPE_LENGTH:
        if len(_shapes) >= _SHAPES_KEPT:
            _shapes.clear()
        _shapes[tuple(item)] = shape
    return shape


def _open(item: Any) -> tuple[str, Iterable[object], bool]:
    """Write down the head of a container; return it, the content, and whether all of the content can be inspected."""
    head, whole = "", True
    if type(item) not in _CONTAINERS:
        from wheelspin.core import python_objects  # rare, so a start without it is quicker

        try:
            found = python_objects.as_container(item, partial(digest, ""))
        except Exception:
            found = None
        if found is None:
            return f"?{python_objects.name_of(type(item))};", (), False
        label, item, whole = found
        head = f"o{len(label)}:{label}" if label else ""
    if not isinstance(item, dict):
        return f"{head}l{len(item)}:", item, whole
    try:
        text, keys = _shapes.get(tuple(item)) or _shape(item)
    except TypeError:
        return _open_mixed(head, item)
    return head + text, [item[key] for key in keys], whole


def _open_mixed(head: str, item: dict[object, object]) -> tuple[str, Iterable[object], bool]:
    """Do the same for a mapping whose keys are not all strings: they are sorted by what is written for them."""
    values = list(item.values())
    written = []
    whole = True
    for index, key in enumerate(item):
        token = _token(key)
        if token is None:
            found, visible = digest("", key)
            token = f"@{found.hex()}"
            whole = whole and visible
        written.append((token, index))
    written.sort()
    text = "".join([token for token, _ in written])
    return f"{head}d{len(written)}:{text}", [values[index] for _, index in written], whole


def _token(value: object) -> str | None:
    """Write down a scalar; return `None` if the value is not one."""
    kind = type(value)
    scalar = _SCALARS.get(kind)
    if scalar is not None:
        return scalar(value)
    return None if kind in _CONTAINERS else _object_token(value)


def _object_token(item: object) -> str | None:
    from wheelspin.core import python_objects

    try:
        found = python_objects.as_scalar(item)
    except Exception:
        return None
    if found is None:
        return None
    label, plain = found
    token = _SCALARS[type(plain)](plain)
    return f"o{len(label)}:{label}{token}" if label else token


def _text(value: str) -> str:
    size = len(value)
    if size <= _INLINE:
        return f"s{size}:{value}"
    if size <= _SLICE:
        return f"S{size}:{xxh3_128_hexdigest(value.encode('utf-8', 'surrogatepass'))}"
    stream = xxh3_128()
    for start in range(0, size, _SLICE):
        stream.update(value[start : start + _SLICE].encode("utf-8", "surrogatepass"))
    return f"S{size}:{stream.hexdigest()}"


def _int(value: int) -> str:
    return f"i{value:x};"


def _float(value: float) -> str:
    return f"i{int(value):x};" if value.is_integer() else f"f{value!r};"


def _bytes(value: bytes) -> str:
    return f"b{len(value)}:{xxh3_128_hexdigest(value)}"


_CONTAINERS = frozenset({dict, list, tuple})
_SCALARS: dict[type, Callable[[Any], str]] = {
    str: _text,
    int: _int,
    float: _float,
    bool: lambda value: "T" if value else "F",
    type(None): lambda _: "N",
    bytes: _bytes,
}
