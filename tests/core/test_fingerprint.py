"""Fingerprints: equal for equal values, everywhere; never raising, whatever the value."""

from __future__ import annotations

import array
import collections
import ctypes
import dataclasses
import datetime
import decimal
import enum
import json
import subprocess
import sys
import types
import uuid
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wheelspin.core import fingerprint as module
from wheelspin.core.fingerprint import digest, fingerprint

PINNED = json.loads((Path(__file__).parent / "fingerprints.json").read_text())

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.just("\ud800")
    | st.text(min_size=1020)
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner, inner)
        | st.dictionaries(SCALARS, inner, max_size=4)
        | st.sets(SCALARS, max_size=4)
        | st.frozensets(SCALARS, max_size=4)
    ),
    max_leaves=20,
)


class Colour(enum.Enum):
    RED = "red"


class Fraction(float):
    """A number of a type of its own."""


class Torn:
    """An object that fails when it is asked for its class."""

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        raise RuntimeError


class Shape(enum.Enum):
    LIST = (1, 2)
    SET = frozenset({1, 2})


class Word(enum.StrEnum):
    RED = "red"


class Number(enum.IntEnum):
    ONE = 1


class Point(NamedTuple):
    x: int
    y: int


@dataclasses.dataclass
class Box:
    width: int
    inside: Any = None


class Slotted:
    __slots__ = ("left", "right")

    def __init__(self) -> None:
        self.left = 1


