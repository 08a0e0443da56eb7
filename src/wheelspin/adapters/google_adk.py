"""
Agents of Google's Agent Development Kit (ADK).

`WheelspinPlugin` guards all agents of an `App` or a `Runner`. A run is one invocation, from the user's message to the
answer; in a live session it is what follows the newest message of the user.
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

_MOST_ADVICES = 1000


class WheelspinPlugin(BasePlugin):
    """
    Guard the agents of an app against loops of tool calls.

    Args:
        guard: The guard; without one, a guard with its detectors on. Many runs may share it.
        on_abort: What ends a run, when its agent would ask the model next: `end` with a last message of the agent that
            says why, or `raise` the error that ADK makes of a plugin's, whose cause is a `ToolLoopError`.
        name: The plugin's name.

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
        self._advices: dict[tuple[str, str | None], str] = {}

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        """Watch a call, and answer one that must not run."""
        return self._refused(self._watch(tool, tool_args, tool_context))

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: Any
    ) -> dict[str, Any] | None:
        """Tell what came back; the advice is added later, so that the callbacks after this one see the result."""
        watch = self._watches.pop(tool_context, None)
        if watch is not None and not watch.verdict.stops:
            self._told(watch, tool_context, lambda: _outcome(tool, tool_context, result))
        return None

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: BaseException
    ) -> dict[str, Any] | None:
        """Tell that a tool raised an exception, or that there is no such tool."""
        watch = self._watches.get(tool_context)
        if watch is None:  # older ADKs ask nobody before a call of a tool that is not there
            watch = self._watch(tool, tool_args, tool_context)
            if watch is None or watch.verdict.stops:
                return self._refused(watch)
        if type(tool) is BaseTool:  # what stands in for a tool that is not there
            self._told(watch, tool_context, lambda: Outcome.unknown_tool(str(error)))
            return None
        with suppress(ToolLoopError):  # the exception ends the run; where it is handled, the next model call does
            watch.record_exception(error)
        return None

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        """Add the advice of a warning to the result that goes to the session and the model."""
        if self._advices:
            with fail_open(self.guard):
                self._advise(event)
        return None

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """End a run that the guard has ended, with the reason as the agent's last word."""
        ending = self._ending(callback_context)
        if ending is None:
            return None
        if self._raises:
            raise ToolLoopError(ending)
        callback_context.actions.escalate = True  # a `LoopAgent` would go on for ever
        return LlmResponse(
            content=types.Content(role="model", parts=[types.Part(text=ending.reason)]),
            custom_metadata={"wheelspin": ending.code},
        )

    def _watch(self, tool: BaseTool, tool_args: dict[str, Any], context: ToolContext) -> Watch | None:
        with fail_open(self.guard):
            call = self._call(tool, tool_args, context)
            if call.id is not None:  # without one it is a node of a workflow: no model asked for it
                watch = self._watches[context] = Watch(self.guard, call)
                return watch
        return None

    def _call(self, tool: BaseTool, tool_args: dict[str, Any], context: ToolContext) -> ToolCall:
        session = context.session
        self._compactions.check_marks(session.id, _marks(session.events), agent_id=context.agent_name)
        return ToolCall(
            tool.name,
            tool_args,
            id=context.function_call_id,
            turn_id=_turn(session.events, context.function_call_id),
            run_id=_run(context),
            session_id=session.id,
            agent_id=context.agent_name,
        )

    def _refused(self, watch: Watch | None) -> dict[str, Any] | None:
        return {"error": watch.verdict.advice} if watch is not None and watch.verdict.stops else None

    def _told(self, watch: Watch, context: ToolContext, outcome: Callable[[], Outcome]) -> None:
        try:
            advice = watch.record_outcome(outcome)
        except ToolLoopError as ended:
            advice = ended.verdict.advice
        if advice:
            self._advices[context.invocation_id, context.function_call_id] = advice
            if len(self._advices) > _MOST_ADVICES:
                del self._advices[next(iter(self._advices))]

    def _advise(self, event: Event) -> None:
        for response in event.get_function_responses():
            advice = self._advices.pop((event.invocation_id, response.id), None)
            if advice is not None:
                response.response = with_advice(dict(response.response or {}), advice)

    def _ending(self, context: CallbackContext) -> Verdict | None:
        with fail_open(self.guard):
            return self.guard.ending(_run(context), context.session.id, agent_id=context.agent_name)
        return None


def _run(context: CallbackContext) -> str:
    """Give the invocation, or in a live session, where the user speaks more than once in it, the newest message."""
    spoken = [event.id for event in context.session.events if _is_of_user(event, context.invocation_id)]
    return spoken[-1] if len(spoken) > 1 else context.invocation_id


def _is_of_user(event: Event, invocation_id: str) -> bool:
    if event.author != "user" or event.invocation_id != invocation_id:
        return False
    return bool(event.content or event.input_transcription) and not event.get_function_responses()


def _turn(events: list[Event], call_id: str | None) -> str | None:
    for event in reversed(events):
        if any(call.id == call_id for call in event.get_function_calls()):
            return event.id
    return None


def _marks(events: list[Event]) -> list[str]:
    return [event.id for event in events if event.actions.compaction]


def _is_pending(tool: BaseTool, context: ToolContext, result: Any) -> bool:
    """Tell whether the outcome comes later: from a tool that runs long, or after the user has agreed or signed in."""
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
