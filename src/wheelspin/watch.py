"""
The contract of an adapter: a guard inside a framework that runs its tools in this process.

An adapter is one file in `adapters/`. It turns the framework's call into a `ToolCall`, has it watched, and says the
verdict in the framework's own words. What is the same everywhere is here.

In each of them: a warning reaches the model with the result; a blocked call is answered by one ordinary result that is
flagged as an error; a run is ended by a `ToolLoopError`, or in the framework's own way; an exception of the tool passes
unchanged once it was told. Whatever goes wrong in the guard, the call passes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from wheelspin.core.events import ALLOW, Outcome, ToolCall, Verdict
from wheelspin.core.guard import Guard
from wheelspin.errors import ToolLoopError

__all__ = ["Compactions", "Watch", "ends_with_a_word", "passing", "with_advice"]

_SEEN: WeakKeyDictionary[Guard, dict[tuple[str | None, str | None], frozenset[Hashable]]] = WeakKeyDictionary()
"""The marks that each guard's sessions had last."""
_LOCK = Lock()


class Watch:
    """
    One call under a guard: asked about when it is made, told of what came back.

    A crash on the way, in what the adapter makes of the framework's objects, lets the call pass; the guard says so.

    Args:
        guard: The guard.
        call: The call, as the model asked for it, or what makes it of the framework's objects.

    Attributes:
        verdict: What the guard says: a call that it stops must not run, and is answered with its advice.

    Example:
        >>> from wheelspin import Guard, Outcome, ToolCall
        >>> watch = Watch(Guard(), ToolCall("read", {"path": "/a"}, id="c1", run_id="r1"))
        >>> watch.verdict.stops
        False
        >>> watch.returned(lambda: Outcome.result("text"))
        ''
    """

    __slots__ = ("_call", "_guard", "verdict")

    def __init__(self, guard: Guard, call: ToolCall | Callable[[], ToolCall]) -> None:
        self._guard = guard
        self._call: ToolCall | None = None
        self.verdict = ALLOW
        with passing(guard):
            self._call = call() if callable(call) else call
            self.verdict = guard.before(self._call)

    def returned(self, outcome: Callable[[], Outcome]) -> str:
        """
        Tell what came back.

        Args:
            outcome: Makes the outcome of what the framework has.

        Returns:
            The advice that is to be added to the result; empty where there is none.

        Raises:
            ToolLoopError: The run is to be ended.
        """
        after = self._told(outcome)
        if after.stops:
            raise ToolLoopError(after)
        return self.verdict.advice

    def raised(self, error: BaseException) -> None:
        """
        Tell that the tool raised an exception, which the adapter raises again; one that only interrupts is not told.

        The advice of a warning becomes a note of the exception (PEP 678).

        Raises:
            ToolLoopError: The run is to be ended; the exception is its cause.
        """
        if not isinstance(error, Exception):
            return
        after = self._told(lambda: Outcome.error(error))
        if after.stops:
            raise ToolLoopError(after) from error
        if self.verdict.advice:
            error.add_note(self.verdict.advice)

    def _told(self, outcome: Callable[[], Outcome]) -> Verdict:
        with passing(self._guard):
            if self._call is not None:
                return self._guard.after(self._call, outcome())
        return ALLOW


@contextmanager
def passing(guard: Guard) -> Iterator[None]:
    """
    Let the agent go on where the adapter crashes in this block; the guard says so (SPEC 9).

    Args:
        guard: The guard.

    Raises:
        ToolLoopError: The run is to be ended, which is no crash.
    """
    try:
        yield
    except ToolLoopError:
        raise
    except Exception as crash:
        guard.crashed("the adapter", crash)


class Compactions:
    """
    The compactions that were seen, for frameworks that leave a mark of one in the conversation.

    What was seen is the guard's: an adapter that is made anew for each request goes on where the one before it ended.

    Args:
        guard: Armed with each new one.
        most: Sessions that are remembered.
    """

    def __init__(self, guard: Guard, most: int = 2000) -> None:
        self._guard = guard
        self._most = most
        with _LOCK:
            self._seen = _SEEN.setdefault(guard, {})

    def look(self, session_id: str | None, marks: Iterable[Hashable], *, agent_id: str | None = None) -> None:
        """
        Look for new marks; those that are there when a session is seen first are from before, and arm nothing.

        Args:
            session_id: The session.
            marks: What tells one compaction from another: the ids of the summaries that are in the conversation.
            agent_id: The agent, where the calls of the session name one.
        """
        found = frozenset(marks)
        with _LOCK:
            known = self._seen.pop((session_id, agent_id), found)
            self._seen[session_id, agent_id] = found
            if len(self._seen) > self._most:
                del self._seen[next(iter(self._seen))]
        if not found <= known:
            self._guard.compacted(session_id, agent_id=agent_id)


def ends_with_a_word(on_abort: str) -> bool:
    """
    Tell what ends a run, for adapters that let the user choose.

    Args:
        on_abort: `raise` for a `ToolLoopError`, `end` for a last message of the agent that says why.

    Returns:
        Whether it is the last message.

    Raises:
        ValueError: It is neither.
    """
    if on_abort not in {"raise", "end"}:
        raise ValueError(f"`on_abort` is {on_abort!r}; it can be 'raise' or 'end'")
    return on_abort == "end"


def with_advice(result: Any, advice: str) -> Any:
    r"""
    Give a result of a tool with an advice for the model, in the result's own kind.

    Args:
        result: A text, or a mapping or list of JSON values; anything else is given as it is.
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
        return {**result, "wheelspin": advice}
    return [*result, advice] if type(result) is list else result
