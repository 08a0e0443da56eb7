"""
The schema of a configuration file: what our blocks may contain. The rest of an OpenClaw file is left alone.

Descriptions and defaults are those of the settings and of the detectors' classes; nothing is written twice.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    create_model,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from wheelspin.core.detectors.base import Detector
from wheelspin.core.hints import ToolHint
from wheelspin.core.presets import NUMBERS, OUTAGES

__all__ = ["HINT", "WHOLE", "ConfigFile", "DetectorBlock", "Thresholds", "ToolHintBlock", "file_model"]

WHOLE = "whole_number"
HINT = "tool_hint"
_STANDARD = NUMBERS["standard"]


def _whole(value: object) -> object:
    """Accept `10.0` as 10; refuse anything but a whole number of 1 or more (SPEC 2.2)."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise PydanticCustomError(WHOLE, "not a whole number of 1 or more")
    return value


Whole = Annotated[int, Field(ge=1), BeforeValidator(_whole)]


class _Own(BaseModel):
    """A block of Wheelspin's: no key but the known ones."""

    model_config = ConfigDict(extra="forbid", strict=True, alias_generator=to_camel)


class _Host(BaseModel):
    """A block of the host's, which may contain one of Wheelspin's."""

    model_config = ConfigDict(extra="allow", alias_generator=to_camel)


class Thresholds(_Own):
    """Thresholds for outages of a service."""

    warning_threshold: Whole = Field(default=OUTAGES["standard"][0], description="Repeats before a warning.")
    critical_threshold: Whole = Field(default=OUTAGES["standard"][1], description="Repeats before a block.")


class DetectorBlock(_Own):
    """The settings of one detector."""

    enabled: bool = Field(default=True, description="Whether it is on.")
    warning_threshold: Whole = Field(default=_STANDARD["warning_threshold"], description="Repeats before a warning.")
    critical_threshold: Whole = Field(default=_STANDARD["critical_threshold"], description="Repeats before a block.")


def _form(value: object) -> str:
    return "switch" if isinstance(value, bool) else "block"


def _readable(value: ToolHintBlock) -> ToolHintBlock:
    """Refuse a path or an expression that cannot be read."""
    try:
        value.hint()
    except ValueError as problem:
        raise PydanticCustomError(HINT, "{problem}", {"problem": str(problem)}) from None
    return value


class ToolHintBlock(_Own):
    """What is declared about one tool, or about all tools whose names match a pattern."""

    poll: bool | None = Field(default=None, description="It is a polling call.")
    identity: list[str] | None = Field(
        default=None, description="Paths of the arguments that identify a call; the others are ignored."
    )
    volatile: list[str] = Field(
        default=[], description="Paths of the result, or /expressions/ for its texts, that are ignored."
    )
    mutates: bool | None = Field(default=None, description="A success of it is progress.")
    ignore: bool | None = Field(default=None, description="It is never judged.")
    warning_threshold: Whole | None = Field(default=None, description="Its own warning threshold.")
    critical_threshold: Whole | None = Field(default=None, description="Its own critical threshold.")

    def hint(self) -> ToolHint:
        """
        Return the hint that it stands for.

        Raises:
            ValueError: A path or an expression cannot be read.
        """
        return ToolHint(**self.model_dump(exclude_unset=True))


Hint = Annotated[ToolHintBlock, AfterValidator(_readable)]


class PostCompactionGuard(_Own):
    """The guard that a compaction arms."""

    window_size: Whole = Field(
        default=_STANDARD["window_size"],
        description="Calls for which the guard stays armed, and identical ones that end the run.",
    )


