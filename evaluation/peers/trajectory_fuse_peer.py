"""
trajectory-fuse: an `AgentFuse` with its default configuration, driven in the way of its own `fuse.tool`.

`check` comes before a call, and a detection there stops the call before it runs. `observe` comes after the call and
raises an exception at a detection; repeated errors are detected only there. It has no warnings and does not know of
user messages. A stop ends the run, so the fuse is reset after it.
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
