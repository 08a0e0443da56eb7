"""
OpenHands SDK: its `StuckDetector` with the default thresholds, on the events that its conversation would contain.

A message of the model is one step: its actions, then an observation for each, or an `AgentErrorEvent` for an error. As
in the conversation's own loop, the detector is asked after each step, first for a nudge (`warn`), then whether the
agent is stuck (`stop`, which ends the run). Both are recorded at the last call of the step. The user's message that
continues after a stop is an ordinary user event. Arguments are passed in the SDK's action for unknown tools; the
thought is empty, since a recording has none and varying thoughts would hide loops; and the state is a list of events
in memory instead of one on disk.
"""

from __future__ import annotations

import json
import logging
import os
from typing import Any

from two_lines import Answer, messages, serve, text

os.environ |= {"OPENHANDS_SUPPRESS_BANNER": "1", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}

from openhands.sdk.conversation.stuck_detector import StuckDetector
from openhands.sdk.event import ActionEvent, AgentErrorEvent, Condensation, Event, MessageEvent, ObservationEvent
from openhands.sdk.llm import Message, MessageToolCall, TextContent
from openhands.sdk.mcp.definition import MCPToolAction, MCPToolObservation


class State:
    """The part of a conversation's state that the detector reads."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def active_branch(self, limit: int) -> list[Event]:
        """Return the last events."""
        return self.events[-limit:]

    def say(self, source: str, words: str) -> None:
        """Add a message."""
        message = Message(role="user", content=[TextContent(text=words)])
        self.events.append(MessageEvent(source=source, llm_message=message))

    def step(self, step: list[tuple[int, dict[str, Any]]]) -> None:
        """Add the calls of one message of the model, then their results."""
        first, call = step[0]
        if call["compaction_before"]:
            self.events.append(Condensation(llm_response_id=f"compaction-{first}"))
        if call["user_before"]:
            self.say("user", "Next.")
        actions = [action(number, call, f"response-{first}") for number, call in step]
        self.events += actions
        self.events += [outcome(call, event) for (_, call), event in zip(step, actions, strict=True)]


def action(number: int, call: dict[str, Any], response: str) -> ActionEvent:
    """Return the event of a call."""
    tool, args = call["tool"], call["args"]
    return ActionEvent(
        thought=[],
        action=MCPToolAction(data=args if isinstance(args, dict) else {"value": args}),
        tool_name=tool,
        tool_call_id=f"call-{number}",
        tool_call=MessageToolCall(id=f"call-{number}", name=tool, arguments=json.dumps(args), origin="completion"),
        llm_response_id=response,
    )


def outcome(call: dict[str, Any], event: ActionEvent) -> Event:
    """Return the event of a result."""
    names = {"tool_name": event.tool_name, "tool_call_id": event.tool_call_id}
    if call["error"]:
        return AgentErrorEvent(error=text(call["result"]), **names)
    observation = MCPToolObservation.from_text(text(call["result"]), tool_name=event.tool_name)
    return ObservationEvent(observation=observation, action_id=event.id, **names)


def follow(run: dict[str, Any], answer: Answer) -> None:
    """Drive one run."""
    state = State()
    state.say("user", "Begin.")
    detector = StuckDetector(state)
    for step in messages(run["calls"]):
        state.step(step)
        last, _ = step[-1]
        with answer.timed():
            nudge = detector.get_action_error_nudge()
            is_stuck = nudge is None and detector.is_stuck()
        if nudge is not None:
            answer.warn(last, "after")
            state.say("environment", nudge)
        elif is_stuck:
            answer.stop(last, "after")
            state.say("user", "Go on.")


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    serve(follow)
