"""
Agents of Microsoft Agent Framework.

`WheelspinMiddleware` guards the agents that it is given to. A run is one `run` of an agent, from the message to the
answer; the session, where there is one, is the framework's.
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
    """A run is ended for a loop; it leaves the agent, where other exceptions become results of tools."""


class WheelspinMiddleware(AgentMiddleware):
    """
    Guard an agent against loops of tool calls.

    Args:
        guard: The guard; without one, a guard with its detectors on. Many agents and runs may share it.
        on_abort: What ends a run: `raise` a `ToolLoopError` out of `run`, or `end` with a last message of the agent
            that says why.

    Example:
        ```python
        agent = Agent(client, tools=tools, middleware=[WheelspinMiddleware()])
        ```
    """

    def __init__(self, guard: Guard | None = None, *, on_abort: OnAbort = "raise") -> None:
        self.guard = Guard() if guard is None else guard
        self._ends = ends_with_message(on_abort)

    async def process(self, context: AgentContext, call_next: _Next) -> None:
        """Open a run, whose calls and messages are watched."""
        run = _Run(self.guard, context, ends=self._ends)
        given = context.client_kwargs.get("middleware") or []
        context.client_kwargs["middleware"] = [_Calls(run), _Messages(run), *given]
        strategy = _strategy(context)
        if strategy is not None:
            context.compaction_strategy = _Compaction(strategy, run)
        with run.here():
            await call_next()
        if isinstance(context.result, ResponseStream):
            context.result.with_pull_context_manager(run.here)


def guarded_compaction(strategy: CompactionStrategy) -> CompactionStrategy:
    """
    Have what a compaction strategy does in a guarded run arm the run's guard.

    The strategy of an agent or its client needs no wrapper; that of a `CompactionProvider` does.

    Args:
        strategy: The strategy.

    Returns:
        A strategy that does the same.

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
        self.turns: dict[str | None, str] = {}
        self.advices: dict[str | None, str] = {}
        self.known: set[str | None] = set()
        self.left = False

    @contextmanager
    def here(self) -> Iterator[None]:
        """Make this the run of the compactions that happen meanwhile."""
        token = _RUN.set(self)
        try:
            yield
        finally:
            _RUN.reset(token)

    def compacted(self) -> None:
        self.guard.compacted(self.session_id, agent_id=self.agent_id)

    def call(self, tool: str, arguments: Any, call_id: str | None) -> ToolCall:
        self.known.add(call_id)
        return ToolCall(
            tool,
            arguments,
            id=call_id,
            turn_id=self.turns.get(call_id),
            run_id=self.run_id,
            session_id=self.session_id,
            agent_id=self.agent_id,
        )

    def ending(self) -> Verdict | None:
        """Give what ended the run; not once the error is on its way, since the framework may have more to send then."""
        return None if self.left else self.guard.ending(self.run_id, self.session_id, agent_id=self.agent_id)

    def error(self, ending: Verdict) -> LoopEnded:
        self.left = True
        return LoopEnded(ending)


class _Calls(FunctionMiddleware):
    """The calls of a run."""

    def __init__(self, run: _Run) -> None:
        self._run = run

    async def process(self, context: FunctionInvocationContext, call_next: _Next) -> None:
        watch = Watch(self._run.guard, lambda: self._call(context))
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
            self._raised(watch, context, error)
            raise
        self._returned(watch, context)

    def _call(self, context: FunctionInvocationContext) -> ToolCall:
        return self._run.call(context.function.name, context.arguments, context.metadata.get("call_id"))

    def _raised(self, watch: Watch, context: FunctionInvocationContext, error: Exception) -> None:
        advice = watch.verdict.advice
        try:
            watch.record_exception(error)
        except ToolLoopError as ended:
            if not self._run.ends:
                raise self._run.error(ended.verdict) from error
            advice = ended.verdict.advice
        if advice:  # the framework makes a result of the exception, without its notes
            self._run.advices[context.metadata.get("call_id")] = advice

    def _returned(self, watch: Watch, context: FunctionInvocationContext) -> None:
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


