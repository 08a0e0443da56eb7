"""
Agents of Pydantic AI, 2.16 and later.

`WheelspinCapability` guards an agent. A run is one run of the agent; one without a prompt, such as one that brings the
results of deferred calls, goes on with the run before it. The conversation is the session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import partial
from typing import Any

from pydantic import ValidationError
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ModelRetry, SkipToolExecution, ToolFailed
from pydantic_ai.messages import (
    CompactionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.run import AgentRunResult
from pydantic_ai.tools import DeferredToolRequests, RunContext, ToolDefinition, ToolDenied

from wheelspin.core.events import Action, Outcome, ToolCall
from wheelspin.core.guard import Guard
from wheelspin.errors import ToolLoopError
from wheelspin.watch import Watch, fail_open

__all__ = ["WheelspinCapability"]

_ANSWERS = {"tool-return", "retry-prompt"}
_DEFERRED = {"external", "unapproved"}


class WheelspinCapability(AbstractCapability[Any]):
    """
    Guard an agent against loops of tool calls.

    Args:
        guard: The guard; without one, a guard with its detectors on. Many agents and runs may share it.

    Example:
        ```python
        agent = Agent(model, tools=tools, capabilities=[WheelspinCapability()])
        ```
    """

    def __init__(self, guard: Guard | None = None) -> None:
        self.guard = Guard() if guard is None else guard
        self._run = _Run(self.guard)

    def get_ordering(self) -> CapabilityOrdering:
        """Stand outside of the others: see calls as the model made them, and results as it gets them."""
        return CapabilityOrdering(position="outermost")

    async def for_run(self, ctx: RunContext[Any]) -> WheelspinCapability:
        """Give the capability of one run."""
        ours = copy(self)
        ours._run = _Run(self.guard, ctx)  # noqa: SLF001 - a copy of this one
        return ours

    async def wrap_tool_validate(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: str | dict[str, Any],
        handler: Callable[..., Any],
    ) -> dict[str, Any]:
        """Judge a call before somebody else is asked to approve it or to run it, and watch one with wrong arguments."""
        if tool_def.kind in _DEFERRED:
            self._run.expect(ctx, call)
        try:
            valid: dict[str, Any] = await handler(args)
        except (ValidationError, ModelRetry, ToolFailed) as error:
            self._run.record_exception(self._run.asked(ctx, call), call, error)
            raise
        return valid

    async def wrap_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        handler: Callable[..., Any],
    ) -> Any:
        """Watch a call."""
        watch = self._run.asked(ctx, call)
        try:
            result = await handler(args)
        except (CallDeferred, ApprovalRequired):
            raise
        except SkipToolExecution as skipped:
            result = skipped.result
            self._run.record_outcome(watch, call, lambda: _outcome(result))
            raise
        except BaseException as error:
            self._run.record_exception(watch, call, error)
            raise
        self._run.record_outcome(watch, call, lambda: _outcome(result))
        return result

    async def before_model_request(self, ctx: RunContext[Any], request_context: Any) -> Any:
        """Tell what came back without a tool being run, and say what there is to say."""
        self._run.settle(ctx)
        self._run.say(ctx.messages)
        return request_context

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Say what there is to say also where the run is only put off: it goes on with these messages."""
        if isinstance(result.output, DeferredToolRequests):
            self._run.say(result.all_messages())
        return result


