"""
Inspect values that are not plain JSON: what of them may enter a fingerprint.

Two rules hold here:

1. No code of the user's runs, only the `__str__` of a few types of the standard library: no `__repr__`, no property,
   no iterator.
2. An object that hides its content (a generator, a socket, an image in a C library) is opaque: two of them may differ
   although nothing shows it.
"""

from __future__ import annotations

from copyreg import _slotnames  # type: ignore[attr-defined]
from enum import Enum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_WRITTEN_AS_TEXT = frozenset(
    {
        "builtins.complex",
        "builtins.range",
        "datetime.date",
        "datetime.time",
        "datetime.timedelta",
        "datetime.timezone",
        "decimal.Decimal",
        "fractions.Fraction",
        "ipaddress._IPAddressBase",
        "pathlib.PurePath",
        "pathlib._local.PurePath",
        "uuid.UUID",
        "zoneinfo.ZoneInfo",
    }
)
_LISTED = frozenset({"builtins.dict_values", "builtins.dict_items", "collections.deque"})
_POINTER = 8


def name_of(kind: type) -> str:
    """Return the qualified name of a type."""
    return f"{kind.__module__}.{kind.__qualname__}"


def as_scalar(item: object) -> tuple[str, str | int | float | bytes] | None:
    """
    Return the plain scalar that a value stands for, with a label, or `None` if it is not a scalar.

    A string, a number or a member of an enumeration, of whatever class, counts as what it equals, without a label.
    """
    if isinstance(item, Enum):
        item = item.value
    if isinstance(item, str):
        return "", str.__str__(item)
    if isinstance(item, int):
        return "", int.__index__(item)
    if isinstance(item, float):
        return "", float.__float__(item)
    kind = type(item)
    if any(name_of(base) in _WRITTEN_AS_TEXT for base in kind.__mro__):
        return name_of(kind), str(item)
    return _buffer(item)


def _buffer(item: object) -> tuple[str, bytes] | None:
    """Return the content of an object with a buffer, unless the buffer holds addresses."""
    try:
        view = memoryview(item)  # type: ignore[arg-type]
    except TypeError:
        return None
    if "O" in view.format or "P" in view.format:
        return None
    return ("" if view.format == "B" and view.ndim == 1 else f"{view.format}{view.shape}"), view.tobytes()


def as_container(item: object, digest: Callable[[object], tuple[bytes, bool]]) -> tuple[str, object, bool] | None:
    """
    Return the plain container that shows the content of an object, or `None` if the object is opaque.

    Args:
        item: The object.
        digest: Returns the digest of a member of a set, and whether all of the member could be inspected.

    Returns:
        A label, the plain container, and whether all members of a set could be inspected.
    """
    if isinstance(item, Enum):
        item = item.value
    name = name_of(type(item))
    for base, members in _MEMBERS.items():
        if isinstance(item, base):
            plain = members(item)
            if base not in _SETS:
                return "", plain, True
            digests = [digest(member) for member in plain]
            return "set", sorted(found.hex() for found, _ in digests), all(whole for _, whole in digests)
    if name in _LISTED:
        return "", list(item), True  # type: ignore[call-overload]
    if isinstance(item, BaseException):
        return name, list(item.args), True
    return (name, _fields(item), True) if _shows_itself(type(item)) else None


_MEMBERS: dict[type, Callable[[Any], Any]] = {
    dict: lambda item: dict(dict.items(item)),
    list: lambda item: list(list.__iter__(item)),
    tuple: lambda item: list(tuple.__iter__(item)),
    set: lambda item: list(set.__iter__(item)),
    frozenset: lambda item: list(frozenset.__iter__(item)),
    type({}.keys()): list,
    type(Enum.__dict__): dict,
}
"""How to list the content of a container without calling a class of the user's; the last is a view of a mapping."""
_SETS = frozenset({set, frozenset, type({}.keys())})


def _shows_itself(kind: type) -> bool:
    """Return whether objects of this type have no state but their attributes and slots, as pickling checks it too."""
    seen = object.__basicsize__ + _POINTER * len(_slotnames(kind))
    seen += _POINTER * bool(kind.__dictoffset__) + _POINTER * bool(kind.__weakrefoffset__)
    visible = kind.__dictoffset__ or _slotnames(kind)
    return bool(visible) and not kind.__itemsize__ and kind.__basicsize__ <= seen


def _fields(item: object) -> dict[str, object]:
    try:
        fields = dict(object.__getattribute__(item, "__dict__"))
    except AttributeError:
        fields = {}
    for slot in _slotnames(type(item)):
        try:
            fields[slot] = object.__getattribute__(item, slot)
        except AttributeError:
            continue
    return fields