class _Messages(ChatMiddleware):
    """What a run sends to the model, and what the model asks for."""

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._sent = 0

    async def process(self, context: ChatContext, call_next: _Next) -> None:
        with fail_open(self._run.guard):
            self._look(context.messages)
        ending = self._run.ending()
        if ending is not None:
            if not self._run.ends:
                raise self._run.error(ending)
            context.result = _last_word(ending, stream=context.stream)
            return
        self._sent += 1
        turn = f"{self._run.run_id}-{self._sent}"

        def asked(part: Any) -> Any:
            """Note to which message of the model its calls belong."""
            with fail_open(self._run.guard):
                calls = [content.call_id for content in part.contents if content.type == "function_call"]
                self._run.turns.update(dict.fromkeys(calls, turn))
            return part

        context.stream_transform_hooks.append(asked)
        await call_next()
        if isinstance(context.result, ChatResponse):
            for message in context.result.messages:
                asked(message)

    def _look(self, messages: Sequence[Message]) -> None:
        """Find the calls of tools that are not there, and add what advice could not be added before."""
        contents = [content for message in messages for content in message.contents]
        results = [content for content in contents if content.type == "function_result"]
        if not self._sent:  # those of earlier runs
            self._run.known.update(result.call_id for result in results)
        calls = {content.call_id: content for content in contents if content.type == "function_call"}
        for result in results:
            call = calls.get(result.call_id)
            if result.call_id not in self._run.known and call is not None and _is_of_no_tool(result, call):
                self._tell_unknown(result, call)
            advice = self._run.advices.pop(result.call_id, None)
            if advice is not None:
                _show(result, [*_items(result.result), Content.from_text(advice)])

    def _tell_unknown(self, result: Content, call: Content) -> None:
        watch = Watch(self._run.guard, self._run.call(str(call.name), call.parse_arguments(), call.call_id))
        if watch.verdict.stops:
            _show(result, [Content.from_text(watch.verdict.advice)])
            return
        try:
            advice = watch.record_outcome(lambda: Outcome.unknown_tool(result.result))
        except ToolLoopError as ended:
            advice = ended.verdict.advice
        if advice:
            self._run.advices[call.call_id] = advice


class _Compaction:
    """A compaction strategy that tells a run of what it did."""

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
    """Give the strategy that would be used: that of the run, of the agent, or of its client."""
    agent = context.agent
    owners = (context, agent, getattr(agent, "client", None))
    found: Iterable[CompactionStrategy | None] = (getattr(owner, "compaction_strategy", None) for owner in owners)
    return next((strategy for strategy in found if strategy is not None), None)


def _is_of_no_tool(result: Content, call: Content) -> bool:
    return result.exception is not None and str(result.result) == f'Error: Requested function "{call.name}" not found.'


def _items(result: Any) -> list[Content]:
    """Give what the framework makes of a result."""
    return list(Content.from_function_result("", result=result).items or [])


def _outcome(result: Any) -> Outcome:
    items = _items(result)
    if all(item.type == "text" for item in items):
        return Outcome.result("\n".join(item.text or "" for item in items))
    return Outcome.result([item.to_dict() for item in items])


def _show(result: Content, items: list[Content]) -> None:
    """Give a result that was made already another content."""
    made = Content.from_function_result("", result=items)
    result.items, result.result = made.items, made.result


def _last_word(ending: Verdict, *, stream: bool) -> Any:
    contents, code = [Content.from_text(ending.reason)], {"wheelspin": ending.code}
    if not stream:
        return ChatResponse(messages=[Message("assistant", contents)], additional_properties=code)

    async def updates() -> AsyncIterator[ChatResponseUpdate]:
        yield ChatResponseUpdate(role="assistant", contents=contents, additional_properties=code)

    return ResponseStream(updates(), finalizer=ChatResponse.from_updates)
