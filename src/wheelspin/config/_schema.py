"""The shape of a configuration file: what may stand in our blocks; the rest of an OpenClaw file is left alone."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from wheelspin.core.settings import NUMBERS

__all__ = ["WHOLE", "AgentEntry", "ConfigFile", "Detectors", "LoopDetection", "PostCompactionGuard", "Tools"]

WHOLE = "whole_number"


def _whole(value: object) -> object:
    """Take `10.0` for 10; refuse what is no whole number of 1 or more (SPEC 2.2)."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise PydanticCustomError(WHOLE, "no whole number of 1 or more")
    return value


Whole = Annotated[int, Field(ge=1), BeforeValidator(_whole)]


class _Ours(BaseModel):
    """A block of ours: no key but the known ones."""

    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel)


class _Theirs(BaseModel):
    """A block of the host's, in which one of ours may stand."""

    model_config = ConfigDict(extra="allow", alias_generator=to_camel)


class Detectors(_Ours):
    """Switches of single detectors."""

    generic_repeat: bool = Field(default=True, description="Same tool, same arguments.")
    known_poll_no_progress: bool = Field(default=True, description="Known polling calls whose state does not change.")
    ping_pong: bool = Field(default=True, description="Two calls that alternate without progress.")


class PostCompactionGuard(_Ours):
    """The guard that is armed by a compaction."""

    window_size: Whole = Field(
        default=NUMBERS["window_size"],
        description="Calls for which the guard stays armed, and identical ones that end the run.",
    )


class LoopDetection(_Ours):
    """The block `tools.loopDetection`."""

    enabled: bool = Field(
        default=False,
        description="Master switch of the detectors. An explicit false turns the post-compaction guard off too.",
    )
    history_size: Whole = Field(default=NUMBERS["history_size"], description="Steps kept per run.")
    warning_threshold: Whole = Field(
        default=NUMBERS["warning_threshold"], description="Repeats before a pattern is warned about."
    )
    critical_threshold: Whole = Field(
        default=NUMBERS["critical_threshold"],
        description="Repeats before a pattern without progress is blocked; above warningThreshold.",
    )
    unknown_tool_threshold: Whole = Field(
        default=NUMBERS["unknown_tool_threshold"], description="Misses after which an unavailable tool is blocked."
    )
    global_circuit_breaker_threshold: Whole = Field(
        default=NUMBERS["global_circuit_breaker_threshold"],
        description="Repeats without progress that end the run; above criticalThreshold.",
    )
    detectors: Detectors = Field(default=Detectors(), description="Which detectors are on.")
    post_compaction_guard: PostCompactionGuard = Field(
        default=PostCompactionGuard(), description="The guard after a compaction."
    )


class Tools(_Theirs):
    """The block `tools`."""

    loop_detection: LoopDetection = Field(default=LoopDetection(), description="Loop detection.")


class AgentEntry(_Theirs):
    """One agent."""

    id: Any = Field(default=None, description="The agent's id; trimmed and lower-cased when it is compared.")
    tools: Tools | None = Field(default=None, description="What holds for this agent, laid over the global block.")


class Agents(_Theirs):
    """The block `agents`."""

    listed: list[AgentEntry] | None = Field(default=None, alias="list", description="The agents.")
    entries: dict[str, AgentEntry] | None = Field(default=None, description="The agents, by id.")


class ConfigFile(_Theirs):
    """A configuration file of Wheelspin, or of OpenClaw."""

    tools: Tools | None = Field(default=None, description="What holds for all agents.")
    agents: Agents | None = Field(default=None, description="What holds for single agents.")
