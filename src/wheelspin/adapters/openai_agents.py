"""
The adapter for the OpenAI Agents SDK, built on tool guardrails.

`guard_agent` guards an agent and the agents it reaches; `guard_session` assigns runs to a session. Guarded are function
tools, tools of MCP servers, and agents used as tools. A run is one run of the `Runner`; each call of an agent used as a
tool is a run of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import ContextVar
from functools import cache, partial
from inspect import signature
from threading import Lock
from typing import Any, TypeVar
from uuid import uuid4
from weakref import WeakSet

from agents import Agent, AgentHooks, FunctionTool, Handoff, ToolErrorFormatterArgs
from agents.exceptions import AgentsException
from agents.tool import ToolOutputText, default_tool_error_function
from agents.tool_guardrails import ToolGuardrailFunctionOutput, ToolInputGuardrail, ToolOutputGuardrail
from agents.tracing import Trace, get_current_trace

from wheelspin.core.events import Action, Outcome, ToolCall, Verdict
from wheelspin.core.guard import Guard
from wheelspin.errors import ToolLoopError
from wheelspin.watch import Compactions, Watch, fail_open, with_advice

__all__ = ["LoopEnded", "guard_agent", "guard_session", "tell_unknown_tools"]

_A = TypeVar("_A", bound=Agent[Any])
_S = TypeVar("_S")

_RUN_ATTRIBUTE = "wheelspin_run"
_SESSION_ATTRIBUTE = "wheelspin_session"
_GUARDED_ATTRIBUTE = "wheelspin_guarded"
_FAILURE_FUNCTION = "_failure_error_function"
_PART_TYPES = frozenset({"text", "image", "file"})
_DEFAULT_ERROR_TEXT = default_tool_error_function(None, Exception()).rstrip()  # type: ignore[arg-type]
_MAX_RUNS = 2000
_RUNS: dict[str, _Run] = {}
_LOCK = Lock()
_RUN_TRACES: WeakSet[Trace] = WeakSet()
_CALL: ContextVar[_Call | None] = ContextVar("wheelspin_call", default=None)


class LoopEnded(ToolLoopError, AgentsException):  # noqa: N818 - it is how a run ends
    """Raised to end a run. The SDK lets it leave `Runner.run` unchanged because it is an `AgentsException`."""


def guard_agent(agent: _A, guard: Guard | None = None) -> _A:
    """
    Guard an agent, the agents it hands off to and the agents it uses as tools against tool-call loops.

    Args:
        agent: The agent. It is changed in place; tools and hand-offs added later are guarded as well. A reachable agent
            that already has a guard keeps it.
        guard: The guard; by default one with its detectors on. Agents and runs can share it.

    Returns:
        The same agent.

    Example:
        ```python
        agent = guard_agent(Agent("reader", tools=[read]))
        ```
    """
    _guard_in_place(agent, Guard() if guard is None else guard)
    return agent


def guard_session(session: _S) -> _S:
    """
    Assign the runs that use a session to it, so that loops are detected across the session's compactions.

    Args:
        session: A session of the SDK, such as `SQLiteSession` or `OpenAIResponsesCompactionSession`.

    Returns:
        The same session.

    Example:
        ```python
        session = guard_session(OpenAIResponsesCompactionSession("s1", SQLiteSession("s1")))
        ```
    """
    for name in ("get_items", "add_items", "pop_item", "clear_session"):  # the SDK needs all of them to take the run
        setattr(session, name, _with_session_id(session, getattr(session, name)))
    return session


def tell_unknown_tools(args: ToolErrorFormatterArgs[Any]) -> str | None:
    """
    Add advice to the message that reports an unknown tool to the model.

    Args:
        args: The arguments of a `tool_error_formatter` of the SDK.

    Returns:
        The message for the model, or `None` if there is no advice; the SDK then uses its own message.

    Example:
        ```python
        config = RunConfig(tool_not_found_behavior="return_error_to_model", tool_error_formatter=tell_unknown_tools)
        ```
    """
    advice = _Run.of(args.run_context, _CALL.get()).advice.pop(args.call_id, "")
    return with_advice(args.default_message, advice) if advice else None


def _with_session_id(session: Any, method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a session's method so that it stores the session's id in the context of the run that uses the session."""
    takes_wrapper = "wrapper" in signature(method).parameters

    async def method_with_session_id(*args: Any, wrapper: Any = None, **options: Any) -> Any:
        if wrapper is not None:
            setattr(wrapper, _SESSION_ATTRIBUTE, getattr(session, "session_id", None))
        return await method(*args, **options, **({"wrapper": wrapper} if takes_wrapper else {}))

    return method_with_session_id


