"""What is wrong with a configuration, in the user's words: all of it at once (SPEC 2.2)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from wheelspin.config._positions import Path, Places, show_path
from wheelspin.config._schema import (
    HINT,
    WHOLE,
    ConfigFile,
    DetectorBlock,
    Detectors,
    LoopDetection,
    PostCompactionGuard,
    Thresholds,
    ToolHintBlock,
)
from wheelspin.errors import Fault

__all__ = ["faults_of"]

_EXPECTED = {
    WHOLE: "a whole number of 1 or more",
    "bool_type": "true or false",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "dict_type": "an object",
    "list_type": "a list",
}
_BLOCKS: dict[str, type[BaseModel]] = {
    "loopDetection": LoopDetection,
    "detectors": Detectors,
    "postCompactionGuard": PostCompactionGuard,
    "infrastructureFailures": Thresholds,
}
_MEMBERS: dict[str, type[BaseModel]] = {"detectors": DetectorBlock, "toolHints": ToolHintBlock}
"""The blocks whose keys are names, and what stands under each name."""
_FORMS = {"switch", "block"}
_LONGEST_VALUE = 40


def faults_of(value: Any, places: Places | None) -> list[Fault]:
    """
    Give all that is wrong with what a file holds.

    Args:
        value: The decoded file.
        places: Where its keys stand, if it was a text.
    """
    found = [*_duplicates(places), *_misspelled(value)]
    try:
        ConfigFile.model_validate(value)
    except ValidationError as problem:
        found += [_of_error(error) for error in problem.errors(include_url=False)]
    found += list(_of_ids(value))
    faults = [
        Fault(show_path(path), what, expected, line=line or _line(path, places), hint=hint)
        for path, what, expected, hint, line in found
    ]
    return sorted(faults, key=lambda fault: (fault.line or 0, fault.path))


def _line(path: Path, places: Places | None) -> int | None:
    """Give the line of a key, or of what it should stand in."""
    if places is None or not path:
        return None
    return places.lines.get(path) or _line(path[:-1], places)


_Found = tuple[Path, str, str, str, int | None]


def _of_error(error: ErrorDetails) -> _Found:
    path = tuple(part for part in error["loc"] if part != "[key]")
    path = tuple(
        part for place, part in enumerate(path) if not (part in _FORMS and place > 1 and path[place - 2] == "detectors")
    )
    if error["type"] == "extra_forbidden":
        known = _known(path[-2] if len(path) > 1 else "", path[-3] if len(path) > _DEEP else "")
        return (
            path,
            f"the unknown key {str(path[-1])!r}",
            "one of " + ", ".join(known),
            _did_you_mean(path[-1], known),
            None,
        )
    if error["type"] == HINT:
        return path, error["msg"], "a hint that can be read", "", None
    expected = _EXPECTED.get(error["type"], error["msg"].removeprefix("Input should be "))
    if error["type"] == "model_type" and len(path) > 1 and path[-2] == "detectors":
        expected = "true, false or an object"
    found = _shown(error["input"]) if path else f"the file holds {_shown(error['input'])}"
    return path, found, expected, "", None


_DEEP = 2


def _known(block: object, above: object = "") -> list[str]:
    model = _MEMBERS.get(str(above)) or _BLOCKS.get(str(block), LoopDetection)
    return [to_camel(name) for name in model.model_fields]


def _did_you_mean(key: object, known: list[str]) -> str:
    plain = {name.lower(): name for name in known}
    close = get_close_matches(str(key).strip().lower(), list(plain), n=1, cutoff=0.7)
    return f"did you mean `{plain[close[0]]}`?" if close else ""


def _shown(value: object) -> str:
    """Write a value as it stands in the file; a long one is cut."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = repr(type(value).__name__)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _duplicates(places: Places | None) -> Iterator[_Found]:
    """Name the keys that stand twice on the way to a block of ours or in it: the first of them would be lost."""
    for path, line, first in places.duplicates if places else ():
        if path[0] in {"tools", "agents"} and (len(path) == 1 or "loopDetection" in path or path[-1] in _ON_THE_WAY):
            yield path, "the key twice", "it once", f"it stands at line {first} too: keep one of them", line


_ON_THE_WAY = {"tools", "agents", "list", "entries", "loopDetection", "id"}


def _misspelled(value: Any) -> Iterator[_Found]:
    """Name the keys that are ours but for case, blanks or a letter: skipping them would leave a block unread."""
    if not isinstance(value, dict):
        return
    for key in value:
        plain = str(key).strip().lower()
        if key not in {"tools", "agents"} and plain in {"tools", "agents"}:
            yield (key,), f"the key {str(key)!r}", f"`{plain}`", f"did you mean `{plain}`?", None
        elif str(key).strip() in _known("") and "tools" not in value:
            where = f"tools.loopDetection.{str(key).strip()}"
            yield (key,), "a setting at the top of the file", f"it as `{where}`", f"move it to `{where}`", None
    for path, tools in _tool_blocks(value):
        for key in tools if isinstance(tools, dict) else ():
            hint = _did_you_mean(key, ["loopDetection"])
            if key != "loopDetection" and hint:
                yield (*path, key), f"the key {str(key)!r}", "`loopDetection`", hint, None


def _tool_blocks(value: dict[Any, Any]) -> Iterator[tuple[Path, Any]]:
    yield ("tools",), value.get("tools")
    for path, agent in _agents(value):
        yield (*path, "tools"), agent.get("tools")


def _agents(value: Any) -> Iterator[tuple[Path, dict[Any, Any]]]:
    """Go through the agents of a file, wherever they stand; what is no object is none."""
    agents = value.get("agents") if isinstance(value, dict) else None
    if not isinstance(agents, dict):
        return
    listed, entries = agents.get("list"), agents.get("entries")
    for index, agent in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(agent, dict):
            yield ("agents", "list", index), agent
    for key, agent in (entries if isinstance(entries, dict) else {}).items():
        if isinstance(agent, dict):
            yield ("agents", "entries", key), agent


def _of_ids(value: Any) -> Iterator[_Found]:
    """Name the agents that cannot be told by their ids."""
    seen: dict[str, Path] = {}
    for path, agent in _agents(value):
        tools = agent.get("tools")
        if not (isinstance(tools, dict) and "loopDetection" in tools) or "entries" in path:
            continue
        name = agent.get("id")
        if not isinstance(name, str) or not name.strip():
            found = _shown(name) if "id" in agent else "no id"
            yield (*path, "id"), found, "the agent's id, a text", "without an id its block is never used", None
        elif name.strip().lower() in seen:
            other = show_path(seen[name.strip().lower()])
            yield (*path, "id"), _shown(name), "an id of its own", f"{other} has the same one", None
        else:
            seen[name.strip().lower()] = path
