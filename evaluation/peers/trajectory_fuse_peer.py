"""
trajectory-fuse: an `AgentFuse` with its default configuration, asked and told as its own `fuse.tool` does it.

Before a call comes `check`, and a detection there stops the call before it ran. After the call comes `observe`, which
raises at a detection: the same error again and again shows only there. It has no warning and no word for the user's
turn. A stop ends the run, so that the fuse is reset after it.
"""

from __future__ import annotations

from typing import Any

from trajectory_fuse import Action, AgentFuse, DeadlockDetected
from two_lines import Answer, serve


def follow(run: dict[str, Any], answer: Answer) -> None:
    """Drive one run."""
    fuse = AgentFuse()
    for number, call in enumerate(run["calls"]):
        with answer.timed():
            detection = fuse.check(call["tool"], call["args"])
        if detection is not None:
            answer.stop(number, "before")
            fuse.reset()
            continue
        result = {"error": call["result"]} if call["error"] else call["result"]
        action = Action(tool=call["tool"], args=call["args"], result=result, success=not call["error"])
        try:
            with answer.timed():
                fuse.observe(action)
        except DeadlockDetected:
            answer.stop(number, "after")
            fuse.reset()


if __name__ == "__main__":
    serve(follow)
