"""
Guard an agent by its requests to a model, each of which holds the conversation: the calls of the run and their results.

Three rules hold here:

1. Nothing is kept between requests. Each request is played through a fresh guard.
2. Advice is added to the result of the call that it is about, in this and in every later request, word for word, so
   that what a provider caches of the conversation stays valid.
3. When its result is in a request, a call has already run. So the guard observes: what it would have blocked becomes a
   warning, and only the end of a run has an effect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from wheelspin.core.advice import Advisor
from wheelspin.core.events import ALLOW, Action, Outcome, ToolCall, Verdict
from wheelspin.core.guard import Guard
from wheelspin.core.guard_state import normalised_id
from wheelspin.core.known_tools import TOOLS
from wheelspin.core.loop_events import EventKind, LoopEvent, verdict_event
from wheelspin.core.settings import Mode, Settings
from wheelspin.core.tools import ToolTable
from wheelspin.transcripts.anthropic_messages import AnthropicMessages
from wheelspin.transcripts.base import Compacted, Event, OpenCalls, ToolCalled, ToolReturned, UserMessage
from wheelspin.transcripts.conversations import Message
from wheelspin.transcripts.openai_chat import OpenAIChat
from wheelspin.wire import openai_responses
from wheelspin.wire.advice import is_blocked_result, without_advice
from wheelspin.wire.anthropic import blocks_of

__all__ = ["Advised", "advise"]

_RESULTS = ("tool", "function")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_SUMMARIES = (
    "This session is being continued from a previous conversation",
    "Another language model started to solve this problem",
)
"""The beginnings of the summaries that Claude Code and Codex put in place of the conversation."""
_COMPACTIONS = ("compaction", "context_compaction")
_UNCHANGED = (EventKind.ARMED, EventKind.CRASH)
"""Events that are reported as the guard reports them."""
_WILL_END = "The run is ended if this goes on."
_LONGEST_PLACEHOLDER = 300
_PLACEHOLDER = re.compile(
    r"\s*[\[<(][^\n]*\b(?:cleared|compacted|elided|hidden|masked|omitted|pruned|removed|trimmed)\b[^\n]*[\])>.]\s*",
    re.IGNORECASE,
)
_UNSEEN = object()
"""Stands for a result that is no longer there; it equals no other."""

_Change = Callable[[object, Any], Any]
"""Called with the id of a call and the content of its result; returns the content that replaces it."""


class Advised(NamedTuple):
    """What to do with a request."""

    changed: dict[str, list[Any]]
    """What to replace in the body, by key; empty if nothing changes."""
    ending: Verdict | None
    """The verdict that ended the run; `None` if it goes on."""
    events: list[LoopEvent]
    """What the guard did since the model's newest message; what came before was in earlier requests."""


def advise(
    body: Mapping[str, Any],
    settings: Settings | None = None,
    *,
    tools: ToolTable = TOOLS,
    session_id: str | None = None,
) -> Advised:
    """
    Play the conversation of a request through a guard.

    A run is everything after the newest message of the user.

    Args:
        body: The body of a request: OpenAI's chat completions or responses, or Anthropic's messages. It is not changed.
        settings: The settings; without them the detectors are on, with the documented thresholds.
        tools: What is known about the agent's tools.
        session_id: Id of the conversation, for the events.

    Returns:
        What to replace in the body, whether the run has to end, and what the guard did.

    Example:
        >>> call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
        >>> step = [{"role": "assistant", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c1", "content": "a"}]
        >>> advise({"messages": [{"role": "user", "content": "go"}, *step]})
        Advised(changed={}, ending=None, events=[])
    """
    settings = Settings(enabled=True) if settings is None else settings
    key, entries = _conversation(body)
    if settings.enabled is False or not entries:
        return Advised({}, None, [])
    play = _Play(settings, tools, _steps(entries))
    marks = _summaries(entries)
    for event in _events(key, entries, session_id or ""):
        while marks and marks[0] <= event.line:
            play.take(Compacted(marks.pop(0), session_id))
        play.take(event)
    changed = {key: [_noted(entry, play.notes.get(place)) for place, entry in enumerate(entries)]} if play.notes else {}
    return Advised(changed, play.ending, play.events)