class _Run:
    """A run of an agent under a guard."""

    def __init__(self, guard: Guard, ctx: RunContext[Any] | None = None) -> None:
        self._guard = guard
        self._id: str | None = None
        self._watches: dict[str, Watch] = {}
        self._told: set[str] = set()
        self._advices: list[str] = []
        self._step = -1
        self._size = 0
        self._marks: set[int] = set()
        if ctx is not None:
            with fail_open(guard):
                self._id = _task(ctx)
                self._marks = set(_marks(ctx.messages))

    def ask(self, ctx: RunContext[Any], call: ToolCallPart) -> Watch:
        """
        Ask about a call that is going to be made.

        Raises:
            ToolFailed: The call is blocked; this is the framework's word for a result that is flagged as an error, and
                is not counted as a retry.
            ToolLoopError: The run is to be ended.
        """
        watch = self._watch(ctx, call, ctx.run_step)
        if watch.verdict.action is Action.ABORT:
            raise ToolLoopError(watch.verdict)
        if watch.verdict.stops:
            self._told.add(call.tool_call_id)
            raise ToolFailed(watch.verdict.advice)
        return watch

    def expect(self, ctx: RunContext[Any], call: ToolCallPart) -> None:
        """Ask about a call that may be made later on; raises as `ask`."""
        self._watches[call.tool_call_id] = self.ask(ctx, call)

    def asked(self, ctx: RunContext[Any], call: ToolCallPart) -> Watch:
        """Give the watch of a call, which is asked about now where it was not before; raises as `ask`."""
        return self._watches.pop(call.tool_call_id, None) or self.ask(ctx, call)

    def record_outcome(self, watch: Watch, call: ToolCallPart, outcome: Callable[[], Outcome]) -> None:
        """Tell what a call gave."""
        self._told.add(call.tool_call_id)
        advice = watch.record_outcome(outcome)
        if advice:
            self._advices.append(advice)

    def record_exception(self, watch: Watch, call: ToolCallPart, error: BaseException) -> None:
        """Tell that a call failed."""
        if isinstance(error, Exception):
            self._told.add(call.tool_call_id)
            watch.record_exception(error)
            if watch.verdict.advice:
                self._advices.append(watch.verdict.advice)

    def settle(self, ctx: RunContext[Any]) -> None:
        """Tell the outcomes that no hook has seen: of unknown tools, and of deferred calls that others have settled."""
        untold = []
        with fail_open(self._guard):
            untold = _untold(ctx, self._told)
        for request, part, call, missing in untold:
            watch = self._watch(ctx, call, ctx.run_step - 1)
            if watch.verdict.action is Action.ABORT:
                raise ToolLoopError(watch.verdict)
            if watch.verdict.stops:
                refusal = ToolReturnPart(call.tool_name, watch.verdict.advice, call.tool_call_id, outcome="failed")
                request.parts = [refusal if other is part else other for other in request.parts]
            else:
                self.record_outcome(watch, call, partial(_answer, part, missing=missing))
        self._told.clear()
        self._watches.clear()

    def say(self, messages: list[ModelMessage]) -> None:
        """Put the advices behind the results that go to the model next."""
        request = messages[-1] if messages else None
        if self._advices and isinstance(request, ModelRequest):
            request.parts = [*request.parts, *map(SystemPromptPart, self._advices)]
            self._advices = []

    def _watch(self, ctx: RunContext[Any], call: ToolCallPart, step: int) -> Watch:
        return Watch(self._guard, lambda: self._call(ctx, call, step))

    def _call(self, ctx: RunContext[Any], call: ToolCallPart, step: int) -> ToolCall:
        session, agent = ctx.conversation_id, getattr(ctx.agent, "name", None)
        if self._was_compacted(ctx, step):
            self._guard.compacted(session, agent_id=agent)
        return ToolCall(
            call.tool_name,
            _arguments(call),
            id=call.tool_call_id,
            turn_id=f"{ctx.run_id}:{step}",
            run_id=self._id or ctx.run_id,
            session_id=session,
            agent_id=agent,
        )

    def _was_compacted(self, ctx: RunContext[Any], step: int) -> bool:
        """Tell once a step whether there is a new summary, or at most half of the messages of the step before."""
        if step == self._step:
            return False
        self._step = step
        with fail_open(self._guard):
            marks, size = set(_marks(ctx.messages)), len(ctx.messages)
            compacted = not marks <= self._marks or size * 2 <= self._size
            self._marks, self._size = marks, size
            return compacted
        return False


def _task(ctx: RunContext[Any]) -> str | None:
    """Give the run that this one goes on with, which is the first one after the newest prompt; or its own id."""
    run = ctx.run_id
    if ctx.prompt is None:
        for message in reversed(ctx.messages):
            if any(isinstance(part, UserPromptPart) for part in message.parts):
                break
            run = message.run_id or run
    return run


def _arguments(call: ToolCallPart) -> Any:
    try:
        return call.args_as_dict()
    except Exception:
        return call.args


def _marks(messages: Iterable[ModelMessage]) -> Iterator[int]:
    """Give what tells the summaries in a conversation apart; nothing of their text is kept."""
    for message in messages:
        for part in message.parts:
            if isinstance(part, CompactionPart):
                yield hash((part.id, part.content, str(part.provider_details)))


def _untold(ctx: RunContext[Any], told: set[str]) -> list[tuple[ModelRequest, Any, ToolCallPart, bool]]:
    """Give what answers the newest calls and is not told: request, part, call, and whether there is no such tool."""
    found: list[tuple[ModelRequest, Any, ToolCallPart, bool]] = []
    requests: list[ModelRequest] = []
    calls: dict[str, ToolCallPart] = {}
    for message in reversed(ctx.messages):
        if isinstance(message, ModelResponse):
            calls = {call.tool_call_id: call for call in message.tool_calls if call.tool_call_id not in told}
            break
        # A request from before this run, which is only sent again, was told when it was new.
        if message.run_id in {None, ctx.run_id}:
            requests.insert(0, message)
    for request in requests if calls else ():
        for part in request.parts:
            call = calls.get(getattr(part, "tool_call_id", "")) if part.part_kind in _ANSWERS else None
            if call is not None and ctx.tool_manager is not None:
                definition = ctx.tool_manager.get_tool_def(call.tool_name)
                if definition is None or definition.kind != "output":
                    found.append((request, part, call, definition is None))
    return found


def _answer(part: Any, *, missing: bool) -> Outcome:
    """Give the outcome that an answer stands for. What is to be tried again was one of its own kind before 2.60."""
    outcome = getattr(part, "outcome", "retried")
    if outcome == "success":
        return Outcome.result(part.content)
    if outcome == "denied":
        return Outcome.denied(part.content)
    if outcome == "interrupted":
        return Outcome.missing()
    return Outcome.unknown_tool(part.content) if missing else Outcome.error(part.content)


def _outcome(result: Any) -> Outcome:
    if isinstance(result, ToolDenied):
        return Outcome.denied(result.message)
    if isinstance(result, ToolReturn):
        return Outcome.result([result.return_value, result.content] if result.content else result.return_value)
    return Outcome.result(result)
