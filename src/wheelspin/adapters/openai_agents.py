"""
The OpenAI Agents SDK: function tools, tools of MCP servers and agents as tools, through tool guardrails.

`guard_agent` guards an agent, and those that it reaches; `guard_session` names the session. A run is one run of the
`Runner`; where an agent is a tool, each of its calls is a run of its own.
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

_KEY = "wheelspin_run"
_SESSION = "wheelspin_session"
_GUARDED = "wheelspin_guarded"
_FAILURE = "_failure_error_function"
_PARTS = frozenset({"text", "image", "file"})
_SAID = default_tool_error_function(None, Exception()).rstrip()  # type: ignore[arg-type]
_MOST_RUNS = 2000
_RUNS: dict[str, _Run] = {}
_LOCK = Lock()
_TRACES: WeakSet[Trace] = WeakSet()
_CALL: ContextVar[_Call | None] = ContextVar("wheelspin_call", default=None)


class LoopEnded(ToolLoopError, AgentsException):  # noqa: N818 - it is how a run ends
    """A run is ended for a loop; the SDK lets it out of `Runner.run` as it is, since it is one of its own."""


def guard_agent(agent: _A, guard: Guard | None = None) -> _A:
    """
    Guard an agent against loops of tool calls, and with it the agents that it hands off to and has as tools.

    Args:
        agent: The agent, which is guarded in place, with what it is given later; one that it reaches keeps its guard.
        guard: The guard; without one, a guard with its detectors on. Many agents and runs may share it.

    Returns:
        The same agent.

    Example:
        ```python
        agent = guard_agent(Agent("reader", tools=[read]))
        ```
    """
    _put(agent, Guard() if guard is None else guard)
    return agent


def guard_session(session: _S) -> _S:
    """
    Have the runs of guarded agents that use a session belong to it, so that a loop is seen across its compactions.

    Args:
        session: A session of the SDK, such as `SQLiteSession` or `OpenAIResponsesCompactionSession`.

    Returns:
        The same session.

    Example:
        ```python
        session = guard_session(OpenAIResponsesCompactionSession("s1", SQLiteSession("s1")))
        ```
    """
    for name in ("get_items", "add_items", "pop_item", "clear_session"):  # the SDK wants all of them to take the run
        setattr(session, name, _naming(session, getattr(session, name)))
    return session


def tell_unknown_tools(args: ToolErrorFormatterArgs[Any]) -> str | None:
    """
    Add the advice to what the model is told of a tool that is not there.

    Args:
        args: What the SDK gives to a formatter of errors.

    Returns:
        The text for the model; `None`, which stands for the SDK's own text, where there is no advice.

    Example:
        ```python
        config = RunConfig(tool_not_found_behavior="return_error_to_model", tool_error_formatter=tell_unknown_tools)
        ```
    """
    advice = _Run.of(args.run_context, _CALL.get()).advice.pop(args.call_id, "")
    return with_advice(args.default_message, advice) if advice else None


def _naming(session: Any, method: Callable[..., Any]) -> Callable[..., Any]:
    """Have a method of a session take the context of the run that uses it, and leave the session's name there."""
    passes_on = "wrapper" in signature(method).parameters

    async def named(*args: Any, wrapper: Any = None, **options: Any) -> Any:
        if wrapper is not None:
            setattr(wrapper, _SESSION, getattr(session, "session_id", None))
        return await method(*args, **options, **({"wrapper": wrapper} if passes_on else {}))

    return named


class _Run:
    """What is known of a run, beyond what the guard knows."""

    def __init__(self, key: str, run_id: str, context: Any) -> None:
        session = getattr(context, _SESSION, None) or getattr(get_current_trace(), "group_id", None)
        self.key = key
        self.id = run_id
        self.session_id = session if isinstance(session, str) else run_id
        self.turn_id: str | None = None
        self.parent: _Call | None = None  # the call in which this run goes on
        self.known: frozenset[str] = frozenset()  # names of the agent's tools and hand-offs
        self.marks: frozenset[int] = frozenset()  # compactions that the model saw last
        self.open: dict[str | None, _Call] = {}
        self.advice: dict[str, str] = {}

    @classmethod
    def of(cls, context: Any, parent: _Call | None) -> _Run:
        """Give the run of a context, which is known by the object that counts its tokens: that carries our key."""
        key: str | None = getattr(context.usage, _KEY, None)
        if key is None:
            key, trace = uuid4().hex, get_current_trace()
            if trace is not None and trace not in _TRACES and trace.trace_id.startswith("trace_"):  # it is its own
                key = trace.trace_id
                _TRACES.add(trace)
            setattr(context.usage, _KEY, key)
        # An agent that is a tool counts its tokens where its caller does.
        run_id = key if parent is None or parent.run.key != key else f"{parent.run.id}/{parent.id}"
        with _LOCK:
            run = _RUNS[run_id] = _RUNS.pop(run_id) if run_id in _RUNS else cls(key, run_id, context)
            if len(_RUNS) > _MOST_RUNS:
                del _RUNS[next(iter(_RUNS))]
        run.parent = parent
        return run

    def made(self, agent: Any, tool: str, arguments: str, call_id: str) -> ToolCall:
        """Make a call of this run."""
        given: Any = arguments
        with suppress(ValueError):  # the model may write what is no JSON
            given = json.loads(arguments) if arguments else {}
        ids = {"id": call_id, "turn_id": self.turn_id, "run_id": self.id, "session_id": self.session_id}
        return ToolCall(tool, given, **ids, agent_id=agent.name)

    def ended(self, verdict: Verdict) -> LoopEnded:
        """Give the end of this run, which is that of the runs around it as well."""
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

    def tell(self, outcome: Callable[[], Outcome]) -> None:
        """Tell what came back."""
        self.run.open.pop(self.id, None)
        try:
            self.advice = self.record_outcome(outcome)
        except ToolLoopError as end:
            raise self.run.ended(end.verdict) from self.error


