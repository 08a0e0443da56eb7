"""
Configuration: a file becomes the settings of each agent (SPEC 2).

A whole OpenClaw configuration is read as it is: only `tools.loopDetection`, `agents.list[].tools.loopDetection` and
`agents.entries.<id>.tools.loopDetection` count.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic.alias_generators import to_camel
from pydantic.json_schema import GenerateJsonSchema

from wheelspin.config._faults import faults_of
from wheelspin.config._read import read
from wheelspin.config._schema import AgentEntry, ConfigFile, Tools
from wheelspin.core.settings import DETECTORS, HINT, NUMBERS, OUTAGE, Settings, settings_from
from wheelspin.errors import ConfigError, Fault

__all__ = ["Config", "Resolution", "config_from", "key_of", "load_config", "schema", "values_of"]

_NO_BLOCK = "the file has no `tools.loopDetection` block: the defaults hold"


class Resolution(NamedTuple):
    """What holds for one agent, and where it comes from."""

    settings: Settings
    """The values in force."""
    origins: dict[str, str]
    """Where each setting comes from: `default`, `preset`, `global`, `agent` or `raised`."""
    notices: tuple[str, ...]
    """What the user should know, each with its key."""


class Config:
    """
    A configuration that has been read and checked.

    Attributes:
        source: The file, or what else it came from.
        agents: Ids of the agents that have a block of their own, trimmed and lower-cased.
    """

    def __init__(self, source: str, file: ConfigFile) -> None:
        self.source = source
        self._global = _given(file.tools)
        self._agents = _agents(file)
        self.agents = tuple(self._agents)
        self._is_empty = not self._global and not any(self._agents.values())

    def for_agent(self, agent_id: str | None = None) -> Settings:
        """
        Give the settings of an agent.

        Args:
            agent_id: The agent, in any case and with blanks around it. One that the file does not name, and `None`, get
                the global block.

        Example:
            >>> config_from({"tools": {"loopDetection": {"enabled": True}}}).for_agent("any").enabled
            True
        """
        return self.resolve(agent_id).settings

    def given(self, agent_id: str | None = None) -> dict[str, Any]:
        """Give what is set for an agent, by the names that `settings_from` takes; the argument is as in `for_agent`."""
        return _laid_over(self._global, self._agents.get((agent_id or "").strip().lower(), {}))

    def resolve(self, agent_id: str | None = None) -> Resolution:
        """Give the settings of an agent, where each comes from, and the notices; the argument is as in `for_agent`."""
        own = self._agents.get((agent_id or "").strip().lower(), {})
        given = self.given(agent_id)
        settings = settings_from(given)
        values = values_of(settings)
        names = [*values, *(f"{HINT}{name}" for name, _ in settings.tool_hints)]
        origins = {name: "agent" if name in own else "global" if name in self._global else "default" for name in names}
        if "preset" in given:
            defaults = values_of(Settings())
            for name, origin in origins.items():
                if origin == "default" and values.get(name) != defaults.get(name):
                    origins[name] = "preset"
        for notice in settings.notices:
            name = notice.setting if notice.setting in NUMBERS else f"{notice.setting}.critical_threshold"
            if notice.text.startswith(("raised", "critical threshold raised")):
                origins[name] = "raised"
        notices = [f"`{key_of(notice.setting)}` {notice.text}" for notice in settings.notices]
        return Resolution(settings, origins, tuple([_NO_BLOCK, *notices] if self._is_empty else notices))


def values_of(settings: Settings) -> dict[str, Any]:
    """Give every setting with its value, by name; thresholds of a detector where they are not those of all."""
    values: dict[str, Any] = {name: getattr(settings, name) for name in ("enabled", "preset", "mode", *NUMBERS)}
    shared = settings.warning_threshold, settings.critical_threshold
    for name in DETECTORS:
        values[name] = getattr(settings, name)
        if settings.limits_of(name) != shared:
            values[f"{name}.warning_threshold"], values[f"{name}.critical_threshold"] = settings.limits_of(name)
    values[f"{OUTAGE}.warning_threshold"], values[f"{OUTAGE}.critical_threshold"] = settings.limits_of(OUTAGE)
    return values


def _laid_over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Lay an agent's block over the global one, field by field; also inside the hints of a tool."""
    given = below | above
    for name, value in above.items():
        if name.startswith(HINT) and name in below:
            given[name] = below[name] | value
    return given


def load_config(path: str | os.PathLike[str]) -> Config:
    """
    Read a configuration file.

    Args:
        path: A JSON5 file, such as an OpenClaw configuration.

    Returns:
        The checked configuration; ask it `for_agent(...)`.

    Raises:
        ConfigError: The file cannot be read, or has faults; the error names all of them.
    """
    file = Path(path)
    value, places = read(file)
    return _checked(value, str(file), faults_of(value, places))


def config_from(value: Mapping[str, Any], source: str = "the configuration") -> Config:
    """
    Take a configuration that is decoded already.

    Args:
        value: What a file would hold.
        source: What to call it in errors.

    Raises:
        ConfigError: It has faults; the error names all of them.
    """
    return _checked(value, source, faults_of(value, None))


def schema() -> dict[str, Any]:
    """Give the JSON Schema of a configuration file, for editors."""
    found: dict[str, Any] = ConfigFile.model_json_schema(by_alias=True, schema_generator=_Untitled)
    return {"$schema": GenerateJsonSchema.schema_dialect, **found}


class _Untitled(GenerateJsonSchema):
    """Leave out the titles, which repeat the names."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's signature
        return False


def key_of(setting: str) -> str:
    """
    Give the key under `tools.loopDetection` that a setting has in a file.

    Example:
        >>> key_of("ping_pong"), key_of("window_size"), key_of("history_size")
        ('detectors.pingPong', 'postCompactionGuard.windowSize', 'historySize')
    """
    name, _, field = setting.partition(".")
    key = "postCompactionGuard.windowSize" if name == "window_size" else to_camel(name)
    return ".".join(part for part in ("detectors" if name in DETECTORS else "", key, to_camel(field)) if part)


def _checked(value: Any, source: str, faults: list[Fault]) -> Config:
    if faults:
        raise ConfigError(source, faults)
    return Config(source, ConfigFile.model_validate(value))


def _agents(file: ConfigFile) -> dict[str, dict[str, Any]]:
    """Give what each agent's block sets; an entry by id lies over one in the list."""
    listed: list[tuple[object, AgentEntry]] = [
        (agent.id, agent) for agent in (file.agents and file.agents.listed) or ()
    ]
    listed += ((file.agents and file.agents.entries) or {}).items()
    found: dict[str, dict[str, Any]] = {}
    for name, agent in listed:
        if isinstance(name, str) and agent.tools is not None and "loop_detection" in agent.tools.model_fields_set:
            key = name.strip().lower()
            found[key] = found.get(key, {}) | _given(agent.tools)
    return found


def _given(tools: Tools | None) -> dict[str, Any]:
    """Give what a block sets, field by field, under the names of the settings."""
    if tools is None:
        return {}
    given: dict[str, Any] = tools.loop_detection.model_dump(exclude_unset=True)
    given.update(given.pop("post_compaction_guard", {}))
    for name, value in given.pop("detectors", {}).items():
        block = {"enabled": value} if isinstance(value, bool) else value
        given.update({name if field == "enabled" else f"{name}.{field}": item for field, item in block.items()})
    given.update({f"{OUTAGE}.{field}": item for field, item in given.pop(OUTAGE, {}).items()})
    given.update({f"{HINT}{name}": hint for name, hint in given.pop("tool_hints", {}).items()})
    return given