class _Play:
    """
    One conversation, played through a guard.

    Attributes:
        notes: The advice to add, by the index of the result and the id of its call.
        ending: The verdict that ended the current run.
        events: What is reported.
    """

    def __init__(self, settings: Settings, tools: ToolTable, steps: list[int]) -> None:
        self.notes: dict[int, dict[str | None, str]] = {}
        self.ending: Verdict | None = None
        self.events: list[LoopEvent] = []
        self._heard: list[LoopEvent] = []
        # Whoever asks writes the log: most events here were reported with earlier requests.
        self._guard = Guard(settings.observing(), tools=tools, listeners=[self._heard.append], logs=False)
        self._advisor: Advisor = self._guard.advisor
        self._observes = settings.mode is Mode.OBSERVE
        self._steps = steps
        self._given = 0
        self._open: dict[int, tuple[ToolCall, ToolCall, str]] = {}

    def take(self, event: Event) -> None:
        verdict = None
        match event:
            case UserMessage(_, session):
                self._guard.user_message(session)
                self._given, self.ending = 0, None
            case Compacted(_, session):
                self._guard.compacted(session or None)
            case ToolCalled(place, read):
                call = _in_step(read, self._steps[place])
                verdict = self._as_warning(self._guard.before(call), call)
                self._open[id(read)] = read, call, verdict.advice if verdict.action is Action.WARN else ""
            case ToolReturned(place, read, outcome):
                _, call, advice = self._open.pop(id(read))
                verdict = self._as_warning(self._guard.after(call, outcome), call)
                if advice:
                    self.notes.setdefault(place, {})[call.id] = advice
            case _:
                pass
        if event.line >= self._steps[-1]:
            self.events += [heard for heard in self._heard if heard.kind in _UNCHANGED]
            if verdict is not None and isinstance(event, ToolCalled | ToolReturned):
                call = event.call
                ids = {"session_id": normalised_id(call.session_id), "call_id": normalised_id(call.id)}
                reported = verdict_event(verdict, call.tool, **ids)
                self.events += [reported] if reported else []
        self._heard.clear()

    def _as_warning(self, verdict: Verdict, call: ToolCall) -> Verdict:
        """Return the verdict on a call that has run: a warning if it would have been blocked."""
        finding, due = verdict.finding, verdict.due
        if self.ending is not None:
            return ALLOW
        if finding is None or due is Action.ALLOW or self._observes:
            return verdict
        if due is Action.ABORT:
            self.ending = self._advisor.verdict(due, finding, call.tool, self._given)
            return self.ending
        given, self._given = self._given, self._given + 1
        if due is Action.BLOCK:
            advice = self._advisor.advice(Action.WARN, finding, call.tool, given)
            return Verdict(Action.WARN, finding, reason=verdict.reason, advice=f"{advice} {_WILL_END}", observed=due)
        return self._advisor.verdict(due, finding, call.tool, given)