class _Hooks(AgentHooks[Any]):
    """The hooks of a guarded agent: ours, and those that the user has set."""

    def __init__(self, guard: Guard, theirs: AgentHooks[Any] | None) -> None:
        self.guard = guard
        self.compactions = Compactions(guard)
        self.theirs = AgentHooks[Any]() if theirs is None else theirs
        for name in ("on_start", "on_end", "on_tool_start", "on_tool_end"):  # nothing of ours
            setattr(self, name, getattr(self.theirs, name))

    def prepare(self, agent: Any, context: Any, tools: list[Any]) -> None:
        """Guard the tools of a turn, and note their names."""
        with fail_open(self.guard):
            _reach(agent, self.guard, tools)
            handed = (h.tool_name if isinstance(h, Handoff) else Handoff.default_tool_name(h) for h in agent.handoffs)
            if get_current_trace() is not None:  # a state that is read asks for the tools outside of its run
                _Run.of(context, _CALL.get()).known = frozenset((*(tool.name for tool in tools), *handed))

    async def on_llm_start(self, context: Any, agent: Any, system_prompt: Any, input_items: Any) -> None:
        with fail_open(self.guard):
            run = _Run.of(context, _CALL.get())
            self._look(run, agent, input_items, frozenset())
            for item in input_items if run.open else ():
                call = run.open.get(_field(item, "call_id"))
                if call is not None and _field(item, "type") == "function_call_output":  # somebody else answered it
                    call.tell(partial(Outcome.denied, _field(item, "output")))
        await self.theirs.on_llm_start(context, agent, system_prompt, input_items)

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        with fail_open(self.guard):
            run = _Run.of(context, _CALL.get())
            run.turn_id = response.response_id or uuid4().hex
            self._look(run, agent, response.output, run.marks)
            for item in response.output:
                if _field(item, "type") == "function_call" and item.name not in run.known | {"json_tool_call"}:
                    self._see_unknown(run, agent, item)
        await self.theirs.on_llm_end(context, agent, response)

    def _look(self, run: _Run, agent: Any, items: Iterable[Any], before: frozenset[int]) -> None:
        found = [item for item in items if _field(item, "type") == "compaction"]
        run.marks = before | {hash(_field(item, "encrypted_content") or _field(item, "id")) for item in found}
        self.compactions.check_marks(run.session_id, run.marks, agent_id=agent.name)

    def _see_unknown(self, run: _Run, agent: Any, item: Any) -> None:
        call = _Call(self.guard, run.made(agent, item.name, item.arguments, item.call_id), run)
        if call.verdict.action is Action.ABORT:
            raise run.ended(call.verdict)
        if not call.verdict.stops:
            call.tell(partial(Outcome.unknown_tool, f"Tool '{item.name}' not found."))
        run.advice[item.call_id] = call.verdict.advice

    async def on_handoff(self, context: Any, agent: Any, source: Any) -> None:
        with fail_open(self.guard):
            _reach(source, self.guard, [], agent)
        await self.theirs.on_handoff(context, agent, source)


def _put(agent: Any, guard: Guard) -> None:
    mine = _hooks(agent)
    agent.hooks = _Hooks(guard, agent.hooks if mine is None else mine.theirs)
    if not hasattr(type(agent), _GUARDED):
        base: Any = type(agent)
        agent.__class__ = _guarded_class(base)
    _reach(agent, guard, agent.tools)


def _reach(agent: Any, guard: Guard, tools: Iterable[Any], *others: Any) -> None:
    """Guard tools of an agent, and the agents that it reaches through them and its hand-offs."""
    reached = [*agent.handoffs, *others]
    for tool in tools:
        if isinstance(tool, FunctionTool):
            _attach(tool)
            reached.append(getattr(tool, "_agent_instance", None))
    for other in reached:
        if isinstance(other, Agent) and _hooks(other) is None:
            _put(other, guard)


