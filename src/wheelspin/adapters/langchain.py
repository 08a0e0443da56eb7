"""
The adapter for LangChain agents and LangGraph's `ToolNode`.

`WheelspinMiddleware` guards an agent made with `create_agent`; `guard_tools` returns the wrappers for a plain
`ToolNode`. A run is one `invoke` of the agent, from the user's message to the answer. The session is the thread, if
there is one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Annotated, Any, NotRequired
from uuid import uuid4

from langchain.agents.middleware import AgentMiddleware, AgentState
from langchain.agents.middleware.types import PrivateStateAttr
from langchain.tools.tool_node import ToolCallRequest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from wheelspin.core.events import Action, Outcome, ToolCall, Verdict
from wheelspin.core.guard import Guard
from wheelspin.errors import ToolLoopError
from wheelspin.watch import Compactions, OnAbort, Watch, ends_with_message, fail_open, with_advice

__all__ = ["LoopEnded", "WheelspinMiddleware", "guard_tools"]

_SUMMARY = "summarization"

_Answer = ToolMessage | Command[Any]
_Handler = Callable[[ToolCallRequest], _Answer]
_AsyncHandler = Callable[[ToolCallRequest], Awaitable[_Answer]]


class LoopEnded(ToolLoopError, GraphBubbleUp):  # noqa: N818 - it is how a graph ends
    """Raised to end a run. It passes through LangGraph even if `ToolNode` handles all tool errors."""


class GuardedState(AgentState[Any]):
    """The state of a guarded agent, with the id of its run."""

    wheelspin_run: NotRequired[Annotated[str, PrivateStateAttr]]


class WheelspinMiddleware(AgentMiddleware[GuardedState, Any, Any]):
    """
    Guard an agent against tool-call loops.

    Args:
        guard: The guard; by default one with its detectors on. Runs can share it.
        on_abort: How a run ends: `raise` a `ToolLoopError` from `invoke`, or `end` with a final message of the agent
            that gives the reason.

    Example:
        ```python
        agent = create_agent(model, tools, middleware=[WheelspinMiddleware()])
        ```
    """

    state_schema = GuardedState

    def __init__(self, guard: Guard | None = None, *, on_abort: OnAbort = "raise") -> None:
        super().__init__()
        self.guard = Guard() if guard is None else guard
        self._ends = ends_with_message(on_abort)
        self._tools = _Tools(self.guard, ends=self._ends)

    def before_agent(self, state: GuardedState, runtime: Any) -> dict[str, Any]:
        """Start a run."""
        return {"wheelspin_run": uuid4().hex}

    def wrap_model_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        """End a run that the guard has ended, with the reason as the agent's final message."""
        return self._final_message(request) or handler(request)

    async def awrap_model_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """End a run that the guard has ended, with the reason as the agent's final message."""
        return self._final_message(request) or await handler(request)

    def _final_message(self, request: Any) -> AIMessage | None:
        if not self._ends:
            return None
        ending = None
        with fail_open(self.guard):
            run = request.state.get("wheelspin_run")
            ending = self.guard.ending(run, _thread_id_of(get_config()) or run)
        return None if ending is None else AIMessage(ending.reason)

    def wrap_tool_call(self, request: ToolCallRequest, handler: _Handler) -> _Answer:
        """Watch a call."""
        return self._tools.call(request, handler)

    async def awrap_tool_call(self, request: ToolCallRequest, handler: _AsyncHandler) -> _Answer:
        """Watch a call."""
        return await self._tools.acall(request, handler)


def guard_tools(guard: Guard | None = None) -> dict[str, Callable[..., Any]]:
    """
    Return the wrappers that guard a plain `ToolNode`.

    A run is what follows the user's newest message.

    Args:
        guard: The guard; by default one with its detectors on.

    Returns:
        The arguments `wrap_tool_call` and `awrap_tool_call` of `ToolNode`.

    Example:
        ```python
        node = ToolNode(tools, **guard_tools())
        ```
    """
    tools = _Tools(Guard() if guard is None else guard, ends=False)
    return {"wrap_tool_call": tools.call, "awrap_tool_call": tools.acall}