def _conversation(body: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """Return the key of the conversation in a body, and its entries."""
    for key in ("messages", "input"):
        entries = body.get(key)
        if isinstance(entries, list):
            return key, entries
    return "", []


def _events(key: str, entries: list[Any], session: str) -> Iterator[Event]:
    read = [_changed(entry, lambda _, content: _legible(content)) for entry in entries]
    if key == "input":
        return _events_of_items(read, session)
    messages = [
        Message(place, session, entry)
        for place, entry in enumerate(read)
        if isinstance(entry, dict) and isinstance(entry.get("role"), str)
    ]
    is_chat = any(message.content["role"] in _RESULTS or "tool_calls" in message.content for message in messages)
    return OpenAIChat().events(messages) if is_chat else AnthropicMessages().events(messages)


def _events_of_items(items: list[Any], session: str) -> Iterator[Event]:
    calls = OpenCalls()
    for place, item in enumerate(items):
        if not isinstance(item, dict):
            continue
        kind = item.get("type")
        if kind in openai_responses.CALLS:
            # The provider itself runs a tool of MCP, puts what came back into its item, and goes on with the message.
            turn = f"item {place}" if kind == "mcp_call" else None
            call = openai_responses.call_of(item, session_id=session, turn_id=turn)
            yield from calls.add(place, call)
            if kind == "mcp_call" and calls.pop(call.id) is not None:
                error = item.get("error")
                yield ToolReturned(place, call, Outcome.error(error) if error else Outcome.result(item.get("output")))
        elif kind in openai_responses.OUTPUTS:
            yield from calls.returned(place, item.get("call_id"), item, openai_responses.outcome_of)
        elif kind in _COMPACTIONS:
            yield Compacted(place, session)
        elif openai_responses.is_prompt(item):
            yield UserMessage(place, session)


def _steps(entries: list[Any]) -> list[int]:
    """Return for each entry the index of the model's message that it is part of or follows."""
    steps, begins, was_of_model = [], 0, False
    for place, entry in enumerate(entries):
        is_of_model = _is_of_model(entry)
        if is_of_model and not was_of_model:
            begins = place
        was_of_model = is_of_model
        steps.append(begins)
    return steps


def _in_step(call: ToolCall, step: int) -> ToolCall:
    """Return a call with the id of the message that requested it."""
    turn = call.turn_id or f"step {step}"
    return ToolCall(call.tool, call.arguments, id=call.id, turn_id=turn, session_id=call.session_id)


def _is_of_model(entry: Any) -> bool:
    if not isinstance(entry, dict):
        return False
    role = entry.get("role")
    return role == "assistant" if role else not str(entry.get("type")).endswith("_output")


def _summaries(entries: list[Any]) -> list[int]:
    """Return the indexes of messages that show a compaction, except those that the readers know."""
    return [place for place, entry in enumerate(entries) if isinstance(entry, dict) and _is_summary(entry)]


def _is_summary(entry: dict[str, Any]) -> bool:
    role = entry.get("role")
    if role == "user":
        texts = [block.get("text") for block in blocks_of(entry)]
        return any(isinstance(text, str) and text.startswith(_SUMMARIES) for text in texts)
    fields = entry.get("provider_specific_fields") if role == "assistant" else None
    return isinstance(fields, dict) and bool(fields.get("compaction_blocks"))


def _changed(entry: Any, change: _Change) -> Any:
    """Return a message or an item with each result changed; the same object if nothing changes."""
    if not isinstance(entry, dict):
        return entry
    if entry.get("role") in _RESULTS:
        return _with(entry, "content", entry.get("tool_call_id"), change)
    if entry.get("type") in _OUTPUTS:
        return _with(entry, "output", entry.get("call_id"), change)
    content = entry.get("content")
    if entry.get("role") != "user" or not isinstance(content, list):
        return entry
    blocks = [
        _with(block, "content", block.get("tool_use_id"), change)
        if isinstance(block, dict) and block.get("type") == "tool_result"
        else block
        for block in content
    ]
    is_same = all(block is before for block, before in zip(blocks, content, strict=True))
    return entry if is_same else {**entry, "content": blocks}


def _with(result: dict[str, Any], key: str, call_id: object, change: _Change) -> dict[str, Any]:
    content = result.get(key)
    changed = change(call_id, content)
    return result if changed is content else {**result, key: changed}


def _legible(content: Any) -> Any:
    """Return a result without advice of a guard; nothing if a placeholder takes its place."""
    if is_blocked_result(content):
        return _UNSEEN
    only = content[0] if isinstance(content, list) and len(content) == 1 else content
    return _UNSEEN if _is_placeholder(only if isinstance(only, str) else _text_of(only)) else without_advice(content)


def _text_of(block: Any) -> str:
    text = block.get("text") if isinstance(block, dict) else None
    return text if isinstance(text, str) else ""


def _is_placeholder(text: str) -> bool:
    """Return whether a text is a placeholder for a result that the agent has removed from the conversation."""
    return len(text) <= _LONGEST_PLACEHOLDER and _PLACEHOLDER.fullmatch(text) is not None


def _noted(entry: Any, notes: dict[str | None, str] | None) -> Any:
    """Return a message or an item with the advice in its results."""
    if not notes:
        return entry
    kind = "input_text" if entry.get("type") in _OUTPUTS else "text"

    def change(call_id: object, content: Any) -> Any:
        own = notes.get(call_id) if isinstance(call_id, str) else None
        return _with_note(content, own or notes.get(None), kind)

    return _changed(entry, change)


def _with_note(content: Any, advice: str | None, kind: str) -> Any:
    if not advice:
        return content
    if content is None:
        return advice
    if isinstance(content, str):
        return content if advice in content else f"{content}\n\n{advice}"
    if isinstance(content, list):
        is_there = any(_text_of(block) == advice for block in content)
        return content if is_there else [*content, {"type": kind, "text": advice}]
    return content