class Hostile:
    """An object that fails at everything that it is asked."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError

    __str__ = __repr__
    __eq__ = __hash__ = None  # type: ignore[assignment]


def _nested(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


def _cycle() -> list[Any]:
    value: list[Any] = [1]
    value.append({"again": value})
    return value


EQUAL = {
    "key order": ({"a": 1, "b": [1, {"x": 1, "y": 2}]}, {"b": [1, {"y": 2, "x": 1}], "a": 1}),
    "whole floats": ({"a": 1, "b": 0}, {"a": 1.0, "b": -0.0}),
    "huge whole floats": (2**100, float(2**100)),
    "tuples and lists": ([1, [2]], (1, (2,))),
    "named tuples": (Point(1, 2), [1, 2]),
    "ordered dictionaries": (collections.OrderedDict(b=1, a=2), {"a": 2, "b": 1}),
    "numbers of a type of their own": ([Fraction(0.5)], [0.5]),
    "lists and sets in an enumeration": ([Shape.LIST, Shape.SET], [[1, 2], {1, 2}]),
    "views of a mapping": (types.MappingProxyType({"a": 1}), {"a": 1}),
    "queues": (collections.deque([1, 2]), [1, 2]),
    "enumerations": ([Colour.RED, Word.RED, Number.ONE, {Word.RED: 1}], ["red", "red", 1, {"red": 1}]),
    "sets": ({1, 2, "x"}, {"x", 2, 1}),
    "sets of sets": ({frozenset([1, 2])}, {frozenset([2, 1])}),
    "kinds of bytes": (b"ab", bytearray(b"ab")),
    "views of bytes": (b"ab", memoryview(b"ab")),
    "objects with equal fields": (Box(1, [2]), Box(1, [2])),
    "objects with equal slots": (Slotted(), Slotted()),
    "cycles": (_cycle(), _cycle()),
    "deep nesting": (_nested(10_000), _nested(10_000)),
    "shared parts": ([_nested(1)] * 3, [_nested(1), _nested(1), _nested(1)]),
    "not a number": ([float("nan")], [float("nan")]),
    "keys of all kinds": ({1: "a", "1": "b", None: "c", (1, 2): "d"}, {(1, 2): "d", None: "c", "1": "b", 1: "a"}),
    "errors": (ValueError("x", 1), ValueError("x", 1)),
}

UNEQUAL = {
    "a number and its text": (1, "1"),
    "true and one": (True, 1),
    "false, zero and nothing": (False, None),
    "blanks": ("a", " a"),
    "case": ("a", "A"),
    "an empty list and an empty mapping": ([], {}),
    "a missing and a null key": ({}, {"a": None}),
    "keys and values": ({"a": "b"}, {"b": "a"}),
    "nesting": ([[1], 2], [1, [2]]),
    "text that looks like the writing": (["s1:a"], ["a", "s1:a"]),
    "bytes and text": (b"a", "a"),
    "sets and lists": ({1, 2}, [1, 2]),
    "a text key and a number key": ({"1": 0}, {1: 0}),
    "the last sign of a long text": ("x" * 5000 + "a", "x" * 5000 + "b"),
    "the last sign of a very long text": ("x" * 3_000_000 + "a", "x" * 3_000_000 + "b"),
    "huge numbers": (2**200, 2**200 + 1),
    "infinities": (float("inf"), float("-inf")),
    "a lone surrogate": ("\ud800", "\ud801"),
    "types of objects": (Box(1), Slotted()),
    "fields of objects": (Box(1), Box(2)),
    "times": (datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)),
    "decimals": (decimal.Decimal("1.0"), decimal.Decimal("1.1")),
    "paths": (PurePosixPath("/a"), PurePosixPath("/b")),
    "unique ids": (uuid.UUID(int=1), uuid.UUID(int=2)),
    "arrays": (array.array("d", [1.0]), array.array("d", [2.0])),
    "arrays of other types": (array.array("i", [1]), array.array("I", [1])),
    "ranges": (range(10**12), range(10**12 + 1)),
    "kinds of errors": (ValueError("x"), TypeError("x")),
}

OPAQUE = {
    "a bare object": object(),
    "a generator": (number for number in [1]),
    "a function": _nested,
    "a module": sys,
    "a file": sys.__stdout__,
    "an object of a type that is written in C": collections.Counter().__class__.__subclasses__,
    "a buffer of addresses": (ctypes.c_void_p * 2)(),
    "one deep inside": {"a": [1, {"b": object()}]},
    "one in a set": {object()},
    "one for a key": {object(): 1},
}


@pytest.mark.parametrize(("left", "right"), EQUAL.values(), ids=EQUAL.keys())
def test_equal_values_have_equal_fingerprints(left: object, right: object) -> None:
    """What does not count, does not count."""
    assert fingerprint(left) == fingerprint(right)


@pytest.mark.parametrize(("left", "right"), UNEQUAL.values(), ids=UNEQUAL.keys())
def test_unequal_values_have_unequal_fingerprints(left: object, right: object) -> None:
    """Everything else is exact."""
    assert fingerprint(left) != fingerprint(right)
    assert fingerprint([left]) != fingerprint([right])


@pytest.mark.parametrize("value", OPAQUE.values(), ids=OPAQUE.keys())
def test_what_cannot_be_looked_into_is_said_to_be_opaque(value: object) -> None:
    """Two such values may differ although nothing shows it, so they must not count as equal outcomes."""
    assert digest("", value)[1] is False


@pytest.mark.parametrize("value", [*(left for left, _ in EQUAL.values()), *(left for left, _ in UNEQUAL.values())])
def test_what_can_be_looked_into_is_whole(value: object) -> None:
    """A value of which everything was seen proves something."""
    assert digest("", value)[1] is True


@given(ANYTHING)
def test_a_fingerprint_has_sixteen_bytes_and_is_the_same_again(value: object) -> None:
    """No value raises, and asking twice gives the same."""
    assert len(fingerprint(value)) == 16
    assert fingerprint(value) == fingerprint(value)


@given(JSON)
def test_a_value_that_was_written_and_read_as_json_has_the_same_fingerprint(value: object) -> None:
    """What a host reads from a file is what another host had in memory."""
    assert fingerprint(value) == fingerprint(json.loads(json.dumps(value)))


@given(st.dictionaries(st.text(), JSON), st.randoms())
def test_key_order_does_not_count(value: dict[str, object], random: Any) -> None:
    """The order in which a model writes its arguments means nothing (SPEC 4.1)."""
    shuffled = list(value.items())
    random.shuffle(shuffled)

    assert fingerprint(value) == fingerprint(dict(shuffled))


@given(JSON, JSON)
def test_unequal_json_values_have_unequal_fingerprints(left: object, right: object) -> None:
    """The text that is digested tells all values apart."""
    equal = json.dumps(_plain(left), sort_keys=True) == json.dumps(_plain(right), sort_keys=True)

    assert equal == (fingerprint(left) == fingerprint(right))


def _plain(value: Any) -> Any:
    """Write whole floats as the whole numbers that they are equal to."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@given(ANYTHING)