class _Tools:
    """The tools of an agent under a guard."""

    def __init__(self, guard: Guard, *, ends: bool) -> None:
        self._guard = guard
        self._ends = ends
        self._compactions = Compactions(guard)

    def call(self, request: ToolCallRequest, handler: _Handler) -> _Answer:
        watch = self._watch(request)
        if watch.verdict.stops:
            return self._blocked_answer(request, watch.verdict)
        try:
            answer = handler(request)
        except BaseException as error:
            self._record_exception(watch, error)
            raise
        return self._record_answer(watch, answer)

    async def acall(self, request: ToolCallRequest, handler: _AsyncHandler) -> _Answer:
        watch = self._watch(request)
        if watch.verdict.stops:
            return self._blocked_answer(request, watch.verdict)
        try:
            answer = await handler(request)
        except BaseException as error:
            self._record_exception(watch, error)
            raise
        return self._record_answer(watch, answer)

    def _watch(self, request: ToolCallRequest) -> Watch:
        return Watch(self._guard, lambda: self._make_call(request))

    def _make_call(self, request: ToolCallRequest) -> ToolCall:
        state = request.state if isinstance(request.state, Mapping) else {}
        messages: list[AnyMessage] = state.get("messages") or []
        call = request.tool_call
        run = state.get("wheelspin_run") or _newest_prompt_id(messages)
        session = _thread_id(request) or run
        self._compactions.check_marks(session, _marks(state, messages))
        turn = next((message.id for message in reversed(messages) if isinstance(message, AIMessage)), None)
        return ToolCall(call["name"], call["args"], id=call["id"], turn_id=turn, run_id=run, session_id=session)

    def _blocked_answer(self, request: ToolCallRequest, verdict: Verdict) -> ToolMessage:
        if verdict.action is Action.ABORT and not self._ends:
            raise LoopEnded(verdict)
        call = request.tool_call
        return ToolMessage(verdict.advice, tool_call_id=call["id"], name=call["name"], status="error")

    def _record_answer(self, watch: Watch, answer: _Answer) -> _Answer:
        try:
            advice = watch.record_outcome(lambda: _outcome(answer))
        except ToolLoopError as ended:
            if not self._ends:
                raise LoopEnded(ended.verdict) from None
            advice = ended.verdict.advice
        if advice and isinstance(answer, ToolMessage):
            return answer.model_copy(update={"content": _content_with_advice(answer.content, advice)})
        return answer

    def _record_exception(self, watch: Watch, error: BaseException) -> None:
        if isinstance(error, GraphBubbleUp):
            return
        try:
            watch.record_exception(error)
        except ToolLoopError as ended:
            raise LoopEnded(ended.verdict) from error


def _thread_id(request: ToolCallRequest) -> str | None:
    runtime: Any = request.runtime
    return _thread_id_of(runtime.config if runtime is not None else None)


def _thread_id_of(config: Mapping[str, Any] | None) -> str | None:
    configurable = (config or {}).get("configurable")
    thread = configurable.get("thread_id") if configurable else None
    return None if thread is None else str(thread)


def _newest_prompt_id(messages: Iterable[AnyMessage]) -> str | None:
    prompts = [message for message in messages if isinstance(message, HumanMessage) and not _is_summary(message)]
    return prompts[-1].id if prompts else None


def _is_summary(message: AnyMessage) -> bool:
    return message.additional_kwargs.get("lc_source") == _SUMMARY


def _marks(state: Mapping[str, Any], messages: Iterable[AnyMessage]) -> list[str]:
    """Return the marks of compactions: the ids of summary messages, and the event that deepagents keeps."""
    marks = [str(message.id) for message in messages if _is_summary(message)]
    event = state.get("_summarization_event")
    return [*marks, f"cut at {event.get('cutoff_index')}"] if isinstance(event, Mapping) else marks


def _outcome(answer: _Answer) -> Outcome:
    if not isinstance(answer, ToolMessage):
        return Outcome.result(answer.update)
    content = answer.content
    if answer.status != "error":
        return Outcome.result(content)
    missing = isinstance(content, str) and content.startswith(f"Error: {answer.name} is not a valid tool")
    return Outcome.unknown_tool(content) if missing else Outcome.error(content)


def _content_with_advice(content: Any, advice: str) -> Any:
    """Return a message's content, a string or a list of blocks, with advice added."""
    return with_advice(content, advice) if isinstance(content, str) else [*content, {"type": "text", "text": advice}]
