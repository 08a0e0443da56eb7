"""
The adapter for Microsoft Agent Framework.

`WheelspinMiddleware` guards the agents it is added to. A run is one `run` of an agent, from the message to the answer.
The session is the framework's, if there is one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import uuid4

from agent_framework import (
    AgentContext,
    AgentMiddleware,
    ChatContext,
    ChatMiddleware,
    ChatResponse,
    ChatResponseUpdate,
    CompactionStrategy,
    Content,
    FunctionInvocationContext,
    FunctionMiddleware,
    Message,
    MiddlewareFailure,
    MiddlewareTermination,
    ResponseStream,
)
from agent_framework.exceptions import UserInputRequiredException

from wheelspin.core.events import Action, Outcome, ToolCall, Verdict
from wheelspin.core.guard import Guard
from wheelspin.errors import ToolLoopError
from wheelspin.watch import OnAbort, Watch, ends_with_message, fail_open

__all__ = ["LoopEnded", "WheelspinMiddleware", "guarded_compaction"]

_RUN: ContextVar[_Run | None] = ContextVar("wheelspin_agent_framework_run", default=None)

_Next = Callable[[], Awaitable[None]]


class LoopEnded(ToolLoopError, MiddlewareFailure):  # noqa: N818 - the framework's word for it is `MiddlewareFailure`
    """Raised to end a run. It leaves the agent, whereas the framework turns other exceptions into tool results."""


class WheelspinMiddleware(AgentMiddleware):
    """
    Guard an agent against tool-call loops.

    Args:
        guard: The guard; by default one with its detectors on. Agents and runs can share it.
        on_abort: How a run ends: `raise` a `ToolLoopError` from `run`, or `end` with a final message of the agent that
            gives the reason.

    Example:
        ```python
        agent = Agent(client, tools=tools, middleware=[WheelspinMiddleware()])
        ```
    """

    def __init__(self, guard: Guard | None = None, *, on_abort: OnAbort = "raise") -> None:
        self.guard = Guard() if guard is None else guard
        self._ends = ends_with_message(on_abort)

    async def process(self, context: AgentContext, call_next: _Next) -> None:
        """Start a run and watch its calls and messages."""
        run = _Run(self.guard, context, ends=self._ends)
        given = context.client_kwargs.get("middleware") or []
        context.client_kwargs["middleware"] = [_ToolCalls(run), _ModelCalls(run), *given]
        strategy = _strategy(context)
        if strategy is not None:
            context.compaction_strategy = _Compaction(strategy, run)
        with run.active():
            await call_next()
        if isinstance(context.result, ResponseStream):
            context.result.with_pull_context_manager(run.active)


def guarded_compaction(strategy: CompactionStrategy) -> CompactionStrategy:
    """
    Wrap a compaction strategy so that its compactions in a guarded run arm the run's guard.

    The strategy of an agent or its client needs no wrapper; the strategy of a `CompactionProvider` does.

    Args:
        strategy: The strategy.

    Returns:
        A strategy that compacts in the same way.

    Example:
        ```python
        provider = CompactionProvider(before_strategy=guarded_compaction(SlidingWindowStrategy(keep_last_groups=20)))
        ```
    """
    return _Compaction(strategy)


class _Run:
    """One run of an agent under a guard."""

    def __init__(self, guard: Guard, context: AgentContext, *, ends: bool) -> None:
        self.guard = guard
        self.ends = ends
        self.run_id = uuid4().hex
        session = getattr(context.session, "session_id", None)
        self.session_id: str = self.run_id if session is None else str(session)
        agent = context.agent
        self.agent_id: str | None = getattr(agent, "name", None) or getattr(agent, "id", None)
        self.turn_ids: dict[str | None, str] = {}
        self.pending_advice: dict[str | None, str] = {}
        self.known_ids: set[str | None] = set()
        self.error_raised = False

    @contextmanager
    def active(self) -> Iterator[None]:
        """Attribute compactions in this block to this run."""
        token = _RUN.set(self)
        try:
            yield
        finally:
            _RUN.reset(token)

    def compacted(self) -> None:
        self.guard.compacted(self.session_id, agent_id=self.agent_id)

    def make_call(self, tool: str, arguments: Any, call_id: str | None) -> ToolCall:
        self.known_ids.add(call_id)
        return ToolCall(
            tool,
            arguments,
            id=call_id,
            turn_id=self.turn_ids.get(call_id),
            run_id=self.run_id,
            session_id=self.session_id,
            agent_id=self.agent_id,
        )

    def ending(self) -> Verdict | None:
        """
        Return the verdict that ended the run, if any.

        `None` once the error has been raised: the framework may still send requests at that point.
        """
        return None if self.error_raised else self.guard.ending(self.run_id, self.session_id, agent_id=self.agent_id)

    def error(self, ending: Verdict) -> LoopEnded:
        self.error_raised = True
        return LoopEnded(ending)


class _ToolCalls(FunctionMiddleware):
    """Watches the tool calls of a run."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    async def process(self, context: FunctionInvocationContext, call_next: _Next) -> None:
        watch = Watch(self._run.guard, lambda: self._make_call(context))
        if watch.verdict.stops:
            if watch.verdict.action is Action.ABORT and not self._run.ends:
                raise self._run.error(watch.verdict)
            context.result = watch.verdict.advice
            return
        try:
            await call_next()
        except (MiddlewareTermination, MiddlewareFailure, UserInputRequiredException):
            raise
        except Exception as error:
            self._record_exception(watch, context, error)
            raise
        self._record_outcome(watch, context)

    def _make_call(self, context: FunctionInvocationContext) -> ToolCall:
        return self._run.make_call(context.function.name, context.arguments, context.metadata.get("call_id"))

    def _record_exception(self, watch: Watch, context: FunctionInvocationContext, error: Exception) -> None:
        advice = watch.verdict.advice
        try:
            watch.record_exception(error)
        except ToolLoopError as ended:
            if not self._run.ends:
                raise self._run.error(ended.verdict) from error
            advice = ended.verdict.advice
        if advice:  # the framework turns the exception into a result and drops its notes
            self._run.pending_advice[context.metadata.get("call_id")] = advice

    def _record_outcome(self, watch: Watch, context: FunctionInvocationContext) -> None:
        result = context.result
        if isinstance(result, Content) and result.type == "function_approval_request":
            return
        try:
            advice = watch.record_outcome(lambda: _outcome(result))
        except ToolLoopError as ended:
            if not self._run.ends:
                raise self._run.error(ended.verdict) from None
            advice = ended.verdict.advice
        if advice:
            context.result = [*_items(result), Content.from_text(advice)]


