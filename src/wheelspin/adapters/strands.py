"""
The adapter for Strands agents.

`WheelspinHooks` guards the agents it is added to. A run is one invocation of the agent, from the user's message to the
answer. The session is the agent's.
"""

from __future__ import annotations

from typing import Any
from uuid import uuid4
from weakref import WeakKeyDictionary

from strands.hooks import (
    AfterInvocationEvent,
    AfterToolCallEvent,
    AfterToolsEvent,
    BeforeInvocationEvent,
    BeforeToolCallEvent,
    HookOrder,
    HookProvider,
    HookRegistry,
)

from wheelspin.core.events import Outcome, ToolCall, Verdict
from wheelspin.core.guard import Guard
from wheelspin.errors import ToolLoopError
from wheelspin.watch import OnAbort, Watch, ends_with_message, fail_open

__all__ = ["WheelspinHooks"]

_FIRST = HookOrder.SDK_FIRST - 1
_LAST = HookOrder.SDK_LAST + 1
_MAX_OPEN = 256


class WheelspinHooks(HookProvider):
    """
    Guard agents against tool-call loops.

    Args:
        guard: The guard; by default one with its detectors on. Agents can share a guard and can share these hooks.
        on_abort: How a run ends: `raise` a `ToolLoopError` from the agent, or `end` normally. In both cases the
            agent's final message gives the reason.

    Example:
        ```python
        agent = Agent(model, tools=[read], hooks=[WheelspinHooks()])
        ```
    """

    def __init__(self, guard: Guard | None = None, *, on_abort: OnAbort = "raise") -> None:
        self.guard = Guard() if guard is None else guard
        self._raises = not ends_with_message(on_abort)
        self._agents: WeakKeyDictionary[Any, _Agent] = WeakKeyDictionary()

    def register_hooks(self, registry: HookRegistry, **kwargs: Any) -> None:
        """Register the hooks: the first to see a call, and the last to see its result before the model does."""
        registry.add_callback(BeforeInvocationEvent, self._before_invocation)
        registry.add_callback(BeforeToolCallEvent, self._before_call, order=_FIRST)
        registry.add_callback(AfterToolCallEvent, self._after_call, order=_LAST)
        registry.add_callback(AfterToolsEvent, self._after_calls, order=_LAST)
        registry.add_callback(AfterInvocationEvent, self._after_invocation, order=_LAST)

    def _before_invocation(self, event: BeforeInvocationEvent) -> None:
        """Start a run. Without a user message, such as after an interrupt, the previous run continues."""
        agent = self._agent(event.agent)
        if event.messages and not agent.continues:
            agent.run = uuid4().hex
            agent.message_ids = _message_ids(event.agent)
        agent.continues = False

    def _before_call(self, event: BeforeToolCallEvent) -> None:
        with fail_open(self.guard):
            call = self._make_call(event)
            if call is None:
                return
            watch = Watch(self.guard, call)
            self._agent(event.agent).add_open(event.tool_use["toolUseId"], watch)
            if watch.verdict.stops:
                event.cancel_tool = watch.verdict.advice

    def _make_call(self, event: BeforeToolCallEvent) -> ToolCall | None:
        turn = event.invocation_state.get("event_loop_cycle_id")
        if turn is None:
            return None  # a direct call by the user's program: `agent.tool.read(…)`
        agent = self._agent(event.agent)
        found = _message_ids(event.agent)
        if not agent.message_ids <= found:
            self.guard.compacted(agent.session, agent_id=agent.id)
        agent.message_ids = found
        use = event.tool_use
        return ToolCall(
            use["name"],
            use["input"],
            id=use["toolUseId"],
            turn_id=str(turn),
            run_id=agent.run,
            session_id=agent.session,
            agent_id=agent.id,
        )

    def _after_call(self, event: AfterToolCallEvent) -> None:
        if event.retry:
            return
        watch = self._agent(event.agent).open.pop(event.tool_use.get("toolUseId", ""), None)
        if watch is None or watch.verdict.stops or _is_interrupted(event.result):
            return
        try:
            advice = watch.record_outcome(lambda: _outcome(event))
        except ToolLoopError as ended:
            advice = ended.verdict.advice
        if advice:
            event.result = _with_advice(event.result, advice)

    def _after_calls(self, event: AfterToolsEvent) -> None:
        """End a run that the guard has ended, with the reason as the agent's final message."""
        agent = self._agent(event.agent)
        agent.ending = self.guard.ending(agent.run, agent.session, agent_id=agent.id)
        if agent.ending is not None:
            event.end_turn = agent.ending.reason

    def _after_invocation(self, event: AfterInvocationEvent) -> None:
        agent = self._agent(event.agent)
        agent.continues = event.resume is not None
        ending, agent.ending = agent.ending, None
        # An interrupt asks the user first; the run then ends when it is resumed.
        if ending is not None and self._raises and event.result and event.result.stop_reason != "interrupt":
            raise ToolLoopError(ending)

    def _agent(self, agent: Any) -> _Agent:
        known = self._agents.get(agent)
        if known is None:
            known = self._agents[agent] = _Agent(agent)
        return known


class _Agent:
    """The state of a guarded agent."""

    __slots__ = ("continues", "ending", "id", "message_ids", "open", "run", "session")

    def __init__(self, agent: Any) -> None:
        self.id: str | None = getattr(agent, "agent_id", None)
        self.session: str = getattr(agent, "session_id", None) or uuid4().hex
        self.run = uuid4().hex
        self.continues = False
        """Whether the next invocation continues this run: a hook has resumed the agent, without a user message."""
        self.message_ids = _message_ids(agent)
        """Ids of the messages at the last call; a compaction removes some of them."""
        self.open: dict[str, Watch] = {}
        """The watches of calls that have no result yet, by tool use id."""
        self.ending: Verdict | None = None

    def add_open(self, call_id: str, watch: Watch) -> None:
        """Keep a call until its result arrives. The oldest is dropped: an abandoned interrupt leaves no result."""
        self.open[call_id] = watch
        if len(self.open) > _MAX_OPEN:
            del self.open[next(iter(self.open))]


def _message_ids(agent: Any) -> frozenset[str]:
    ids = (message.get("tracking_id") for message in agent.messages if isinstance(message, dict))
    return frozenset(message_id for message_id in ids if isinstance(message_id, str))


def _is_interrupted(result: Any) -> bool:
    return isinstance(result, dict) and result.get("cancelled") is True


def _outcome(event: AfterToolCallEvent) -> Outcome:
    result = event.result
    content = _unwrapped(result["content"])
    if event.cancel_message is not None:
        return Outcome.denied(content)
    if result["status"] != "error":
        return Outcome.result(content)
    if event.selected_tool is None:
        return Outcome.unknown_tool(content)
    return Outcome.error(content, "" if event.exception is None else type(event.exception).__name__)


def _unwrapped(content: Any) -> Any:
    """Return the content of a result, without the block around it if there is only one."""
    if len(content) == 1 and len(content[0]) == 1:
        return content[0].get("text", content[0].get("json", content))
    return content


def _with_advice(result: Any, advice: str) -> Any:
    """Return a result with advice added as one more block."""
    if not isinstance(result, dict) or not isinstance(result.get("content"), list):
        return result
    return {**result, "content": [*result["content"], {"text": advice}]}