class _Run:
    """The adapter's state of a run."""

    def __init__(self, key: str, run_id: str, context: Any) -> None:
        session = getattr(context, _SESSION_ATTRIBUTE, None) or getattr(get_current_trace(), "group_id", None)
        self.key = key
        self.id = run_id
        self.session_id = session if isinstance(session, str) else run_id
        self.turn_id: str | None = None
        self.parent: _Call | None = None  # the call that this run is part of
        self.tool_names: frozenset[str] = frozenset()  # names of the agent's tools and hand-offs
        self.marks: frozenset[int] = frozenset()  # compactions in the last request and response
        self.open: dict[str | None, _Call] = {}
        self.advice: dict[str, str] = {}

    @classmethod
    def of(cls, context: Any, parent: _Call | None) -> _Run:
        """Return the run of a context. Its key is stored on the context's `usage`, the object that counts tokens."""
        key: str | None = getattr(context.usage, _RUN_ATTRIBUTE, None)
        if key is None:
            key, trace = uuid4().hex, get_current_trace()
            # Use the trace's id if no other run has used it yet.
            if trace is not None and trace not in _RUN_TRACES and trace.trace_id.startswith("trace_"):
                key = trace.trace_id
                _RUN_TRACES.add(trace)
            setattr(context.usage, _RUN_ATTRIBUTE, key)
        # An agent used as a tool shares the `usage` of its caller.
        run_id = key if parent is None or parent.run.key != key else f"{parent.run.id}/{parent.id}"
        with _LOCK:
            run = _RUNS[run_id] = _RUNS.pop(run_id) if run_id in _RUNS else cls(key, run_id, context)
            if len(_RUNS) > _MAX_RUNS:
                del _RUNS[next(iter(_RUNS))]
        run.parent = parent
        return run

    def make_call(self, agent: Any, tool: str, arguments: str, call_id: str) -> ToolCall:
        """Return a call of this run."""
        given: Any = arguments
        with suppress(ValueError):  # the model may write invalid JSON
            given = json.loads(arguments) if arguments else {}
        ids = {"id": call_id, "turn_id": self.turn_id, "run_id": self.id, "session_id": self.session_id}
        return ToolCall(tool, given, **ids, agent_id=agent.name)

    def end(self, verdict: Verdict) -> LoopEnded:
        """Return the error that ends this run and the runs around it."""
        error = LoopEnded(verdict)
        around = self.parent
        while around is not None:
            around.ended, around = error, around.run.parent
        return error


class _Call(Watch):
    """One call of a guarded agent."""

    def __init__(self, guard: Guard, call: ToolCall, run: _Run) -> None:
        super().__init__(guard, call)
        self.id = call.id
        self.run = run
        self.advice = ""
        self.error: Exception | None = None
        self.ended: LoopEnded | None = None  # the end of a run within this call
        if not self.verdict.stops:
            run.open[self.id] = self

    def record(self, outcome: Callable[[], Outcome]) -> None:
        """Record the outcome of the call."""
        self.run.open.pop(self.id, None)
        try:
            self.advice = self.record_outcome(outcome)
        except ToolLoopError as end:
            raise self.run.end(end.verdict) from self.error


