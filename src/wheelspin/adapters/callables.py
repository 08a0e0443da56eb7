"""
Loops that are written by hand: tools are functions, and the loop calls them.

`guarded` wraps a tool, for loops that look tools up and call them. `Run` watches the calls of one task, for loops that
have the ids of the calls at hand.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar
from uuid import uuid4

from wheelspin.core.advice import printable_name
from wheelspin.core.events import Action, Outcome, ToolCall
from wheelspin.core.guard import Guard
from wheelspin.errors import ToolLoopError
from wheelspin.watch import Watch, with_advice

__all__ = ["Run", "guarded", "run"]

_P = ParamSpec("_P")
_R = TypeVar("_R")
_RUN: ContextVar[Run | None] = ContextVar("wheelspin_run", default=None)


class Run:
    """
    One task, from the user's prompt to the final answer.

    Args:
        guard: The guard; without one, a guard with its detectors on, for this run alone.
        run_id: Its id; a new one if left out.
        session_id: Id of the conversation.
        agent_id: Id of the agent.

    Example:
        >>> run = Run()
        >>> run.call("add", {"a": 1, "b": 2}, lambda a, b: a + b, id="c1")
        3
    """

    def __init__(
        self,
        guard: Guard | None = None,
        *,
        run_id: str | None = None,
        session_id: str | None = None,
        agent_id: str | None = None,
    ) -> None:
        self.guard = Guard() if guard is None else guard
        self.run_id = run_id or uuid4().hex
        self.session_id = session_id
        self.agent_id = agent_id

    def call(
        self,
        tool: str,
        arguments: dict[str, Any],
        function: Callable[..., Any],
        *,
        id: str | None = None,  # noqa: A002 - the field's own word for it
    ) -> Any:
        """
        Run one tool call of the model.

        Args:
            tool: The tool's name, as the model wrote it.
            arguments: Its arguments, given to the function by their names.
            function: What runs; where it is a coroutine function, the answer is to be awaited.
            id: The provider's id of the call.

        Returns:
            What the function gave, with the advice where the call is warned about; of a call that is blocked the
            advice alone.

        Raises:
            ToolLoopError: The run is to be ended.
            Exception: What the function raised, unchanged.
        """
        call = self.made(tool, arguments, id)
        run_it = self.awaited if inspect.iscoroutinefunction(function) else self.called
        return run_it(call, lambda: function(**arguments))

    def missing(
        self,
        tool: str,
        arguments: Any = None,
        *,
        id: str | None = None,  # noqa: A002 - the field's own word for it
    ) -> str:
        """
        Tell that the model asked for a tool that is not there.

        Args:
            tool: The name, as the model wrote it.
            arguments: The arguments, as the model wrote them.
            id: The provider's id of the call.

        Returns:
            The answer for the model, with the advice where there is one.

        Raises:
            ToolLoopError: The run is to be ended.

        Example:
            >>> Run().missing("delete_al", {"path": "/a"})
            'There is no tool `delete_al`.'
        """
        watch = Watch(self.guard, self.made(tool, arguments, id))
        if watch.verdict.stops:
            return _refused(watch)
        answer = f"There is no tool `{printable_name(tool)}`."
        return str(with_advice(answer, watch.record_outcome(lambda: Outcome.unknown_tool(answer))))

    def compacted(self) -> None:
        """Tell that the context was shortened and the run goes on: arms the guard for what comes."""
        self.guard.compacted(self.session_id, agent_id=self.agent_id)

    def made(self, tool: str, arguments: Any, call_id: str | None = None) -> ToolCall:
        """Make a call of this run."""
        return ToolCall(
            tool, arguments, id=call_id, run_id=self.run_id, session_id=self.session_id, agent_id=self.agent_id
        )

    def called(self, call: ToolCall, start: Callable[[], Any]) -> Any:
        """Run a call that `made` gave, and give its answer; see `call`."""
        watch = Watch(self.guard, call)
        if watch.verdict.stops:
            return _refused(watch)
        try:
            result = start()
        except BaseException as error:
            watch.record_exception(error)
            raise
        return with_advice(result, watch.record_outcome(lambda: Outcome.result(result)))

    async def awaited(self, call: ToolCall, start: Callable[[], Awaitable[Any]]) -> Any:
        """Await a call that `made` gave, and give its answer; see `call`."""
        watch = Watch(self.guard, call)
        if watch.verdict.stops:
            return _refused(watch)
        try:
            result = await start()
        except BaseException as error:
            watch.record_exception(error)
            raise
        return with_advice(result, watch.record_outcome(lambda: Outcome.result(result)))


@contextmanager
def run(
    guard: Guard | None = None,
    *,
    run_id: str | None = None,
    session_id: str | None = None,
    agent_id: str | None = None,
) -> Iterator[Run]:
    """
    Open a run: functions that are `guarded` and called in this block belong to it, in this thread and its tasks.

    Args:
        guard: The guard; without one, a guard with its detectors on, for this run alone.
        run_id: Its id; a new one if left out.
        session_id: Id of the conversation.
        agent_id: Id of the agent.

    Example:
        >>> @guarded
        ... def read(path: str) -> str:
        ...     return f"text of {path}"
        >>> with run() as task:
        ...     read("/a")
        'text of /a'
        >>> task.guard.record().calls
        1
    """
    opened = Run(guard, run_id=run_id, session_id=session_id, agent_id=agent_id)
    token = _RUN.set(opened)
    try:
        yield opened
    finally:
        _RUN.reset(token)


def guarded(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """
    Have each call of a tool watched by the run in whose block it is made; outside of one it is called as it is.

    Args:
        function: The tool; its name is the tool's name, its arguments are those of the call. It may be a coroutine
            function.

    Returns:
        A function that gives what the tool gives, with the advice where the call is warned about, and of a call that
        is blocked the advice alone. It raises `ToolLoopError` where the run is to be ended.
    """
    signature = inspect.signature(function)

    def call_of(task: Run, given: tuple[Any, ...], named: dict[str, Any]) -> ToolCall:
        arguments = signature.bind(*given, **named).arguments
        return task.made(function.__name__, {name: arguments[name] for name in arguments if name != "self"})

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*given: _P.args, **named: _P.kwargs) -> Any:
            task = _RUN.get()
            if task is None:
                return await function(*given, **named)
            return await task.awaited(call_of(task, given, named), lambda: function(*given, **named))

        return awaited  # type: ignore[return-value]

    @functools.wraps(function)
    def called(*given: _P.args, **named: _P.kwargs) -> Any:
        task = _RUN.get()
        if task is None:
            return function(*given, **named)
        answer: _R = task.called(call_of(task, given, named), lambda: function(*given, **named))
        return answer

    return called


def _refused(watch: Watch) -> str:
    """Give the answer to a call that must not run, or end the run."""
    if watch.verdict.action is Action.ABORT:
        raise ToolLoopError(watch.verdict)
    return watch.verdict.advice