def test_the_quick_way_and_the_thorough_way_write_the_same(value: object) -> None:
    """Which of the two is taken depends on the caller's stack, so it must not show."""
    try:
        quick = module._plain(value, [])
    except (KeyError, TypeError):
        return
    thorough: list[str] = []
    module._walk(value, thorough)

    assert quick == "".join(thorough)


@pytest.mark.parametrize("kind", ["lists", "mappings"])
def test_shared_parts_without_number_come_to_an_end(kind: str) -> None:
    """Sixty levels of which each holds the next twice have more parts than can be written."""
    value: Any = [1]
    for _ in range(60):
        value = [value, value] if kind == "lists" else {"a": value, "b": value}

    assert digest("", value)[1] is False


def test_a_value_of_very_many_parts_is_seen_whole() -> None:
    """The quick way gives up on it, and the thorough way takes over."""
    value = {"rows": [{"n": number} for number in range(30_000)]}
    other = {"rows": [{"n": number} for number in range(29_999)] + [{"n": 0}]}

    assert digest("", value)[1] is True
    assert fingerprint(value) != fingerprint(other)


def test_an_object_that_holds_half_the_application_comes_to_an_end() -> None:
    """Looking into objects stops at a number that no result has."""
    value: Any = None
    for _ in range(20_000):
        value = Box(1, value)

    assert digest("", value)[1] is False


def test_a_hostile_object_does_no_harm() -> None:
    """Nothing of the user's is called, so nothing of it can fail."""
    assert len(fingerprint({"a": Hostile(), "b": [Hostile(), Torn()], "c": {Torn(): 1}})) == 16
    assert digest("", Torn())[1] is False


def test_a_deep_stack_does_not_change_a_fingerprint() -> None:
    """An agent that is called from deep inside an application gets the same fingerprints."""
    value = {"a": [{"b": [{"c": [1, 2, 3]}]}]}

    def deep(levels: int) -> bytes:
        return fingerprint(value) if levels == 0 else deep(levels - 1)

    def deepest() -> Iterator[bytes]:
        for levels in range(sys.getrecursionlimit() - 200, sys.getrecursionlimit()):
            try:
                yield deep(levels)
            except RecursionError:
                return

    assert set(deepest()) == {fingerprint(value)}


def test_a_hundred_megabytes_are_digested() -> None:
    """A large result is read in parts, with and without signs that take more than a byte."""
    assert fingerprint("x" * 100_000_000) != fingerprint("x" * 99_999_999 + "é")


@pytest.mark.parametrize("name", PINNED)
def test_fingerprints_are_those_of_earlier_versions(name: str) -> None:
    """A store that an earlier version wrote is understood by this one."""
    value = eval(PINNED[name]["value"], {"datetime": datetime, "decimal": decimal})  # noqa: S307 - our own data

    assert PINNED[name]["fingerprint"] == fingerprint(value).hex()


def test_another_process_gives_the_same_fingerprints() -> None:
    """No hash seed and no memory address enters one."""
    code = (
        "from wheelspin.core.fingerprint import fingerprint as f\n"
        "print(f({'b': {1, 2, 'x'}, 'a': [object(), frozenset('xyz')]}).hex())"
    )
    runs = {
        subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, "-c", code], check=True, capture_output=True, text=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("0", "1", "2")
    }

    assert len(runs) == 1
