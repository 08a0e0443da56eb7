"""
The exceptions that Wheelspin raises. A detected loop is a verdict, not an exception.

```
WheelspinError
├── ConfigError        a configuration cannot be used; lists all its faults, each with its place and what was expected
├── TranscriptError    a recorded session cannot be read
├── StoreError         the state of guards cannot be read or written; hooks let the call through
├── NotationError      a trajectory in short notation cannot be read
└── ToolLoopError      a run was ended; raised by adapters of frameworks that end runs with exceptions
```
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from wheelspin.core.events import Verdict

__all__ = [
    "ConfigError",
    "Fault",
    "NotationError",
    "StoreError",
    "ToolLoopError",
    "TranscriptError",
    "WheelspinError",
]


class WheelspinError(Exception):
    """The base class of the errors that Wheelspin raises."""

    def diagnostics(self) -> str:
        """Return the text for people: what happened, where, and the next step."""
        return str(self)


class Fault:
    """
    One thing that is wrong in a configuration.

    Attributes:
        path: Path of the key, such as `tools.loopDetection.historySize`; empty for the file as a whole.
        found: What was found there; for the file as a whole, what is wrong with it.
        expected: What was expected.
        line: Line number, counted from 1, if known.
        hint: The next step, such as "did you mean `historySize`?".
    """

    __slots__ = ("expected", "found", "hint", "line", "path")

    def __init__(self, path: str, found: str, expected: str = "", *, line: int | None = None, hint: str = "") -> None:
        self.path = path
        self.found = found
        self.expected = expected
        self.line = line
        self.hint = hint

    def __str__(self) -> str:
        hint = f"; {self.hint}" if self.hint else ""
        if not self.path:
            expected = f", expected {self.expected}" if self.expected else ""
            return f"{self.found}{expected}{hint}"
        line = f" (line {self.line})" if self.line is not None else ""
        return f"`{self.path}`{line}: found {self.found}, expected {self.expected}{hint}"


class ConfigError(WheelspinError):
    """
    A configuration cannot be used.

    Attributes:
        source: The file, or whatever else the configuration came from.
        faults: Everything that is wrong with it.
    """

    def __init__(self, source: str, faults: Sequence[Fault]) -> None:
        self.source = source
        self.faults = tuple(faults)
        super().__init__(self._text())

    def _text(self) -> str:
        if len(self.faults) == 1:
            return f"{self.source}: {self.faults[0]}".rstrip("?.") + ("?" if self.faults[0].hint.endswith("?") else ".")
        lines = "".join(f"\n  - {fault}" for fault in self.faults)
        return f"{self.source}: {len(self.faults)} faults:{lines}"


class TranscriptError(WheelspinError):
    """
    A recorded session cannot be read.

    Attributes:
        path: The file.
        problem: What is wrong with it.
        step: The next step.
    """

    def __init__(self, path: str, problem: str, step: str) -> None:
        self.path = path
        self.problem = problem
        self.step = step
        super().__init__(f"{path}: {problem}. {step}")


class StoreError(WheelspinError):
    """
    The state of guards cannot be read or written.

    Attributes:
        place: Address of the store.
        problem: What is wrong with it.
        step: The next step.
    """

    def __init__(self, place: str, problem: str, step: str) -> None:
        self.place = place
        self.problem = problem
        self.step = step
        super().__init__(f"{place}: {problem}. {step}")


class NotationError(WheelspinError):
    """
    A trajectory in short notation cannot be read.

    Attributes:
        place: Index of the character where the problem is, counted from 0.
    """

    def __init__(self, text: str, place: int, problem: str) -> None:
        self.place = place
        super().__init__(
            f"{problem} at character {place + 1} of {text!r}. See `wheelspin explain --help` for the notation."
        )


class ToolLoopError(WheelspinError):
    """
    A run was ended because of a loop, in a framework that ends runs with exceptions.

    Attributes:
        verdict: The verdict that ended the run.
        code: Its machine-readable code, such as `global_circuit_breaker`.
    """

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.code = verdict.code
        super().__init__(verdict.reason)
