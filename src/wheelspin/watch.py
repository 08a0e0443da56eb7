"""
The building blocks of an adapter: a guard inside a framework that runs its tools in this process.

An adapter is one file in `adapters/`. It turns the framework's call into a `ToolCall`, watches it, and translates the
verdict into what the framework offers. This module holds what all adapters share.

All adapters behave alike. A warning reaches the model together with the result. A blocked call is answered with one
ordinary result, flagged as an error. A run is ended by a `ToolLoopError`, or in the framework's own way. An exception
raised by the tool is recorded and passes through unchanged. If the guard or the adapter fails, the call goes through.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, Literal
from weakref import WeakKeyDictionary

from wheelspin.core.events import ALLOW, Outcome, ToolCall, Verdict
from wheelspin.core.guard import Guard
from wheelspin.errors import ToolLoopError
from wheelspin.wire.advice import KEY

__all__ = ["Compactions", "OnAbort", "Watch", "ends_with_message", "fail_open", "with_advice"]

OnAbort = Literal["raise", "end"]
"""How a run ends: `raise` a `ToolLoopError`, or `end` with a final message of the agent that gives the reason."""

_MARKS: WeakKeyDictionary[Guard, dict[tuple[str | None, str | None], frozenset[Hashable]]] = WeakKeyDictionary()
"""The compaction marks last found in each session, by guard."""
_LOCK = Lock()


class Watch:
    """
    One call under a guard: checked before it runs, its outcome recorded afterwards.

    If reading the framework's objects fails, the call goes through and the guard reports the crash.

    Args:
        guard: The guard.
        call: The call, as the model asked for it, or a function that builds it from the framework's objects.

    Attributes:
        verdict: The guard's verdict. A call that it stops must not run; answer it with the verdict's advice.

    Example:
        >>> from wheelspin import Guard, Outcome, ToolCall
        >>> watch = Watch(Guard(), ToolCall("read", {"path": "/a"}, id="c1", run_id="r1"))
        >>> watch.verdict.stops
        False
        >>> watch.record_outcome(lambda: Outcome.result("text"))
        ''
    """

    __slots__ = ("_call", "_guard", "verdict")

    def __init__(self, guard: Guard, call: ToolCall | Callable[[], ToolCall]) -> None:
        self._guard = guard
        self._call: ToolCall | None = None
        self.verdict = ALLOW
        with fail_open(guard):
            self._call = call() if callable(call) else call
            self.verdict = guard.before(self._call)

    def record_outcome(self, outcome: Callable[[], Outcome]) -> str:
        """
        Record the outcome of the call.

        Args:
            outcome: Builds the outcome from the framework's objects.

        Returns:
            The advice to add to the result, or an empty string.

        Raises:
            ToolLoopError: The run must end.
        """
        after = self._after(outcome)
        if after.stops:
            raise ToolLoopError(after)
        return self.verdict.advice

    def record_exception(self, error: BaseException) -> None:
        """
        Record an exception that the tool raised; the adapter then raises it again.

        The advice of a warning becomes a note of the exception (PEP 678). Exceptions that are not an `Exception`, such
        as `KeyboardInterrupt`, are not recorded: the call was interrupted and has no outcome.

        Args:
            error: The exception.

        Raises:
            ToolLoopError: The run must end; the exception is its cause.
        """
        if not isinstance(error, Exception):
            return
        after = self._after(lambda: Outcome.error(error))
        if after.stops:
            raise ToolLoopError(after) from error
        if self.verdict.advice:
            error.add_note(self.verdict.advice)

    def _after(self, outcome: Callable[[], Outcome]) -> Verdict:
        with fail_open(self._guard):
            if self._call is not None:
                return self._guard.after(self._call, outcome())
        return ALLOW


@contextmanager
def fail_open(guard: Guard) -> Iterator[None]:
    """
    Let the agent continue if the adapter crashes in this block; the guard reports the crash.

    Args:
        guard: The guard.

    Raises:
        ToolLoopError: The run must end. This is not a crash and passes through.
    """
    try:
        yield
    except ToolLoopError:
        raise
    except Exception as crash:
        guard.crashed("the adapter", crash)


class Compactions:
    """
    Detect compactions in frameworks that leave a mark of each one in the conversation.

    The marks are kept with the guard, so an adapter that is created anew for each request continues where the previous
    one stopped.

    Args:
        guard: The guard; armed by each new compaction.
        max_sessions: Number of sessions whose marks are kept. The least recently checked are dropped.
    """

    def __init__(self, guard: Guard, max_sessions: int = 2000) -> None:
        self._guard = guard
        self._max_sessions = max_sessions
        with _LOCK:
            self._marks = _MARKS.setdefault(guard, {})

    def check_marks(self, session_id: str | None, marks: Iterable[Hashable], *, agent_id: str | None = None) -> None:
        """
        Arm the guard if a session has a new mark.

        Marks found when a session is first checked are from an earlier time and do not arm it.

        Args:
            session_id: The session.
            marks: What identifies each compaction, such as the ids of the summaries in the conversation.
            agent_id: The agent, if the session's calls name one.
        """
        found = frozenset(marks)
        with _LOCK:
            known = self._marks.pop((session_id, agent_id), found)
            self._marks[session_id, agent_id] = found
            if len(self._marks) > self._max_sessions:
                del self._marks[next(iter(self._marks))]
        if not found <= known:
            self._guard.compacted(session_id, agent_id=agent_id)


def ends_with_message(on_abort: OnAbort) -> bool:
    """
    Return whether a run ends with a final message instead of an exception, for adapters that let the user choose.

    Args:
        on_abort: `raise` for a `ToolLoopError`, `end` for a final message of the agent that gives the reason.

    Raises:
        ValueError: It is neither.
    """
    if on_abort not in {"raise", "end"}:
        raise ValueError(f"`on_abort` is {on_abort!r}; it must be 'raise' or 'end'")
    return on_abort == "end"


def with_advice(result: Any, advice: str) -> Any:
    r"""
    Return a tool's result with advice for the model added, keeping the result's type.

    Args:
        result: The result. Advice is added to a string, a dict or a list; anything else is returned unchanged.
        advice: The advice; empty for none.

    Example:
        >>> with_advice("text", "Stop.")
        'text\n\nStop.'
        >>> with_advice({"a": 1}, "Stop.")
        {'a': 1, 'wheelspin': 'Stop.'}
    """
    if not advice:
        return result
    if isinstance(result, str):
        return f"{result}\n\n{advice}"
    if type(result) is dict:
        return {**result, KEY: advice}
    return [*result, advice] if type(result) is list else result