@cache
def _guarded_class(base: Any) -> Any:
    """Give the class of guarded agents: it sees the tools of each turn, also in clones that the SDK makes of them."""

    async def get_all_tools(self: Any, run_context: Any) -> Any:
        tools = await base.get_all_tools(self, run_context)
        hooks = _hooks(self)
        if hooks is not None:
            hooks.prepare(self, run_context, tools)
        return tools

    def set_attribute(self: Any, name: str, value: Any) -> None:
        ours = _hooks(self) if name == "hooks" and not isinstance(value, _Hooks) else None
        base.__setattr__(self, name, value if ours is None else _Hooks(ours.guard, value))

    looks = {"__module__": base.__module__, "__qualname__": base.__qualname__, _GUARDED: True}
    return type(base.__name__, (base,), {"get_all_tools": get_all_tools, "__setattr__": set_attribute, **looks})


def _hooks(agent: Any) -> _Hooks | None:
    hooks = getattr(agent, "hooks", None)
    return hooks if isinstance(hooks, _Hooks) else None


def _attach(tool: FunctionTool) -> None:
    """Give a tool our guardrails, the first and the last: what the user's own reject stays rejected."""
    ours = (_ASK, _TELL, _ADVISE)
    tool.tool_input_guardrails = [_ASK, *(g for g in tool.tool_input_guardrails or () if g not in ours)]
    tool.tool_output_guardrails = [_TELL, *(g for g in tool.tool_output_guardrails or () if g not in ours), _ADVISE]
    if not getattr(tool, "_use_default_failure_error_function", True):
        theirs = getattr(tool, _FAILURE, default_tool_error_function)
        if theirs is not default_tool_error_function and not hasattr(theirs, _GUARDED):
            setattr(tool, _FAILURE, _failure(theirs))


def _failure(theirs: Callable[[Any, Exception], Any] | None) -> Callable[[Any, Exception], Any]:
    """Wrap what words the errors of a tool: it tells us of the error; without words the SDK raises it again."""

    def told(context: Any, error: Exception) -> Any:
        call = _CALL.get()
        if call is not None and getattr(context, "tool_call_id", call.id) == call.id:
            call.error = error
            if theirs is None:
                call.tell(partial(Outcome.error, error))
        return theirs(context, error) if theirs else None

    setattr(told, _GUARDED, True)
    return told


def _asked(data: Any) -> _Call | None:
    """Give the call that a guardrail is asked about, where its agent is guarded, and note that it goes on."""
    hooks, context, around = _hooks(data.agent), data.context, _CALL.get()
    call = None
    if hooks is not None:
        with fail_open(hooks.guard):
            if around is not None and around.id == context.tool_call_id:  # it is asked about once more
                around = around.run.parent
            run = _Run.of(context, around)
            name = getattr(context, "qualified_tool_name", context.tool_name)
            call = _Call(hooks.guard, run.made(data.agent, name, context.tool_arguments, context.tool_call_id), run)
    _CALL.set(call)
    return call


def _ask(data: Any) -> ToolGuardrailFunctionOutput:
    call = _asked(data)
    if call is None or not call.verdict.stops:
        return ToolGuardrailFunctionOutput.allow()
    if call.verdict.action is Action.ABORT:
        raise call.run.ended(call.verdict)
    return ToolGuardrailFunctionOutput.reject_content(call.verdict.advice, call.verdict.code)


def _tell(data: Any) -> ToolGuardrailFunctionOutput:
    call = _CALL.get()
    if call is None or call.id != data.context.tool_call_id:  # it goes on after an interruption
        call = _asked(data)
    if call is not None:
        texts = (_SAID, f"Tool '{data.context.tool_name}' timed out after ")
        fails = call.error is not None or (isinstance(data.output, str) and data.output.startswith(texts))
        call.tell(partial(_outcome, data.output, call.error, fails=fails))
        if fails and call.ended is not None:
            raise call.ended
    return ToolGuardrailFunctionOutput.allow()


def _advise(data: Any) -> ToolGuardrailFunctionOutput:
    call = _CALL.get()
    with suppress(Exception):  # a result may have no text
        if call is not None and call.advice:
            return ToolGuardrailFunctionOutput.reject_content(_with_advice(data.output, call.advice), call.verdict.code)
    return ToolGuardrailFunctionOutput.allow()


_ASK: ToolInputGuardrail[Any] = ToolInputGuardrail(_ask, "wheelspin")
_TELL: ToolOutputGuardrail[Any] = ToolOutputGuardrail(_tell, "wheelspin")
_ADVISE: ToolOutputGuardrail[Any] = ToolOutputGuardrail(_advise, "wheelspin_advice")


def _outcome(output: Any, error: Exception | None, *, fails: bool) -> Outcome:
    text = _field(output, "text") if _field(output, "type") == "text" else output
    return Outcome.error(text, type(error).__name__ if error else "") if fails else Outcome.result(text)


def _with_advice(output: Any, advice: str) -> Any:
    """Give an output with an advice: a text, parts as the SDK sends them, or any value, of which it sends the text."""
    parts = list(output) if isinstance(output, list | tuple) else [output]
    if parts and all(_field(part, "type") in _PARTS for part in parts):
        return [*parts, ToolOutputText(text=advice)]
    return with_advice(output if type(output) in {str, dict, list} else str(output), advice)


def _field(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, dict) else getattr(item, name, None)