class _ModelCalls(ChatMiddleware):
    """Watches what a run sends to the model, and which calls the model asks for."""

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._requests = 0

    async def process(self, context: ChatContext, call_next: _Next) -> None:
        with fail_open(self._run.guard):
            self._check_results(context.messages)
        ending = self._run.ending()
        if ending is not None:
            if not self._run.ends:
                raise self._run.error(ending)
            context.result = _final_response(ending, stream=context.stream)
            return
        self._requests += 1
        turn = f"{self._run.run_id}-{self._requests}"

        def note_turn(part: Any) -> Any:
            """Note which message of the model each call belongs to."""
            with fail_open(self._run.guard):
                calls = [content.call_id for content in part.contents if content.type == "function_call"]
                self._run.turn_ids.update(dict.fromkeys(calls, turn))
            return part

        context.stream_transform_hooks.append(note_turn)
        await call_next()
        if isinstance(context.result, ChatResponse):
            for message in context.result.messages:
                note_turn(message)

    def _check_results(self, messages: Sequence[Message]) -> None:
        """Find calls of unknown tools, and add pending advice to results."""
        contents = [content for message in messages for content in message.contents]
        results = [content for content in contents if content.type == "function_result"]
        if not self._requests:  # results from earlier runs
            self._run.known_ids.update(result.call_id for result in results)
        calls = {content.call_id: content for content in contents if content.type == "function_call"}
        for result in results:
            call = calls.get(result.call_id)
            if result.call_id not in self._run.known_ids and call is not None and _is_unknown_tool(result, call):
                self._handle_unknown_tool(result, call)
            advice = self._run.pending_advice.pop(result.call_id, None)
            if advice is not None:
                _replace_content(result, [*_items(result.result), Content.from_text(advice)])

    def _handle_unknown_tool(self, result: Content, call: Content) -> None:
        watch = Watch(self._run.guard, self._run.make_call(str(call.name), call.parse_arguments(), call.call_id))
        if watch.verdict.stops:
            _replace_content(result, [Content.from_text(watch.verdict.advice)])
            return
        try:
            advice = watch.record_outcome(lambda: Outcome.unknown_tool(result.result))
        except ToolLoopError as ended:
            advice = ended.verdict.advice
        if advice:
            self._run.pending_advice[call.call_id] = advice


class _Compaction:
    """A compaction strategy that notifies a run of its compactions."""

    def __init__(self, strategy: CompactionStrategy, run: _Run | None = None) -> None:
        self._strategy = strategy
        self._run = run

    async def __call__(self, messages: list[Message]) -> bool:
        changed = await self._strategy(messages)
        run = self._run or _RUN.get()
        if changed and run is not None:
            run.compacted()
        return changed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._strategy, name)


def _strategy(context: AgentContext) -> CompactionStrategy | None:
    """Return the strategy that applies: the run's, else the agent's, else the client's."""
    agent = context.agent
    owners = (context, agent, getattr(agent, "client", None))
    found: Iterable[CompactionStrategy | None] = (getattr(owner, "compaction_strategy", None) for owner in owners)
    return next((strategy for strategy in found if strategy is not None), None)


def _is_unknown_tool(result: Content, call: Content) -> bool:
    return result.exception is not None and str(result.result) == f'Error: Requested function "{call.name}" not found.'


def _items(result: Any) -> list[Content]:
    """Return the content items the framework makes of a result."""
    return list(Content.from_function_result("", result=result).items or [])


def _outcome(result: Any) -> Outcome:
    items = _items(result)
    if all(item.type == "text" for item in items):
        return Outcome.result("\n".join(item.text or "" for item in items))
    return Outcome.result([item.to_dict() for item in items])


def _replace_content(result: Content, items: list[Content]) -> None:
    """Replace the content of an existing result."""
    made = Content.from_function_result("", result=items)
    result.items, result.result = made.items, made.result


def _final_response(ending: Verdict, *, stream: bool) -> Any:
    contents, code = [Content.from_text(ending.reason)], {"wheelspin": ending.code}
    if not stream:
        return ChatResponse(messages=[Message("assistant", contents)], additional_properties=code)

    async def updates() -> AsyncIterator[ChatResponseUpdate]:
        yield ChatResponseUpdate(role="assistant", contents=contents, additional_properties=code)

    return ResponseStream(updates(), finalizer=ChatResponse.from_updates)
