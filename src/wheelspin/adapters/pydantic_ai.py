"""
The adapter for Pydantic AI, 2.16 and later.

`WheelspinCapability` guards an agent. A run is one run of the agent. One without a prompt, such as one that brings the
results of deferred calls, continues the previous run. The session is the conversation.
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

_ANSWER_KINDS = {"tool-return", "retry-prompt"}
_DEFERRED_KINDS = {"external", "unapproved"}


class WheelspinCapability(AbstractCapability[Any]):
    """
    Guard an agent against tool-call loops.

    Args:
        guard: The guard; by default one with its detectors on. Agents and runs can share it.

    Example:
        ```python
        agent = Agent(model, tools=tools, capabilities=[WheelspinCapability()])
        ```
    """

    def __init__(self, guard: Guard | None = None) -> None:
        self.guard = Guard() if guard is None else guard
        self._run = _Run(self.guard)

    def get_ordering(self) -> CapabilityOrdering:
        """Be outermost, to see calls as the model made them and results as the model receives them."""
        return CapabilityOrdering(position="outermost")

    async def for_run(self, ctx: RunContext[Any]) -> WheelspinCapability:
        """Return the capability for one run."""
        capability = copy(self)
        capability._run = _Run(self.guard, ctx)  # noqa: SLF001 - a copy of this one
        return capability

    async def wrap_tool_validate(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: str | dict[str, Any],
        handler: Callable[..., Any],
    ) -> dict[str, Any]:
        """Check a deferred call before it is approved or run elsewhere, and watch a call with wrong arguments."""
        if tool_def.kind in _DEFERRED_KINDS:
            self._run.check_early(ctx, call)
        try:
            valid: dict[str, Any] = await handler(args)
        except (ValidationError, ModelRetry, ToolFailed) as error:
            self._run.record_exception(self._run.take_watch(ctx, call), call, error)
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
        watch = self._run.take_watch(ctx, call)
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
        """Record the outcomes that no hook has seen, and add pending advice to the request."""
        self._run.record_unseen(ctx)
        self._run.add_advice(ctx.messages)
        return request_context

    async def after_run(self, ctx: RunContext[Any], *, result: AgentRunResult[Any]) -> AgentRunResult[Any]:
        """Add pending advice if the run ends with deferred calls, because the next run continues its messages."""
        if isinstance(result.output, DeferredToolRequests):
            self._run.add_advice(result.all_messages())
        return result


class _Run:
    """A run of an agent under a guard."""

    def __init__(self, guard: Guard, ctx: RunContext[Any] | None = None) -> None:
        self._guard = guard
        self._id: str | None = None
        self._watches: dict[str, Watch] = {}
        self._recorded: set[str] = set()
        self._pending_advice: list[str] = []
        self._step = -1
        self._size = 0
        self._marks: set[int] = set()
        if ctx is not None:
            with fail_open(guard):
                self._id = _run_id(ctx)
                self._marks = set(_marks(ctx.messages))

    def check(self, ctx: RunContext[Any], call: ToolCallPart) -> Watch:
        """
        Check a call that is about to run.

        Raises:
            ToolFailed: The call is blocked. The framework turns this exception into a result that is flagged as an
                error and does not count as a retry.
            ToolLoopError: The run must end.
        """
        watch = self._watch(ctx, call, ctx.run_step)
        if watch.verdict.action is Action.ABORT:
            raise ToolLoopError(watch.verdict)
        if watch.verdict.stops:
            self._recorded.add(call.tool_call_id)
            raise ToolFailed(watch.verdict.advice)
        return watch

    def check_early(self, ctx: RunContext[Any], call: ToolCallPart) -> None:
        """Check a call that may run later; raises like `check`."""
        self._watches[call.tool_call_id] = self.check(ctx, call)

    def take_watch(self, ctx: RunContext[Any], call: ToolCallPart) -> Watch:
        """Return the watch of a call, checking the call now if it was not checked early; raises like `check`."""
        return self._watches.pop(call.tool_call_id, None) or self.check(ctx, call)

    def record_outcome(self, watch: Watch, call: ToolCallPart, outcome: Callable[[], Outcome]) -> None:
        """Record the outcome of a call."""
        self._recorded.add(call.tool_call_id)
        advice = watch.record_outcome(outcome)
        if advice:
            self._pending_advice.append(advice)

    def record_exception(self, watch: Watch, call: ToolCallPart, error: BaseException) -> None:
        """Record an exception that a call raised."""
        if isinstance(error, Exception):
            self._recorded.add(call.tool_call_id)
            watch.record_exception(error)
            if watch.verdict.advice:
                self._pending_advice.append(watch.verdict.advice)

    def record_unseen(self, ctx: RunContext[Any]) -> None:
        """Record the outcomes that no hook has seen: of unknown tools, and of deferred calls resolved elsewhere."""
        unseen = []
        with fail_open(self._guard):
            unseen = _unseen_answers(ctx, self._recorded)
        for request, part, call, missing in unseen:
            watch = self._watch(ctx, call, ctx.run_step - 1)
            if watch.verdict.action is Action.ABORT:
                raise ToolLoopError(watch.verdict)
            if watch.verdict.stops:
                refusal = ToolReturnPart(call.tool_name, watch.verdict.advice, call.tool_call_id, outcome="failed")
                request.parts = [refusal if other is part else other for other in request.parts]
            else:
                self.record_outcome(watch, call, partial(_outcome_of_part, part, missing=missing))
        self._recorded.clear()
        self._watches.clear()

    def add_advice(self, messages: list[ModelMessage]) -> None:
        """Add pending advice after the results in the next request to the model."""
        request = messages[-1] if messages else None
        if self._pending_advice and isinstance(request, ModelRequest):
            request.parts = [*request.parts, *map(SystemPromptPart, self._pending_advice)]
            self._pending_advice = []

    def _watch(self, ctx: RunContext[Any], call: ToolCallPart, step: int) -> Watch:
        return Watch(self._guard, lambda: self._make_call(ctx, call, step))

    def _make_call(self, ctx: RunContext[Any], call: ToolCallPart, step: int) -> ToolCall:
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
        """
        Return whether the conversation was compacted; `True` at most once per step.

        It was if there is a new summary, or at most half as many messages as in the step before.
        """
        if step == self._step:
            return False
        self._step = step
        with fail_open(self._guard):
            marks, size = set(_marks(ctx.messages)), len(ctx.messages)
            compacted = not marks <= self._marks or size * 2 <= self._size
            self._marks, self._size = marks, size
            return compacted
        return False


def _run_id(ctx: RunContext[Any]) -> str | None:
    """Return the id of the run that this one continues, the first one after the newest prompt, or its own id."""
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
    """Yield a hash of each summary in a conversation; the text itself is not kept."""
    for message in messages:
        for part in message.parts:
            if isinstance(part, CompactionPart):
                yield hash((part.id, part.content, str(part.provider_details)))


def _unseen_answers(ctx: RunContext[Any], recorded: set[str]) -> list[tuple[ModelRequest, Any, ToolCallPart, bool]]:
    """Return the answers to the newest calls not recorded yet: request, part, call, and whether the tool is unknown."""
    found: list[tuple[ModelRequest, Any, ToolCallPart, bool]] = []
    requests: list[ModelRequest] = []
    calls: dict[str, ToolCallPart] = {}
    for message in reversed(ctx.messages):
        if isinstance(message, ModelResponse):
            calls = {call.tool_call_id: call for call in message.tool_calls if call.tool_call_id not in recorded}
            break
        # A request from before this run is only sent again; its outcomes were recorded when it was new.
        if message.run_id in {None, ctx.run_id}:
            requests.insert(0, message)
    for request in requests if calls else ():
        for part in request.parts:
            call = calls.get(getattr(part, "tool_call_id", "")) if part.part_kind in _ANSWER_KINDS else None
            if call is not None and ctx.tool_manager is not None:
                definition = ctx.tool_manager.get_tool_def(call.tool_name)
                if definition is None or definition.kind != "output":
                    found.append((request, part, call, definition is None))
    return found


def _outcome_of_part(part: Any, *, missing: bool) -> Outcome:
    """Return the outcome of an answer. Before 2.60, a prompt to retry was a part without an `outcome`."""
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
