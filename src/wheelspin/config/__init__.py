"""
Configuration: a file becomes the settings of each agent (SPEC 2).

A whole OpenClaw configuration is accepted as it is: only `tools.loopDetection`, `agents.list[].tools.loopDetection` and
`agents.entries.<id>.tools.loopDetection` are read.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic.alias_generators import to_camel
from pydantic.json_schema import GenerateJsonSchema

from wheelspin.config._faults import check
from wheelspin.config._read import read
from wheelspin.config._schema import AgentEntry, ConfigFile, Tools, file_model
from wheelspin.core.detectors import DETECTORS
from wheelspin.core.detectors.base import Detector
from wheelspin.core.presets import NUMBERS
from wheelspin.core.settings import OUTAGE_BLOCK, OWN_THRESHOLDS, Settings, settings_from
from wheelspin.errors import ConfigError, Fault

__all__ = ["Config", "Resolution", "config_from", "key_of", "load_config", "schema", "values_of"]

_NO_BLOCK = "the file has no `tools.loopDetection` block: the defaults hold"
_WINDOW = "postCompactionGuard.windowSize"


class Resolution(NamedTuple):
    """The settings of one agent, and where each comes from."""

    settings: Settings
    """The values that hold."""
    origins: dict[str, str]
    """Where each value comes from, by key: `default`, `preset`, `global`, `agent` or `raised`."""
    notices: tuple[str, ...]
    """What the user should know, each with its key."""


class Config:
    """
    A configuration that has been read and checked.

    Attributes:
        source: The file, or what else the configuration came from.
        agents: Ids of the agents that have a block of their own, trimmed and in lower case.
        plugins: Modules with detectors beside the built-in ones.
        detectors: All detectors that it can configure: the built-in ones and those of its plugins.
    """

    def __init__(self, source: str, file: ConfigFile, detectors: tuple[Detector, ...]) -> None:
        self.source = source
        self.detectors = detectors
        self._global = _given(file.tools)
        self._agents = _agents(file)
        self.agents = tuple(self._agents)
        self._is_empty = not self._global and not any(self._agents.values())
        blocks = self._global, *self._agents.values()
        self.plugins = tuple(dict.fromkeys(name for block in blocks for name in block.pop("plugins", ())))

    def for_agent(self, agent_id: str | None = None) -> Settings:
        """
        Return the settings of an agent.

        Args:
            agent_id: The agent, in any case and with blanks around it. An agent that the file does not name, and
                `None`, get the global block.

        Example:
            >>> config_from({"tools": {"loopDetection": {"enabled": True}}}).for_agent("any").enabled
            True
        """
        return self.resolve(agent_id).settings

    def given(self, agent_id: str | None = None) -> dict[str, Any]:
        """Return what the file sets for an agent, as `settings_from` takes it; the argument is that of `for_agent`."""
        given = _overridden(self._global, self._own(agent_id))
        return {**given, "plugins": list(self.plugins)} if self.plugins else given

    def resolve(self, agent_id: str | None = None) -> Resolution:
        """Return the settings of an agent, where each comes from, and the notices; for the argument see `for_agent`."""
        settings = settings_from(self.given(agent_id))
        own, shared = _keys(self._own(agent_id)), _keys(self._global)
        values, defaults = values_of(settings), values_of(Settings(plugins=settings.detectors[len(DETECTORS) :]))
        origins = {}
        for key, value in values.items():
            origin = "agent" if key in own else "global" if key in shared else "default"
            differs = value != defaults.get(key) and settings.preset != "standard"
            origins[key] = "preset" if origin == "default" and differs else origin
        for notice in settings.notices:
            if notice.raised:
                name = notice.setting
                origins[key_of(name) if name in NUMBERS["standard"] else f"{key_of(name)}.criticalThreshold"] = "raised"
        notices = [f"`{key_of(notice.setting)}` {notice.text}" for notice in settings.notices]
        return Resolution(settings, origins, tuple([_NO_BLOCK, *notices] if self._is_empty else notices))

    def _own(self, agent_id: str | None) -> dict[str, Any]:
        return self._agents.get((agent_id or "").strip().lower(), {})


def values_of(settings: Settings) -> dict[str, Any]:
    """
    Return every value that holds, by its key under `tools.loopDetection`.

    Thresholds of a detector are left out if they are the shared ones. Hints are by `toolHints.<tool>`.
    """
    names = ("enabled", "preset", "mode", *NUMBERS["standard"])
    values: dict[str, Any] = {key_of(name): getattr(settings, name) for name in names}
    shared = settings.warning_threshold, settings.critical_threshold
    for detector in settings.detectors:
        if detector.can_switch:
            key = key_of(detector.name)
            values[key] = detector.name not in settings.switched_off
            if settings.thresholds_of(detector) != shared:
                values |= _thresholds(key, settings.thresholds_of(detector))
    values |= _thresholds(key_of(OUTAGE_BLOCK), settings.outage_thresholds)
    return values | {f"toolHints.{tool}": hint for tool, hint in settings.tool_hints}


def _thresholds(key: str, thresholds: tuple[int, int]) -> dict[str, int]:
    return {f"{key}.{to_camel(name)}": value for name, value in zip(OWN_THRESHOLDS, thresholds, strict=True)}


def _keys(given: dict[str, Any]) -> set[str]:
    """Return the keys of what a block sets, as `values_of` has them."""
    keys: set[str] = set()
    for name, value in given.items():
        match name:
            case "detectors":
                for detector, block in value.items():
                    keys |= {_key_in(key_of(detector), field) for field in block}
            case "tool_hints":
                keys |= {f"toolHints.{tool}" for tool in value}
            case "post_compaction_guard":
                keys |= {_WINDOW} if value else set()
            case _ if isinstance(value, dict):
                keys |= {_key_in(key_of(name), field) for field in value}
            case _:
                keys.add(key_of(name))
    return keys


def _key_in(block: str, field: str) -> str:
    return block if field == "enabled" else f"{block}.{to_camel(field)}"


def load_config(path: str | os.PathLike[str]) -> Config:
    """
    Read a configuration file.

    Args:
        path: A JSON5 file, such as an OpenClaw configuration.

    Returns:
        The checked configuration; ask it `for_agent(...)`.

    Raises:
        ConfigError: The file cannot be read, or has faults; the error lists all of them.
    """
    file = Path(path)
    value, positions = read(file)
    return _checked(value, str(file), *check(value, positions))


def config_from(value: Mapping[str, Any], source: str = "the configuration") -> Config:
    """
    Check a configuration that is already decoded.

    Args:
        value: What a file would hold.
        source: What to call it in errors.

    Raises:
        ConfigError: It has faults; the error lists all of them.
    """
    return _checked(value, source, *check(value, None))


def schema(config: Config | None = None) -> dict[str, Any]:
    """
    Return the JSON Schema of a configuration file, for editors.

    Args:
        config: A configuration whose plugins the schema includes.
    """
    model = file_model(DETECTORS if config is None else config.detectors)
    found: dict[str, Any] = model.model_json_schema(by_alias=True, schema_generator=_Untitled)
    return {"$schema": GenerateJsonSchema.schema_dialect, **found}


class _Untitled(GenerateJsonSchema):
    """Leave out the titles, which repeat the names."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        return False