class _Hooks(AgentHooks[Any]):
    """The hooks of a guarded agent: those of the guard, followed by the user's."""

    def __init__(self, guard: Guard, user_hooks: AgentHooks[Any] | None) -> None:
        self.guard = guard
        self.compactions = Compactions(guard)
        self.user_hooks = AgentHooks[Any]() if user_hooks is None else user_hooks
        for name in ("on_start", "on_end", "on_tool_start", "on_tool_end"):  # the guard does not need these
            setattr(self, name, getattr(self.user_hooks, name))

    def prepare(self, agent: Any, context: Any, tools: list[Any]) -> None:
        """Guard the tools of a turn and note their names."""
        with fail_open(self.guard):
            _guard_reachable(agent, self.guard, tools)
            handed = (h.tool_name if isinstance(h, Handoff) else Handoff.default_tool_name(h) for h in agent.handoffs)
            if get_current_trace() is not None:  # restoring a run state asks for the tools outside of a run
                _Run.of(context, _CALL.get()).tool_names = frozenset((*(tool.name for tool in tools), *handed))

    async def on_llm_start(self, context: Any, agent: Any, system_prompt: Any, input_items: Any) -> None:
        with fail_open(self.guard):
            run = _Run.of(context, _CALL.get())
            self._check_compactions(run, agent, input_items, frozenset())
            for item in input_items if run.open else ():
                call = run.open.get(_field(item, "call_id"))
                if call is not None and _field(item, "type") == "function_call_output":  # somebody else answered it
                    call.record(partial(Outcome.denied, _field(item, "output")))
        await self.user_hooks.on_llm_start(context, agent, system_prompt, input_items)

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        with fail_open(self.guard):
            run = _Run.of(context, _CALL.get())
            run.turn_id = response.response_id or uuid4().hex
            self._check_compactions(run, agent, response.output, run.marks)
            for item in response.output:
                if _field(item, "type") == "function_call" and item.name not in run.tool_names | {"json_tool_call"}:
                    self._handle_unknown_tool(run, agent, item)
        await self.user_hooks.on_llm_end(context, agent, response)

    def _check_compactions(self, run: _Run, agent: Any, items: Iterable[Any], before: frozenset[int]) -> None:
        found = [item for item in items if _field(item, "type") == "compaction"]
        run.marks = before | {hash(_field(item, "encrypted_content") or _field(item, "id")) for item in found}
        self.compactions.check_marks(run.session_id, run.marks, agent_id=agent.name)

    def _handle_unknown_tool(self, run: _Run, agent: Any, item: Any) -> None:
        call = _Call(self.guard, run.make_call(agent, item.name, item.arguments, item.call_id), run)
        if call.verdict.action is Action.ABORT:
            raise run.end(call.verdict)
        if not call.verdict.stops:
            call.record(partial(Outcome.unknown_tool, f"Tool '{item.name}' not found."))
        run.advice[item.call_id] = call.verdict.advice

    async def on_handoff(self, context: Any, agent: Any, source: Any) -> None:
        with fail_open(self.guard):
            _guard_reachable(source, self.guard, [], agent)
        await self.user_hooks.on_handoff(context, agent, source)


def _guard_in_place(agent: Any, guard: Guard) -> None:
    existing = _hooks(agent)
    agent.hooks = _Hooks(guard, agent.hooks if existing is None else existing.user_hooks)
    if not hasattr(type(agent), _GUARDED_ATTRIBUTE):
        base: Any = type(agent)
        agent.__class__ = _guarded_class(base)
    _guard_reachable(agent, guard, agent.tools)


def _guard_reachable(agent: Any, guard: Guard, tools: Iterable[Any], *others: Any) -> None:
    """Guard tools of an agent, and the agents it reaches through them and its hand-offs."""
    reached = [*agent.handoffs, *others]
    for tool in tools:
        if isinstance(tool, FunctionTool):
            _add_guardrails(tool)
            reached.append(getattr(tool, "_agent_instance", None))
    for other in reached:
        if isinstance(other, Agent) and _hooks(other) is None:
            _guard_in_place(other, guard)


@cache
def _guarded_class(base: Any) -> Any:
    """Return the class of guarded agents. It sees the tools of each turn, even in clones made by the SDK."""

    async def get_all_tools(self: Any, run_context: Any) -> Any:
        tools = await base.get_all_tools(self, run_context)
        hooks = _hooks(self)
        if hooks is not None:
            hooks.prepare(self, run_context, tools)
        return tools

    def set_attribute(self: Any, name: str, value: Any) -> None:
        ours = _hooks(self) if name == "hooks" and not isinstance(value, _Hooks) else None
        base.__setattr__(self, name, value if ours is None else _Hooks(ours.guard, value))

    attributes = {"__module__": base.__module__, "__qualname__": base.__qualname__, _GUARDED_ATTRIBUTE: True}
    return type(base.__name__, (base,), {"get_all_tools": get_all_tools, "__setattr__": set_attribute, **attributes})


def _hooks(agent: Any) -> _Hooks | None:
    hooks = getattr(agent, "hooks", None)
    return hooks if isinstance(hooks, _Hooks) else None


