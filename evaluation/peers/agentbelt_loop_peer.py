"""
agentbelt-loop: a `LoopDetector` with its default policy, which records each call with its result and then checks.

Each run has a detector of its own, so that no run depends on earlier ones; its library of patterns that looped in other
sessions therefore stays empty. It is not informed of errors or user messages, and has no warnings. After a stop the
session is reset, which is its way of starting afresh.
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
