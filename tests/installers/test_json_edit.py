"""Edits of a JSON text change single places, and leave every other byte as it is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wheelspin.userfiles.json_edit import JsonEditError, with_item, without_items

PATH = ["hooks", "Pre"]
ITEM = {"hooks": [{"command": "guard", "timeout": 10}]}


def _is_item(item: Any) -> bool:
    return bool(item == ITEM)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
HOOKS = st.dictionaries(st.sampled_from(["Pre", "Post"]), st.lists(VALUES, max_size=3), max_size=2)


@st.composite
def documents(draw: st.DrawFn) -> tuple[Any, str]:
    """Generate an object, as a value and as a text with any indentation."""
    value = draw(st.dictionaries(st.text(max_size=5), VALUES, max_size=3))
    if draw(st.booleans()):
        value["hooks"] = draw(HOOKS)
    elif isinstance(value.get("hooks"), dict | list | str | int | None):
        value.pop("hooks", None)
    indent = draw(st.sampled_from([None, 0, 1, 2, 4, "\t"]))
    separators = draw(st.sampled_from([None, (",", ":"), (" , ", " : ")]))
    end = draw(st.sampled_from(["", "\n", "\n\n"]))
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=draw(st.booleans())) + end
    return value, text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


@given(documents())
def test_an_item_is_appended_and_everything_else_keeps_its_value(document: tuple[Any, str]) -> None:
    """This holds for any layout of the file."""
    value, text = document
    expected = json.loads(json.dumps(value))
    expected.setdefault("hooks", {}).setdefault("Pre", []).append(ITEM)

    assert json.loads(with_item(text, PATH, ITEM)) == expected


@given(documents())
def test_an_added_item_is_removed_without_a_trace(document: tuple[Any, str]) -> None:
    """The text is restored byte for byte, except that a list or object which was empty before is removed."""
    value, text = document
    back = without_items(with_item(text, PATH, ITEM), PATH, _is_item)

    if value and value.get("hooks", ...) != {} and value.get("hooks", {}).get("Pre", ...) != []:
        assert back == text
    kept, expected = json.loads(back), json.loads(text)
    assert kept.pop("hooks", {}).get("Post") == expected.pop("hooks", {}).get("Post")
    assert kept == expected


COMMENTED = """\
// my settings
{
    "model": "big", // the best
    /* hooks
       of mine */
    "hooks": {
        "Pre": [
            {"mine": "{not, a: \\"thing\\"}"}, // stays
        ],
    },
}
"""


INSERTED = """\
            {
                "hooks": [
                    {
                        "command": "guard",
                        "timeout": 10
                    }
                ]
            },"""


def test_comments_and_trailing_commas_stay() -> None:
    """Many agents allow them."""
    text = with_item(COMMENTED, PATH, ITEM)

    assert text == COMMENTED.replace("// stays\n", f"// stays\n{INSERTED}\n")
    assert without_items(text, PATH, _is_item) == COMMENTED


def test_an_empty_file_becomes_an_object() -> None:
    """So does a file with only whitespace."""
    assert (
        json.loads(with_item("", PATH, ITEM)) == json.loads(with_item(" \n", PATH, ITEM)) == {"hooks": {"Pre": [ITEM]}}
    )


def test_lines_end_as_they_do_in_the_file() -> None:
    """Line endings are never mixed."""
    text = with_item('{\r\n  "a": 1\r\n}\r\n', PATH, ITEM)

    assert text.count("\n") == text.count("\r\n") > 5


def test_inserted_text_follows_the_indentation() -> None:
    """A file with tabs stays a file with tabs."""
    text = with_item('{\n\t"hooks": {\n\t\t"Pre": [\n\t\t\t1\n\t\t]\n\t}\n}\n', PATH, {"a": 2})

    assert text == '{\n\t"hooks": {\n\t\t"Pre": [\n\t\t\t1,\n\t\t\t{\n\t\t\t\t"a": 2\n\t\t\t}\n\t\t]\n\t}\n}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not valid JSON at character 2"),
        ('{"a": }', "not valid JSON at character 7"),
        ('{"a" 1}', "not valid JSON at character 2"),
        ('{"a": 1} {}', "more than one JSON value"),
        ("[]", "the file is not an object"),
        ('{"hooks": 1}', "`hooks` is not an object"),
        ('{"hooks": {"Pre": {}}}', "`hooks.Pre` is not a list"),
        ("model = 1", "more than one JSON value"),
        ('{"a": "b}', "not valid JSON at character 7"),
    ],
)
def test_a_text_that_is_not_a_settings_file_is_refused(text: str, message: str) -> None:
    """The error says where the problem is."""
    with pytest.raises(JsonEditError, match=message):
        with_item(text, PATH, ITEM)


@pytest.mark.parametrize(
    "text",
    ["{}", '{"hooks": []}', '{"hooks": {"Pre": 1}}', '{"hooks": {"Post": [1]}}', "", "[1]"],
)
def test_without_a_matching_item_nothing_is_changed(text: str) -> None:
    """This includes files with an unexpected structure."""
    assert without_items(text, PATH, lambda _: True) == text
