"""
LiteLLM's proxy, and so any agent in any language that is given its address.

`guard`, named in the proxy's configuration, watches with the user's settings; a `WheelspinCallback` is one with
settings of one's own. It remembers nothing: a request holds the whole conversation, which is played through a fresh
guard. A run is what follows the newest message of the user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from litellm.integrations.custom_logger import CustomLogger
from litellm.proxy._types import ProxyException

from wheelspin.core.events import Verdict
from wheelspin.core.known_tools import TOOLS
from wheelspin.core.log import log
from wheelspin.core.notifications import Notifier, crash_event
from wheelspin.core.record import LoopEvent
from wheelspin.core.settings import Settings
from wheelspin.core.tools import ToolTable
from wheelspin.errors import ToolLoopError
from wheelspin.proxy.model_request import Advised, advise
from wheelspin.userfiles.settings_cache import settings_for

if TYPE_CHECKING:
    guard: WheelspinCallback

__all__ = ["WheelspinCallback", "guard"]

_HOST = "litellm"
_HOOK = "async_pre_call_hook"
_SHORTENING = "acompact_responses"
"""A request that only shortens the conversation is no step of the run: one that has ended may be shortened."""
_TOOLS = TOOLS.extended(
    ignored={"bash": ["description"], "run_shell_command": ["description"]},
    plans=["TodoWrite", "todo_write", "todowrite", "update_plan", "write_todos"],
)
"""What the coding agents that may ask call theirs: commands that are described anew each time, and plans."""


class WheelspinCallback(CustomLogger):
    """
    Guard the agents behind a proxy against loops of tool calls.

    Args:
        settings: What holds; without them the detectors are on, with the documented thresholds.
        tools: What is known about the agents' tools.
        listeners: Called with every `LoopEvent`, once: with the request in which it is new.

    Example:
        ```python
        mine = WheelspinCallback(Settings(enabled=True, preset="early"))  # callbacks: my_module.mine
        ```
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        tools: ToolTable = _TOOLS,
        listeners: Iterable[Callable[[LoopEvent], object]] = (),
    ) -> None:
        super().__init__()
        self.settings = Settings(enabled=True) if settings is None else settings
        self.tools = tools
        self._notifier = Notifier((log, *listeners), lambda part, crash: log(crash_event(part, crash)))

    def __init_subclass__(cls) -> None:
        """Have the hook in the class itself: LiteLLM calls no hook that is inherited."""
        super().__init_subclass__()
        if _HOOK not in vars(cls):
            setattr(cls, _HOOK, getattr(cls, _HOOK))

    async def async_pre_call_hook(self, user_api_key_dict: Any, cache: Any, data: Any, call_type: Any) -> Any:
        """
        Put the guard's advice into a request before it is sent on.

        Raises:
            ProxyException: The run is ended; the agent gets it as an error 400.
        """
        advised = self._advised(data)
        if advised is None:
            return None
        self._tell(*advised.events)
        if advised.ending is not None and call_type != _SHORTENING:
            raise _refusal(advised.ending) from ToolLoopError(advised.ending)
        data.update(advised.changed)
        return data

    def _advised(self, data: Any) -> Advised | None:
        try:
            session = data.get("litellm_session_id")
            session = session if isinstance(session, str) else None
            return advise(data, self.settings, tools=self.tools, session_id=session)
        except Exception as crash:
            self._tell(crash_event("the guard", crash))
            return None

    def _tell(self, *events: LoopEvent) -> None:
        self._notifier.pending += events
        self._notifier.notify()


def _refusal(ending: Verdict) -> ProxyException:
    finding = ending.finding
    seen = {} if finding is None else {"detector": finding.detector, "count": finding.count, "limit": finding.threshold}
    return ProxyException(
        f"wheelspin: {ending.reason} A message of the user begins a new run.",
        type="tool_loop",
        param=None,
        code=400,
        provider_specific_fields={"wheelspin": {"code": ending.code, **seen}},
    )


def __getattr__(name: str) -> Any:
    """Make `guard` when it is asked for first, so that faults of the user's settings show as the proxy starts."""
    if name != "guard":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = globals()[name] = WheelspinCallback(settings_for(_HOST, "standard"))
    return made