def key_of(setting: str) -> str:
    """
    Return the key under `tools.loopDetection` that a setting or a detector has in a file.

    Args:
        setting: Its name in snake case.

    Example:
        >>> key_of("ping_pong"), key_of("window_size"), key_of("history_size")
        ('detectors.pingPong', 'postCompactionGuard.windowSize', 'historySize')
    """
    if setting == "window_size":
        return _WINDOW
    is_plain = setting in {"enabled", "preset", "mode", OUTAGE_BLOCK, *NUMBERS["standard"]}
    return to_camel(setting) if is_plain else f"detectors.{to_camel(setting)}"


def _checked(value: Any, source: str, detectors: tuple[Detector, ...], faults: list[Fault]) -> Config:
    if faults:
        raise ConfigError(source, faults)
    return Config(source, file_model(detectors).model_validate(value), detectors)


def _agents(file: ConfigFile) -> dict[str, dict[str, Any]]:
    """Return what each agent's block sets; an entry by id overrides one in the list."""
    listed: list[tuple[object, AgentEntry]] = [
        (agent.id, agent) for agent in (file.agents and file.agents.listed) or ()
    ]
    listed += ((file.agents and file.agents.entries) or {}).items()
    found: dict[str, dict[str, Any]] = {}
    for name, agent in listed:
        if isinstance(name, str) and agent.tools is not None and "loop_detection" in agent.tools.model_fields_set:
            key = name.strip().lower()
            found[key] = _overridden(found.get(key, {}), _given(agent.tools))
    return found


def _given(tools: Tools | None) -> dict[str, Any]:
    """Return what a block sets, with names in snake case, and each detector as a mapping."""
    if tools is None:
        return {}
    given: dict[str, Any] = tools.loop_detection.model_dump(exclude_unset=True)
    if "detectors" in given:
        blocks = given["detectors"].items()
        given["detectors"] = {name: {"enabled": block} if isinstance(block, bool) else block for name, block in blocks}
    return given


def _overridden(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Return a block with another one laid over it, field by field at every level."""
    given = {**below, **above}
    for name, value in above.items():
        if isinstance(value, dict) and isinstance(below.get(name), dict):
            given[name] = _overridden(below[name], value)
    return given
