"""The shape of a configuration file: what may stand in our blocks; the rest of an OpenClaw file is left alone."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from wheelspin.core.hints import ToolHint
from wheelspin.core.settings import NUMBERS

__all__ = [
    "HINT",
    "WHOLE",
    "AgentEntry",
    "ConfigFile",
    "DetectorBlock",
    "Detectors",
    "LoopDetection",
    "PostCompactionGuard",
    "Thresholds",
    "ToolHintBlock",
    "Tools",
]

WHOLE = "whole_number"
HINT = "tool_hint"


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


class Thresholds(_Ours):
    """Thresholds of its own."""

    warning_threshold: Whole = Field(default=NUMBERS["warning_threshold"], description="Repeats before a warning.")
    critical_threshold: Whole = Field(default=NUMBERS["critical_threshold"], description="Repeats before a block.")


class DetectorBlock(Thresholds):
    """What holds for one detector."""

    enabled: bool = Field(default=True, description="Whether it is on.")


def _form(value: object) -> str:
    return "switch" if isinstance(value, bool) else "block"


Detector = Annotated[Annotated[bool, Tag("switch")] | Annotated[DetectorBlock, Tag("block")], Discriminator(_form)]


class Detectors(_Ours):
    """Single detectors: a switch, or an object with a switch and thresholds of its own."""

    generic_repeat: Detector = Field(default=True, description="Same tool, same arguments.")
    known_poll_no_progress: Detector = Field(
        default=True, description="Known polling calls whose state does not change."
    )
    ping_pong: Detector = Field(default=True, description="Two calls that alternate without progress.")
    immediate_repeat: Detector = Field(default=True, description="A call that follows itself and nothing changes.")
    stagnation: Detector = Field(default=True, description="Call after call that brings nothing new, in any order.")
    unchanged_failure: Detector = Field(
        default=True, description="The same call that keeps failing in the same way, whatever was tried in between."
    )
    same_failure: Detector = Field(
        default=True, description="One tool that keeps failing in the same way, whatever the arguments."
    )
    near_repeat: Detector = Field(
        default=True, description="Calls that differ in numbers only and get the same answer; it never blocks."
    )


def _readable(value: ToolHintBlock) -> ToolHintBlock:
    """Refuse a path or an expression that cannot be read."""
    try:
        value.hint()
    except ValueError as problem:
        raise PydanticCustomError(HINT, "{problem}", {"problem": str(problem)}) from None
    return value


class ToolHintBlock(_Ours):
    """What is declared about one tool, or all tools whose names a pattern matches."""

    poll: bool | None = Field(default=None, description="It is a polling call.")
    identity: list[str] | None = Field(
        default=None, description="Paths of the arguments that tell a call from another; the others do not count."
    )
    volatile: list[str] = Field(
        default=[], description="Paths of the result, or /expressions/ for its texts, that do not count."
    )
    mutates: bool | None = Field(default=None, description="A success of it is progress.")
    ignore: bool | None = Field(default=None, description="It is never judged.")
    warning_threshold: Whole | None = Field(default=None, description="Its own warning threshold.")
    critical_threshold: Whole | None = Field(default=None, description="Its own critical threshold.")

    def hint(self) -> ToolHint:
        """
        Give the hint that it stands for.

        Raises:
            ValueError: A path or an expression cannot be read.
        """
        return ToolHint(**self.model_dump(exclude_unset=True))


Hint = Annotated[ToolHintBlock, AfterValidator(_readable)]


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
    preset: Literal["standard", "early"] = Field(
        default="standard",
        description="What holds where nothing is given: standard has the documented numbers, early finds loops after a "
        "few repeats.",
    )
    mode: Literal["enforce", "observe"] = Field(
        default="enforce", description="With observe everything is recorded as it would have been, and nothing changed."
    )
    detectors: Detectors = Field(default=Detectors(), description="Single detectors.")
    infrastructure_failures: Thresholds = Field(
        default=Thresholds(),
        description="Thresholds for equal failures of what stands behind a tool: 429, 5xx, timeouts, refused "
        "connections.",
    )
    tool_hints: dict[str, Hint] = Field(
        default={}, description="What is declared about single tools, by name or by a pattern of names such as mcp__*."
    )
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
