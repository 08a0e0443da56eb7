"""The driver's side of the two-line protocol in `README.md`, for peers written in Python.

It is beside the drivers and imports nothing, because each driver runs in the environment of its own peer.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

__all__ = ["Answer", "messages", "serve", "text"]


class Answer:
    """The signals of a detector on a run, and the time that it took."""

    def __init__(self) -> None:
        self.signals: list[tuple[int, str, str]] = []
        self.seconds = 0.0

    def warn(self, call: int, when: str) -> None:
        """Record that the model is warned at this call."""
        self.signals.append((call, "warn", when))

    def stop(self, call: int, when: str) -> None:
        """Record that this call does not run, or that the run ends at it."""
        self.signals.append((call, "stop", when))

    @contextlib.contextmanager
    def timed(self) -> Iterator[None]:
        """Measure the time of a block, which should contain only calls of the detector."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - start


def serve(follow: Callable[[dict[str, Any], Answer], None]) -> None:
    """Answer each run on standard input, in order.

    Output of the peer itself goes to standard error, where it cannot corrupt an answer.
    """
    out = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):
        for line in sys.stdin:
            run = json.loads(line)
            answer = Answer()
            follow(run, answer)
            reply = {"id": run["id"], "signals": answer.signals, "seconds": answer.seconds}
            print(json.dumps(reply), file=out, flush=True)


def messages(calls: list[dict[str, Any]]) -> Iterator[list[tuple[int, dict[str, Any]]]]:
    """Yield the numbered calls of each message of the model; a call without a message number is a message itself."""
    numbered = enumerate(calls)
    for _, group in groupby(numbered, key=lambda item: (item[1]["message"], item[1]["message"] is None and item[0])):
        yield list(group)


def text(result: Any) -> str:
    """Return a result as the text that a model reads."""
    return result if isinstance(result, str) else json.dumps(result)
