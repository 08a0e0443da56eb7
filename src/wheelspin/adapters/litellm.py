"""
The adapter for LiteLLM's proxy, and so for any agent in any language that uses the proxy.

Name `guard` in the proxy's configuration to use the user's settings, or create a `WheelspinCallback` with settings in
code. The callback keeps no state: each request holds the whole conversation, which is replayed through a fresh guard. A
run is what follows the user's newest message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from litellm.integrations.custom_logger import CustomLogger
from litellm.proxy._types import ProxyException

from wheelspin.core.events import Verdict
from wheelspin.core.known_tools import TOOLS
from wheelspin.core.log import log
from wheelspin.core.loop_events import LoopEvent, crash_event
from wheelspin.core.notifications import Notifier
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
_COMPACTION_CALL = "acompact_responses"
"""Call type of a request that only shortens the conversation; allowed even after the run has ended."""
_TOOLS = TOOLS.extended(
    ignored={"bash": ["description"], "run_shell_command": ["description"]},
    plans=["TodoWrite", "todo_write", "todowrite", "update_plan", "write_todos"],
)
"""The tools of coding agents that may use the proxy: shell commands with a free-text description, and plans."""


class WheelspinCallback(CustomLogger):
    """
    Guard the agents behind a proxy against tool-call loops.

    Args:
        settings: The settings; by default the detectors are on, with the documented thresholds.
        tools: What is known about the agents' tools.
        listeners: Called once with every `LoopEvent`, during the request in which it is new.

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
        self._notifier = Notifier(listeners, lambda part, crash: log(crash_event(part, crash)), logs=True)

    def __init_subclass__(cls) -> None:
        """Define the hook in the class itself: LiteLLM does not call inherited hooks."""
        super().__init_subclass__()
        if _HOOK not in vars(cls):
            setattr(cls, _HOOK, getattr(cls, _HOOK))

    async def async_pre_call_hook(self, user_api_key_dict: Any, cache: Any, data: Any, call_type: Any) -> Any:
        """
        Add the guard's advice to a request before it is forwarded.

        Raises:
            ProxyException: The run has ended; the agent receives it as an error 400.
        """
        advised = self._advised(data)
        if advised is None:
            return None
        self._notify(*advised.events)
        if advised.ending is not None and call_type != _COMPACTION_CALL:
            raise _abort_error(advised.ending) from ToolLoopError(advised.ending)
        data.update(advised.changed)
        return data

    def _advised(self, data: Any) -> Advised | None:
        try:
            session = data.get("litellm_session_id")
            session = session if isinstance(session, str) else None
            return advise(data, self.settings, tools=self.tools, session_id=session)
        except Exception as crash:
            self._notify(crash_event("the guard", crash))
            return None

    def _notify(self, *events: LoopEvent) -> None:
        self._notifier.pending += events
        self._notifier.notify()


def _abort_error(ending: Verdict) -> ProxyException:
    finding = ending.finding
    details = (
        {} if finding is None else {"detector": finding.detector, "count": finding.count, "limit": finding.threshold}
    )
    return ProxyException(
        f"wheelspin: {ending.reason} A new user message starts a new run.",
        type="tool_loop",
        param=None,
        code=400,
        provider_specific_fields={"wheelspin": {"code": ending.code, **details}},
    )


def __getattr__(name: str) -> Any:
    """Create `guard` on first access, so that errors in the user's settings show when the proxy starts."""
    if name != "guard":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    callback = globals()[name] = WheelspinCallback(settings_for(_HOST, "standard"))
    return callback