class LoopDetection(_Own):
    """The block `tools.loopDetection`, without its detectors."""

    enabled: bool = Field(
        default=None,  # type: ignore[assignment]  # the file need not say it, and cannot say `null`
        description="Master switch of the detectors. If it is not set, they are off and the post-compaction guard is "
        "on; an explicit false turns that off too.",
    )
    history_size: Whole = Field(default=_STANDARD["history_size"], description="Calls kept per run.")
    warning_threshold: Whole = Field(
        default=_STANDARD["warning_threshold"], description="Repeats before a pattern is warned about."
    )
    critical_threshold: Whole = Field(
        default=_STANDARD["critical_threshold"],
        description="Repeats before a pattern without progress is blocked; above warningThreshold.",
    )
    unknown_tool_threshold: Whole = Field(
        default=_STANDARD["unknown_tool_threshold"], description="Misses before a missing tool is blocked."
    )
    global_circuit_breaker_threshold: Whole = Field(
        default=_STANDARD["global_circuit_breaker_threshold"],
        description="Repeats without progress that end the run; above criticalThreshold.",
    )
    preset: Literal["standard", "early"] = Field(
        default="standard",
        description="The values that apply if nothing else is set: standard has the documented numbers, early finds "
        "loops after a few repeats.",
    )
    mode: Literal["enforce", "observe"] = Field(
        default="enforce",
        description="With observe, everything is recorded as it would have been, and nothing is changed.",
    )
    plugins: list[str] = Field(
        default=[], description="Modules with detectors of your own, which are installed beside Wheelspin."
    )
    infrastructure_failures: Thresholds = Field(
        default=Thresholds(),
        description="Thresholds for equal outages of the service behind a tool: 429, 5xx, timeouts, refused "
        "connections.",
    )
    tool_hints: dict[str, Hint] = Field(
        default={}, description="What is declared about single tools, by name or by a pattern such as mcp__*."
    )
    post_compaction_guard: PostCompactionGuard = Field(
        default=PostCompactionGuard(), description="The guard after a compaction."
    )


class Tools(_Host):
    """The block `tools`."""

    loop_detection: LoopDetection = Field(default=LoopDetection(), description="Loop detection.")


class AgentEntry(_Host):
    """One agent."""

    id: Any = Field(default=None, description="The agent's id, which is compared trimmed and in lower case.")
    tools: Tools | None = Field(default=None, description="The agent's block, which overrides the global one.")


class Agents(_Host):
    """The block `agents`."""

    listed: list[AgentEntry] | None = Field(default=None, alias="list", description="The agents.")
    entries: dict[str, AgentEntry] | None = Field(default=None, description="The agents, by id.")


class ConfigFile(_Host):
    """A configuration file of Wheelspin, or of OpenClaw."""

    tools: Tools | None = Field(default=None, description="The settings of all agents.")
    agents: Agents | None = Field(default=None, description="The settings of single agents.")


@cache
def file_model(detectors: tuple[Detector, ...]) -> type[ConfigFile]:
    """
    Return the model of a configuration file that may configure these detectors.

    Args:
        detectors: All detectors that there are.
    """
    blocks = create_model(
        "Detectors",
        __base__=_Own,
        __doc__="Single detectors: a switch, or an object with a switch and thresholds of its own.",
        **{detector.name: _field(detector) for detector in detectors if detector.can_switch},
    )
    loop_detection = create_model(
        "LoopDetection",
        __base__=LoopDetection,
        __doc__="The block `tools.loopDetection`.",
        detectors=(blocks, Field(default=blocks(), description="Single detectors.")),
    )
    tools = _with("Tools", Tools, loop_detection=(loop_detection, loop_detection()))
    agent = _with("AgentEntry", AgentEntry, tools=(tools | None, None))
    agents = _with("Agents", Agents, listed=(list[agent] | None, None), entries=(dict[str, agent] | None, None))  # type: ignore[valid-type]
    file: type[ConfigFile] = _with("ConfigFile", ConfigFile, tools=(tools | None, None), agents=(agents | None, None))
    return file


def _field(detector: Detector) -> Any:
    """Return the field of a detector: a switch, or a block whose defaults are its own."""
    own = detector.default_thresholds.get("standard")
    block: Any = DetectorBlock
    if own is not None:
        name = f"{to_camel(detector.name)}Block"
        block = _with(name, DetectorBlock, warning_threshold=(Whole, own[0]), critical_threshold=(Whole, own[1]))
    form = Annotated[Annotated[bool, Tag("switch")] | Annotated[block, Tag("block")], Discriminator(_form)]
    return (form, Field(default=True, description=detector.summary))


def _with(name: str, model: Any, **fields: tuple[Any, Any]) -> Any:
    """Return a model with other types and defaults of fields, whose descriptions and aliases stay."""
    changed: dict[str, Any] = {}
    for field, (kind, default) in fields.items():
        known = model.model_fields[field]
        changed[field] = (kind, Field(default=default, alias=known.alias, description=known.description))
    return create_model(name, __base__=model, __doc__=model.__doc__, **changed)
