"""
hermes-agent: its `ToolCallGuardrailController` in the default configuration, informed of the success of each call.

By default it only warns. Its blocks and halts are opt-in, but are read here as well. A message of the user starts a
turn, at which the agent resets the controller; a stop, which ends the turn, resets it, too.
"""

from __future__ import annotations

from typing import Any

from agent.tool_guardrails import ToolCallGuardrailController
from two_lines import Answer, serve, text


def follow(run: dict[str, Any], answer: Answer) -> None:
    """Drive one run."""
    controller = ToolCallGuardrailController()
    for number, call in enumerate(run["calls"]):
        if call["user_before"]:
            controller.reset_for_turn()
        with answer.timed():
            decision = controller.before_call(call["tool"], call["args"])
        if not decision.allows_execution:
            answer.stop(number, "before")
            controller.reset_for_turn()
            continue
        result = text(call["result"])
        with answer.timed():
            decision = controller.after_call(call["tool"], call["args"], result, failed=call["error"])
        if decision.should_halt:
            answer.stop(number, "after")
            controller.reset_for_turn()
        elif decision.action == "warn":
            answer.warn(number, "after")


if __name__ == "__main__":
    serve(follow)
