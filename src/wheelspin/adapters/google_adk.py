"""
The adapter for Google's Agent Development Kit (ADK).

`WheelspinPlugin` guards all agents of an `App` or a `Runner`. A run is one invocation, from the user's message to the
answer. In a live session, a run is what follows the user's newest message.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any
from weakref import WeakKeyDictionary

from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from wheelspin.core.events import Outcome, ToolCall, Verdict
from wheelspin.core.guard import Guard
from wheelspin.errors import ToolLoopError
from wheelspin.watch import Compactions, OnAbort, Watch, ends_with_message, fail_open, with_advice

__all__ = ["WheelspinPlugin"]

_MAX_PENDING_ADVICE = 1000


class WheelspinPlugin(BasePlugin):
    """
    Guard the agents of an app against tool-call loops.

    Args:
        guard: The guard; by default one with its detectors on. Runs can share it.
        on_abort: How a run ends when its agent would next call the model: `end` with a final message of the agent that
            gives the reason, or `raise` an error. ADK wraps errors of plugins; the cause is the `ToolLoopError`.
        name: Name of the plugin.

    Example:
        ```python
        app = App(name="files", root_agent=agent, plugins=[WheelspinPlugin()])
        ```
    """

    def __init__(self, guard: Guard | None = None, *, on_abort: OnAbort = "end", name: str = "wheelspin") -> None:
        super().__init__(name=name)
        self.guard = Guard() if guard is None else guard
        self._raises = not ends_with_message(on_abort)
        self._compactions = Compactions(self.guard)
        self._watches: WeakKeyDictionary[ToolContext, Watch] = WeakKeyDictionary()
        self._pending_advice: dict[tuple[str, str | None], str] = {}

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        """Watch a call, and answer it if it is blocked."""
        return self._blocked_result(self._watch(tool, tool_args, tool_context))

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: Any
    ) -> dict[str, Any] | None:
        """Record the outcome. Advice is added later, so that the callbacks after this one see the original result."""
        watch = self._watches.pop(tool_context, None)
        if watch is not None and not watch.verdict.stops:
            self._record_outcome(watch, tool_context, lambda: _outcome(tool, tool_context, result))
        return None

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: BaseException
    ) -> dict[str, Any] | None:
        """Record that a tool raised an exception or does not exist."""
        watch = self._watches.get(tool_context)
        if watch is None:  # older ADKs run no callback before a call of an unknown tool
            watch = self._watch(tool, tool_args, tool_context)
            if watch is None or watch.verdict.stops:
                return self._blocked_result(watch)
        if type(tool) is BaseTool:  # ADK's placeholder for an unknown tool
            self._record_outcome(watch, tool_context, lambda: Outcome.unknown_tool(str(error)))
            return None
        with suppress(ToolLoopError):  # the tool's exception ends the run; if it is handled, the next model call does
            watch.record_exception(error)
        return None

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        """Add the advice of a warning to the result that the session and the model receive."""
        if self._pending_advice:
            with fail_open(self.guard):
                self._add_advice(event)
        return None

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """End a run that the guard has ended, with the reason as the agent's final message."""
        ending = self._ending(callback_context)
        if ending is None:
            return None
        if self._raises:
            raise ToolLoopError(ending)
        callback_context.actions.escalate = True  # or a `LoopAgent` would continue forever
        return LlmResponse(
            content=types.Content(role="model", parts=[types.Part(text=ending.reason)]),
            custom_metadata={"wheelspin": ending.code},
        )

    def _watch(self, tool: BaseTool, tool_args: dict[str, Any], context: ToolContext) -> Watch | None:
        with fail_open(self.guard):
            call = self._make_call(tool, tool_args, context)
            if call.id is not None:  # a call without an id comes from a workflow node, not from a model
                watch = self._watches[context] = Watch(self.guard, call)
                return watch
        return None

    def _make_call(self, tool: BaseTool, tool_args: dict[str, Any], context: ToolContext) -> ToolCall:
        session = context.session
        self._compactions.check_marks(session.id, _marks(session.events), agent_id=context.agent_name)
        return ToolCall(
            tool.name,
            tool_args,
            id=context.function_call_id,
            turn_id=_turn_id(session.events, context.function_call_id),
            run_id=_run_id(context),
            session_id=session.id,
            agent_id=context.agent_name,
        )

    def _blocked_result(self, watch: Watch | None) -> dict[str, Any] | None:
        return {"error": watch.verdict.advice} if watch is not None and watch.verdict.stops else None

    def _record_outcome(self, watch: Watch, context: ToolContext, outcome: Callable[[], Outcome]) -> None:
        try:
            advice = watch.record_outcome(outcome)
        except ToolLoopError as ended:
            advice = ended.verdict.advice
        if advice:
            self._pending_advice[context.invocation_id, context.function_call_id] = advice
            if len(self._pending_advice) > _MAX_PENDING_ADVICE:
                del self._pending_advice[next(iter(self._pending_advice))]

    def _add_advice(self, event: Event) -> None:
        for response in event.get_function_responses():
            advice = self._pending_advice.pop((event.invocation_id, response.id), None)
            if advice is not None:
                response.response = with_advice(dict(response.response or {}), advice)

    def _ending(self, context: CallbackContext) -> Verdict | None:
        with fail_open(self.guard):
            return self.guard.ending(_run_id(context), context.session.id, agent_id=context.agent_name)
        return None


def _run_id(context: CallbackContext) -> str:
    """Return the invocation's id, or, if it has several user messages (a live session), that of the newest one."""
    messages = [event.id for event in context.session.events if _is_user_message(event, context.invocation_id)]
    return messages[-1] if len(messages) > 1 else context.invocation_id


def _is_user_message(event: Event, invocation_id: str) -> bool:
    if event.author != "user" or event.invocation_id != invocation_id:
        return False
    return bool(event.content or event.input_transcription) and not event.get_function_responses()


def _turn_id(events: list[Event], call_id: str | None) -> str | None:
    for event in reversed(events):
        if any(call.id == call_id for call in event.get_function_calls()):
            return event.id
    return None


def _marks(events: list[Event]) -> list[str]:
    return [event.id for event in events if event.actions.compaction]


def _is_pending(tool: BaseTool, context: ToolContext, result: Any) -> bool:
    """Return whether the outcome comes later: from a long-running tool, or after the user confirms or signs in."""
    actions, call_id = context.actions, context.function_call_id
    asked = {*actions.requested_tool_confirmations, *actions.requested_auth_configs}
    later = tool.is_long_running or getattr(tool, "_defers_response", False)
    return call_id in asked or bool(later and not result)


def _outcome(tool: BaseTool, context: ToolContext, result: Any) -> Outcome:
    if _is_pending(tool, context, result):
        return Outcome.missing()
    confirmation = context.tool_confirmation
    if confirmation is not None and not confirmation.confirmed:
        return Outcome.denied(result)
    if type(result) is dict:
        if result.keys() == {"error"}:
            return Outcome.error(result["error"])
        if result.get("isError") is True:
            return Outcome.error(result)
    return Outcome.result(result)
