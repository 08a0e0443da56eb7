"""
The adapter for hand-written agent loops whose tools are functions.

`Run` runs the calls of one task, for loops that have the ids of the calls at hand. `guarded` wraps a tool, for loops
that only call functions.
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
        guard: The guard; by default one with its detectors on, for this run alone.
        run_id: Id of the run; by default a new one.
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
            tool: Name of the tool, as the model wrote it.
            arguments: Arguments of the call, passed to the function by name.
            function: The function to run. If it is a coroutine function, await what this method returns.
            id: The provider's id of the call.

        Returns:
            The function's result, with advice added if the call is warned about. For a blocked call, the advice alone.

        Raises:
            ToolLoopError: The run must end.
            Exception: Whatever the function raised, unchanged.
        """
        call = self.make_call(tool, arguments, id)
        run_it = self.await_call if inspect.iscoroutinefunction(function) else self.run_call
        return run_it(call, lambda: function(**arguments))

    def missing(
        self,
        tool: str,
        arguments: Any = None,
        *,
        id: str | None = None,  # noqa: A002 - the field's own word for it
    ) -> str:
        """
        Record a call of a tool that does not exist.

        Args:
            tool: Name of the tool, as the model wrote it.
            arguments: Arguments of the call, as the model wrote them.
            id: The provider's id of the call.

        Returns:
            The answer for the model, with advice if there is any.

        Raises:
            ToolLoopError: The run must end.

        Example:
            >>> Run().missing("delete_al", {"path": "/a"})
            'There is no tool `delete_al`.'
        """
        watch = Watch(self.guard, self.make_call(tool, arguments, id))
        if watch.verdict.stops:
            return _blocked_answer(watch)
        answer = f"There is no tool `{printable_name(tool)}`."
        return str(with_advice(answer, watch.record_outcome(lambda: Outcome.unknown_tool(answer))))

    def compacted(self) -> None:
        """Arm the guard, after the context was shortened and the run goes on."""
        self.guard.compacted(self.session_id, agent_id=self.agent_id)

    def make_call(self, tool: str, arguments: Any, call_id: str | None = None) -> ToolCall:
        """Return a call of this run."""
        return ToolCall(
            tool, arguments, id=call_id, run_id=self.run_id, session_id=self.session_id, agent_id=self.agent_id
        )

    def run_call(self, call: ToolCall, start: Callable[[], Any]) -> Any:
        """Run a call made by `make_call` and return its answer; see `call`."""
        watch = Watch(self.guard, call)
        if watch.verdict.stops:
            return _blocked_answer(watch)
        try:
            result = start()
        except BaseException as error:
            watch.record_exception(error)
            raise
        return with_advice(result, watch.record_outcome(lambda: Outcome.result(result)))

    async def await_call(self, call: ToolCall, start: Callable[[], Awaitable[Any]]) -> Any:
        """Await a call made by `make_call` and return its answer; see `call`."""
        watch = Watch(self.guard, call)
        if watch.verdict.stops:
            return _blocked_answer(watch)
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
    Start a run: calls of `guarded` functions in this block belong to it, in this thread and the tasks it starts.

    Args:
        guard: The guard; by default one with its detectors on, for this run alone.
        run_id: Id of the run; by default a new one.
        session_id: Id of the conversation.
        agent_id: Id of the agent.

    Yields:
        The run.

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
    Wrap a tool so that its calls in a `run` block are watched; outside of one the tool works as before.

    Args:
        function: The tool, a function or a coroutine function. Its name is used as the tool's name and its arguments
            as those of the call.

    Returns:
        A function that returns the tool's result, with advice added if the call is warned about. For a blocked call it
        returns the advice alone. It raises `ToolLoopError` if the run must end.
    """
    signature = inspect.signature(function)

    def call_of(task: Run, given: tuple[Any, ...], named: dict[str, Any]) -> ToolCall:
        arguments = signature.bind(*given, **named).arguments
        return task.make_call(function.__name__, {name: arguments[name] for name in arguments if name != "self"})

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*given: _P.args, **named: _P.kwargs) -> Any:
            task = _RUN.get()
            if task is None:
                return await function(*given, **named)
            return await task.await_call(call_of(task, given, named), lambda: function(*given, **named))

        return awaited  # type: ignore[return-value]

    @functools.wraps(function)
    def called(*given: _P.args, **named: _P.kwargs) -> Any:
        task = _RUN.get()
        if task is None:
            return function(*given, **named)
        answer: _R = task.run_call(call_of(task, given, named), lambda: function(*given, **named))
        return answer

    return called


def _blocked_answer(watch: Watch) -> str:
    """Return the answer to a blocked call, or raise `ToolLoopError` if the run must end."""
    if watch.verdict.action is Action.ABORT:
        raise ToolLoopError(watch.verdict)
    return watch.verdict.advice
