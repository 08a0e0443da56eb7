"""opencode: a session as `opencode export` writes it, one JSON document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from wheelspin.core.events import Outcome, ToolCall
from wheelspin.transcripts.base import Compacted, Event, OpenCalls, Reader, TokensUsed, ToolReturned, UserMessage
from wheelspin.transcripts.files import Head, TranscriptFile
from wheelspin.wire.advice import OPENING, is_refusal, without_advice
from wheelspin.wire.opencode import OPENCODE_TOOLS, asked, failure, outcome_of
from wheelspin.wire.texts import text_in
from wheelspin.wire.usage import tokens_in

_EXPORT = re.compile(rb'\s*\{\s*"info"\s*:\s*\{\s*"id"\s*:\s*"ses_')
_BY_THE_USER = "The following tool was executed by the user"
_COUNTS = ("input", "output", "reasoning", "read", "write")


class OpenCode(Reader):
    """
    Read opencode's sessions, as they are exported.

    A message of the user is a prompt, unless all of it is opencode's: to go on after a compaction, or to tell of a
    command that the user ran, which is no call of the model's. A compaction is a message of the assistant that is a
    summary. Each sub-agent is a session of its own, and is exported on its own.
    """

    name = "opencode"
    title = "opencode sessions"
    place = "message"
    tools = OPENCODE_TOOLS

    def matches(self, head: Head) -> bool:
        """Tell it by what the document begins with: what is known of a session of opencode's."""
        return _EXPORT.match(head.data) is not None

    def read(self, source: TranscriptFile) -> Iterator[Event]:
        """Give the events, message by message."""
        calls = OpenCalls()
        not_asked: set[str] = set()
        for place, info, parts in _messages(source):
            if info.get("role") == "assistant":
                if info.get("summary") is True:
                    yield Compacted(place, ok="error" not in info and "finish" in info)
                is_by_the_user = text_in(info.get("parentID")) in not_asked
                yield from _said(place, info, [] if is_by_the_user else parts, calls)
            elif info.get("role") == "user":
                own = text_in(info.get("id"))
                if own and any(text_in(part.get("text")).startswith(_BY_THE_USER) and _is_own(part) for part in parts):
                    not_asked.add(own)
                if not all(_is_own(part) for part in parts):
                    yield UserMessage(place)


def _messages(source: TranscriptFile) -> Iterator[tuple[int, dict[str, Any], list[dict[str, Any]]]]:
    """Give the messages, each with its place, what is known of it, and its parts."""
    for _, session in source.documents():
        messages = session.get("messages") if isinstance(session, dict) else None
        for place, message in enumerate(messages if isinstance(messages, list) else (), 1):
            info = message.get("info") if isinstance(message, dict) else None
            if isinstance(info, dict):
                parts = message.get("parts")
                yield place, info, [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _is_own(part: dict[str, Any]) -> bool:
    """Tell whether a part of a message of the user is opencode's own."""
    return part.get("synthetic") is True or part.get("type") == "compaction"


def _said(place: int, info: dict[str, Any], parts: list[dict[str, Any]], calls: OpenCalls) -> Iterator[Event]:
    """Give the events of a message of the assistant: calls, what it cost, and outcomes in the order of their ends."""
    turn = text_in(info.get("id")) or None
    ended: list[tuple[bool, float, ToolCall, Outcome]] = []
    for part in parts:
        state = part.get("state")
        if part.get("type") != "tool" or not isinstance(state, dict):
            continue
        tool, arguments = asked(part.get("tool"), state.get("input"))
        # An id of a provider may come again in one session, that of a part does not.
        call = ToolCall(
            tool, arguments, id=text_in(part.get("id")) or text_in(part.get("callID")) or None, turn_id=turn
        )
        yield from calls.ask(place, call)
        outcome = _outcome(part.get("tool"), state)
        if outcome is not None and (call.id is None or calls.answered(call.id) is not None):
            # The plugin is told of a failure when the model is asked again.
            ended.append((state.get("status") == "error", _end(state), call, outcome))
    tokens = _tokens(info.get("tokens"))
    if tokens:
        yield TokensUsed(place, tokens, turn_id=turn)
    for _, _, call, outcome in sorted(ended, key=lambda item: item[:2]):
        yield ToolReturned(place, call, outcome)


def _outcome(tool: object, state: dict[str, Any]) -> Outcome | None:
    """Give the outcome of a call, without our own advice; `None` of a call that had none when it was written down."""
    if state.get("status") == "error":
        error = text_in(state.get("error"))
        return Outcome.missing() if error.startswith(OPENING) and is_refusal(error) else failure(error)
    if state.get("status") != "completed":
        return None
    return outcome_of(tool, {**state, "output": without_advice(text_in(state.get("output")))})


def _end(state: dict[str, Any]) -> float:
    times = state.get("time")
    end = times.get("end") if isinstance(times, dict) else None
    return end if isinstance(end, int | float) else 0


def _tokens(used: object) -> int:
    if not isinstance(used, dict):
        return 0
    cache = used.get("cache")
    return tokens_in({**used, **(cache if isinstance(cache, dict) else {})}, _COUNTS, "total")
