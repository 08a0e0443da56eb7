"""opencode: a session as `opencode export` writes it, as one JSON document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from wheelspin.core.events import Outcome, ToolCall
from wheelspin.transcripts.base import Compacted, Event, OpenCalls, Reader, TokensUsed, ToolReturned, UserMessage
from wheelspin.transcripts.files import Head, TranscriptFile
from wheelspin.wire.advice import outcome_without_advice
from wheelspin.wire.opencode import OPENCODE_TOOLS, failure, outcome_of, requested
from wheelspin.wire.texts import text_in
from wheelspin.wire.usage import tokens_in

_EXPORT = re.compile(rb'\s*\{\s*"info"\s*:\s*\{\s*"id"\s*:\s*"ses_')
_BY_THE_USER = "The following tool was executed by the user"
_COUNTS = ("input", "output", "reasoning", "read", "write")


class OpenCode(Reader):
    """
    Read exported opencode sessions.

    A message of the user is a prompt, unless opencode wrote all of it: to continue after a compaction, or to report a
    command that the user ran, which is not a call of the model. A compaction is a message of the assistant that is a
    summary. Each sub-agent is a session of its own and is exported separately.
    """

    name = "opencode"
    title = "opencode sessions"
    unit = "message"
    tools = OPENCODE_TOOLS

    def matches(self, head: Head) -> bool:
        """Return whether the document begins with the information on an opencode session."""
        return _EXPORT.match(head.data) is not None

    def read(self, file: TranscriptFile) -> Iterator[Event]:
        """Yield the events message by message."""
        calls = OpenCalls()
        commands_of_the_user: set[str] = set()
        for number, info, parts in _messages(file):
            if info.get("role") == "assistant":
                if info.get("summary") is True:
                    yield Compacted(number, ok="error" not in info and "finish" in info)
                is_by_the_user = text_in(info.get("parentID")) in commands_of_the_user
                yield from _assistant_events(number, info, [] if is_by_the_user else parts, calls)
            elif info.get("role") == "user":
                own = text_in(info.get("id"))
                if own and any(text_in(part.get("text")).startswith(_BY_THE_USER) and _is_own(part) for part in parts):
                    commands_of_the_user.add(own)
                if not all(_is_own(part) for part in parts):
                    yield UserMessage(number)


def _messages(file: TranscriptFile) -> Iterator[tuple[int, dict[str, Any], list[dict[str, Any]]]]:
    """Yield each message as its number, its information and its parts."""
    for _, session in file.documents():
        messages = session.get("messages") if isinstance(session, dict) else None
        for number, message in enumerate(messages if isinstance(messages, list) else (), 1):
            info = message.get("info") if isinstance(message, dict) else None
            if isinstance(info, dict):
                parts = message.get("parts")
                yield (
                    number,
                    info,
                    [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else [],
                )


def _is_own(part: dict[str, Any]) -> bool:
    """Return whether opencode itself wrote a part of a message of the user."""
    return part.get("synthetic") is True or part.get("type") == "compaction"


def _assistant_events(
    number: int, info: dict[str, Any], parts: list[dict[str, Any]], calls: OpenCalls
) -> Iterator[Event]:
    """Yield the events of an assistant message: its calls, its tokens, and the outcomes in the order of their ends."""
    turn = text_in(info.get("id")) or None
    ended: list[tuple[bool, float, ToolCall, Outcome]] = []
    for part in parts:
        state = part.get("state")
        if part.get("type") != "tool" or not isinstance(state, dict):
            continue
        tool, arguments = requested(part.get("tool"), state.get("input"))
        # Provider ids may repeat within a session; ids of parts do not.
        call = ToolCall(
            tool, arguments, id=text_in(part.get("id")) or text_in(part.get("callID")) or None, turn_id=turn
        )
        yield from calls.add(number, call)
        outcome = _outcome(call, part.get("tool"), state)
        if outcome is not None and (call.id is None or calls.pop(call.id) is not None):
            # opencode reports a failure to the plugin only with the next request to the model.
            ended.append((state.get("status") == "error", _end(state), call, outcome))
    tokens = _tokens(info.get("tokens"))
    if tokens:
        yield TokensUsed(number, tokens, turn_id=turn)
    for _, _, call, outcome in sorted(ended, key=lambda item: item[:2]):
        yield ToolReturned(number, call, outcome)


def _outcome(call: ToolCall, tool: object, state: dict[str, Any]) -> Outcome | None:
    """Return the outcome of a call; `None` if it had not ended when the session was written."""
    if state.get("status") == "error":
        return outcome_without_advice(call, text_in(state.get("error")), lambda _, error: failure(error))
    if state.get("status") != "completed":
        return None
    return outcome_without_advice(call, state, lambda _, result: outcome_of(tool, result))


def _end(state: dict[str, Any]) -> float:
    times = state.get("time")
    end = times.get("end") if isinstance(times, dict) else None
    return end if isinstance(end, int | float) else 0


def _tokens(used: object) -> int:
    if not isinstance(used, dict):
        return 0
    cache = used.get("cache")
    return tokens_in({**used, **(cache if isinstance(cache, dict) else {})}, _COUNTS, "total")
