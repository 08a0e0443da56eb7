"""
Strands agents.

`WheelspinHooks` guards each agent that it is given to. A run is one invocation of the agent, from the user's message to
the answer; the agent's session is the session.
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
_MOST_OPEN = 256


class WheelspinHooks(HookProvider):
    """
    Guard agents against loops of tool calls.

    Args:
        guard: The guard; without one, a guard with its detectors on. Many agents may share it, and these hooks, too.
        on_abort: What ends a run: `raise` a `ToolLoopError` out of the agent, or `end` with a last message of the
            agent that says why. The message is there in both.

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
        """Hook into an agent: first where a call is made, last where its result goes to the model."""
        registry.add_callback(BeforeInvocationEvent, self._started)
        registry.add_callback(BeforeToolCallEvent, self._before, order=_FIRST)
        registry.add_callback(AfterToolCallEvent, self._after, order=_LAST)
        registry.add_callback(AfterToolsEvent, self._answered, order=_LAST)
        registry.add_callback(AfterInvocationEvent, self._done, order=_LAST)

    def _started(self, event: BeforeInvocationEvent) -> None:
        """Open a run; without a message of the user, such as after an interrupt, the run before goes on."""
        agent = self._agent(event.agent)
        if event.messages and not agent.resumes:
            agent.run = uuid4().hex
            agent.messages = _ids(event.agent)
        agent.resumes = False

    def _before(self, event: BeforeToolCallEvent) -> None:
        with fail_open(self.guard):
            call = self._call(event)
            if call is None:
                return
            watch = Watch(self.guard, call)
            self._agent(event.agent).wait(event.tool_use["toolUseId"], watch)
            if watch.verdict.stops:
                event.cancel_tool = watch.verdict.advice

    def _call(self, event: BeforeToolCallEvent) -> ToolCall | None:
        turn = event.invocation_state.get("event_loop_cycle_id")
        if turn is None:
            return None  # the user's own program calls a tool: `agent.tool.read(…)`
        agent = self._agent(event.agent)
        found = _ids(event.agent)
        if not agent.messages <= found:
            self.guard.compacted(agent.session, agent_id=agent.id)
        agent.messages = found
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

    def _after(self, event: AfterToolCallEvent) -> None:
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
            event.result = _with(event.result, advice)

    def _answered(self, event: AfterToolsEvent) -> None:
        """End a run that the guard has ended, with the reason as the agent's last word."""
        agent = self._agent(event.agent)
        agent.ending = self.guard.ending(agent.run, agent.session, agent_id=agent.id)
        if agent.ending is not None:
            event.end_turn = agent.ending.reason

    def _done(self, event: AfterInvocationEvent) -> None:
        agent = self._agent(event.agent)
        agent.resumes = event.resume is not None
        ending, agent.ending = agent.ending, None
        # With an interrupt the user is asked first: the run ends when it is resumed.
        if ending is not None and self._raises and event.result and event.result.stop_reason != "interrupt":
            raise ToolLoopError(ending)

    def _agent(self, agent: Any) -> _Agent:
        known = self._agents.get(agent)
        if known is None:
            known = self._agents[agent] = _Agent(agent)
        return known


class _Agent:
    """What is known of an agent."""

    __slots__ = ("ending", "id", "messages", "open", "resumes", "run", "session")

    def __init__(self, agent: Any) -> None:
        self.id: str | None = getattr(agent, "agent_id", None)
        self.session: str = getattr(agent, "session_id", None) or uuid4().hex
        self.run = uuid4().hex
        self.resumes = False
        """Whether the next invocation is no word of the user: a hook has the agent go on."""
        self.messages = _ids(agent)
        """The messages that were there last: a compaction takes some away."""
        self.open: dict[str, Watch] = {}
        """The calls that have no result yet."""
        self.ending: Verdict | None = None

    def wait(self, call_id: str, watch: Watch) -> None:
        """Keep a call until its result is there. Those that are interrupted for good get none."""
        self.open[call_id] = watch
        if len(self.open) > _MOST_OPEN:
            del self.open[next(iter(self.open))]


def _ids(agent: Any) -> frozenset[str]:
    ids = (message.get("tracking_id") for message in agent.messages if isinstance(message, dict))
    return frozenset(given for given in ids if isinstance(given, str))


def _is_interrupted(result: Any) -> bool:
    return isinstance(result, dict) and result.get("cancelled") is True


def _outcome(event: AfterToolCallEvent) -> Outcome:
    result = event.result
    shown = _shown(result["content"])
    if event.cancel_message is not None:
        return Outcome.denied(shown)
    if result["status"] != "error":
        return Outcome.result(shown)
    if event.selected_tool is None:
        return Outcome.unknown_tool(shown)
    return Outcome.error(shown, "" if event.exception is None else type(event.exception).__name__)


def _shown(content: Any) -> Any:
    """Give what a tool gave, out of its block where there is only one."""
    if len(content) == 1 and len(content[0]) == 1:
        return content[0].get("text", content[0].get("json", content))
    return content


def _with(result: Any, advice: str) -> Any:
    """Give a result with an advice as one more block."""
    if not isinstance(result, dict) or not isinstance(result.get("content"), list):
        return result
    return {**result, "content": [*result["content"], {"text": advice}]}
