"""What is wrong with a configuration: all of it at once, in the words of the file (SPEC 2.2)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from wheelspin.config._plugins import plugins_in
from wheelspin.config._positions import KeyPositions, Path, show_path
from wheelspin.config._schema import (
    HINT,
    WHOLE,
    DetectorBlock,
    LoopDetection,
    PostCompactionGuard,
    Thresholds,
    ToolHintBlock,
    file_model,
)
from wheelspin.core.detectors.base import Detector
from wheelspin.errors import Fault

__all__ = ["check"]

_EXPECTED = {
    WHOLE: "a whole number of 1 or more",
    "bool_type": "true or false",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "dict_type": "an object",
    "list_type": "a list",
}
_BLOCKS: dict[str, type[BaseModel]] = {
    "postCompactionGuard": PostCompactionGuard,
    "infrastructureFailures": Thresholds,
}
_MEMBERS: dict[str, type[BaseModel]] = {"detectors": DetectorBlock, "toolHints": ToolHintBlock}
"""The blocks whose keys are names, and what stands under each name."""
_FORMS = {"switch", "block"}
_LONGEST_VALUE = 40


def check(value: Any, positions: KeyPositions | None) -> tuple[tuple[Detector, ...], list[Fault]]:
    """
    Return all detectors that a file may configure, and all that is wrong with the file.

    Args:
        value: The decoded file.
        positions: Where its keys stand, if it was a text.
    """
    detectors, broken = plugins_in(list(_blocks(value)))
    found = [*_duplicates(positions), *_misspelled(value)]
    try:
        file_model(detectors).model_validate(value)
    except ValidationError as problem:
        errors = problem.errors(include_url=False)
        found += [_of_error(error, detectors) for error in errors if not (broken and _may_be_of_a_plugin(error))]
    found += list(_of_ids(value))
    found += [
        (path, f"{name!r}: {why}", "a module with detectors, installed beside Wheelspin", "", None)
        for path, name, why in broken
    ]
    faults = [
        Fault(show_path(path), what, expected, line=line or _line(path, positions), hint=hint)
        for path, what, expected, hint, line in found
    ]
    return detectors, sorted(faults, key=lambda fault: (fault.line or 0, fault.path))


def _line(path: Path, positions: KeyPositions | None) -> int | None:
    """Return the line of a key, or of the block that should hold it."""
    if positions is None or not path:
        return None
    return positions.lines.get(path) or _line(path[:-1], positions)


_Found = tuple[Path, str, str, str, int | None]


def _of_error(error: ErrorDetails, detectors: tuple[Detector, ...]) -> _Found:
    path = tuple(part for part in error["loc"] if part != "[key]")
    path = tuple(
        part for place, part in enumerate(path) if not (part in _FORMS and place > 1 and path[place - 2] == "detectors")
    )
    if error["type"] == "extra_forbidden":
        known = _known(path[-2] if len(path) > 1 else "", path[-3] if len(path) > _DEEP else "", detectors)
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


def _may_be_of_a_plugin(error: ErrorDetails) -> bool:
    """Return whether a detector is not known, which a plugin that cannot be imported may define."""
    path = error["loc"]
    return error["type"] == "extra_forbidden" and len(path) > 1 and path[-2] == "detectors"


def _known(block: object, above: object = "", detectors: tuple[Detector, ...] = ()) -> list[str]:
    """Return the keys that a block may have."""
    if block == "detectors":
        return [to_camel(detector.name) for detector in detectors if detector.can_switch]
    model = _MEMBERS.get(str(above)) or _BLOCKS.get(str(block))
    if model is not None:
        return [to_camel(name) for name in model.model_fields]
    return [*(to_camel(name) for name in LoopDetection.model_fields), "detectors"]


def _did_you_mean(key: object, known: list[str]) -> str:
    plain = {name.lower(): name for name in known}
    close = get_close_matches(str(key).strip().lower(), list(plain), n=1, cutoff=0.7)
    return f"did you mean `{plain[close[0]]}`?" if close else ""


def _shown(value: object) -> str:
    """Return a value as it is written in a file, cut if it is long."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = repr(type(value).__name__)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…"


def _duplicates(positions: KeyPositions | None) -> Iterator[_Found]:
    """Yield the keys that stand twice in a block or on the way to it: the first of them would be lost."""
    for path, line, first in positions.duplicates if positions else ():
        if path[0] in {"tools", "agents"} and (len(path) == 1 or "loopDetection" in path or path[-1] in _ON_THE_WAY):
            yield path, "the key twice", "it once", f"it stands at line {first} too: keep one of them", line


_ON_THE_WAY = {"tools", "agents", "list", "entries", "loopDetection", "id"}


def _misspelled(value: Any) -> Iterator[_Found]:
    """Yield the keys that are right but for case, blanks or a letter: skipping them would leave a block unread."""
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


def _blocks(value: Any) -> Iterator[tuple[Path, Any]]:
    """Yield the blocks `loopDetection`, wherever they stand."""
    for path, tools in _tool_blocks(value) if isinstance(value, dict) else ():
        if isinstance(tools, dict):
            yield (*path, "loopDetection"), tools.get("loopDetection")


def _agents(value: Any) -> Iterator[tuple[Path, dict[Any, Any]]]:
    """Yield the agents of a file, wherever they stand; what is not an object is skipped."""
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
    """Yield the agents that have no id of their own."""
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