def _add_guardrails(tool: FunctionTool) -> None:
    """Add the guard's guardrails to a tool, before and after the user's own, whose rejections stay in force."""
    ours = (_INPUT_GUARDRAIL, _OUTPUT_GUARDRAIL, _ADVICE_GUARDRAIL)
    inputs = [guardrail for guardrail in tool.tool_input_guardrails or () if guardrail not in ours]
    outputs = [guardrail for guardrail in tool.tool_output_guardrails or () if guardrail not in ours]
    tool.tool_input_guardrails = [_INPUT_GUARDRAIL, *inputs]
    tool.tool_output_guardrails = [_OUTPUT_GUARDRAIL, *outputs, _ADVICE_GUARDRAIL]
    if not getattr(tool, "_use_default_failure_error_function", True):
        function = getattr(tool, _FAILURE_FUNCTION, default_tool_error_function)
        if function is not default_tool_error_function and not hasattr(function, _GUARDED_ATTRIBUTE):
            setattr(tool, _FAILURE_FUNCTION, _recording_failure(function))


def _recording_failure(function: Callable[[Any, Exception], Any] | None) -> Callable[[Any, Exception], Any]:
    """Wrap a tool's `failure_error_function` to record the error. Without such a function the SDK raises it again."""

    def record_failure(context: Any, error: Exception) -> Any:
        call = _CALL.get()
        if call is not None and getattr(context, "tool_call_id", call.id) == call.id:
            call.error = error
            if function is None:
                call.record(partial(Outcome.error, error))
        return function(context, error) if function else None

    setattr(record_failure, _GUARDED_ATTRIBUTE, True)
    return record_failure


def _start_call(data: Any) -> _Call | None:
    """Check the call of a guardrail, if its agent is guarded, and make it the current call."""
    hooks, context, around = _hooks(data.agent), data.context, _CALL.get()
    call = None
    if hooks is not None:
        with fail_open(hooks.guard):
            if around is not None and around.id == context.tool_call_id:  # the same call is checked again
                around = around.run.parent
            run = _Run.of(context, around)
            name = getattr(context, "qualified_tool_name", context.tool_name)
            made = run.make_call(data.agent, name, context.tool_arguments, context.tool_call_id)
            call = _Call(hooks.guard, made, run)
    _CALL.set(call)
    return call


def _check_input(data: Any) -> ToolGuardrailFunctionOutput:
    call = _start_call(data)
    if call is None or not call.verdict.stops:
        return ToolGuardrailFunctionOutput.allow()
    if call.verdict.action is Action.ABORT:
        raise call.run.end(call.verdict)
    return ToolGuardrailFunctionOutput.reject_content(call.verdict.advice, call.verdict.code)


def _record_output(data: Any) -> ToolGuardrailFunctionOutput:
    call = _CALL.get()
    if call is None or call.id != data.context.tool_call_id:  # the call continues after an interruption
        call = _start_call(data)
    if call is not None:
        texts = (_DEFAULT_ERROR_TEXT, f"Tool '{data.context.tool_name}' timed out after ")
        fails = call.error is not None or (isinstance(data.output, str) and data.output.startswith(texts))
        call.record(partial(_outcome, data.output, call.error, fails=fails))
        if fails and call.ended is not None:
            raise call.ended
    return ToolGuardrailFunctionOutput.allow()


def _add_advice(data: Any) -> ToolGuardrailFunctionOutput:
    call = _CALL.get()
    with suppress(Exception):  # a result may fail to convert to text
        if call is not None and call.advice:
            return ToolGuardrailFunctionOutput.reject_content(_with_advice(data.output, call.advice), call.verdict.code)
    return ToolGuardrailFunctionOutput.allow()


_INPUT_GUARDRAIL: ToolInputGuardrail[Any] = ToolInputGuardrail(_check_input, "wheelspin")
_OUTPUT_GUARDRAIL: ToolOutputGuardrail[Any] = ToolOutputGuardrail(_record_output, "wheelspin")
_ADVICE_GUARDRAIL: ToolOutputGuardrail[Any] = ToolOutputGuardrail(_add_advice, "wheelspin_advice")


def _outcome(output: Any, error: Exception | None, *, fails: bool) -> Outcome:
    text = _field(output, "text") if _field(output, "type") == "text" else output
    return Outcome.error(text, type(error).__name__ if error else "") if fails else Outcome.result(text)


def _with_advice(output: Any, advice: str) -> Any:
    """Return an output with advice added. For a value that is neither text nor parts, the SDK sends `str(value)`."""
    parts = list(output) if isinstance(output, list | tuple) else [output]
    if parts and all(_field(part, "type") in _PART_TYPES for part in parts):
        return [*parts, ToolOutputText(text=advice)]
    return with_advice(output if type(output) in {str, dict, list} else str(output), advice)


def _field(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, dict) else getattr(item, name, None)
