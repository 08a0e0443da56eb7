"""
agentbelt-loop: a `LoopDetector` with its default policy, told of each call and its result and then asked.

Each run has a detector of its own, so that no run depends on those before it; its library of shapes that looped in
other sessions stays empty for that reason. It learns neither of errors nor of the user, and has no warning. After a
stop the session is reset, which is its word for a fresh start.
"""

from __future__ import annotations

from typing import Any

from agentbelt_loop import LoopDetected, LoopDetector
from two_lines import Answer, serve


def follow(run: dict[str, Any], answer: Answer) -> None:
    """Drive one run."""
    session = str(run["id"])
    detector = LoopDetector()
    for number, call in enumerate(run["calls"]):
        try:
            with answer.timed():
                detector.record(session, call["tool"], call["args"], call["result"])
                detector.check(session)
        except LoopDetected:
            answer.stop(number, "after")
            detector.reset(session)


if __name__ == "__main__":
    serve(follow)
