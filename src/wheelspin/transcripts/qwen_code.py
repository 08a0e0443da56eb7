"""Qwen Code: sessions in JSONL, `~/.qwen/projects/<folder>/chats/<session>.jsonl`, and those of its sub-agents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wheelspin.core.events import Outcome, ToolCall
from wheelspin.core.unknown_tool import says_unknown_tool
from wheelspin.transcripts.base import Compacted, Event, OpenCalls, Reader, TokensUsed, UserMessage
from wheelspin.transcripts.files import Head, TranscriptFile
from wheelspin.wire.advice import OPENING, without_advice
from wheelspin.wire.gemini import arguments_of, unframed
from wheelspin.wire.qwen_code import DENIED, QWEN_TOOLS, UNKNOWN, outcome_of
from wheelspin.wire.texts import text_in
from wheelspin.wire.usage import tokens_in

_COMPRESSED = 1
"""Status of a compaction that succeeded."""
_REFUSED = (OPENING, 'Qwen Code requires permission to use "')
_RULED_OUT = '" invocation was denied by permission rules.'


class QwenCode(Reader):
    """
    Read Qwen Code's sessions.

    A compaction is a line of the subtype `chat_compression`. A sub-agent has a file of its own in the folder
    `subagents`; such files do not record the type of an error, which is read from the text for the model instead.
    """

    name = "qwen_code"
    title = "Qwen Code sessions"
    tools = QWEN_TOOLS

    def matches(self, head: Head) -> bool:
        """Return whether the file has lines with a session id and a unique id whose messages consist of parts."""
        return any("sessionId" in line and "uuid" in line and _parts(line) is not None for line in head.objects())

    def read(self, file: TranscriptFile) -> Iterator[Event]:
        """Yield the events line by line."""
        calls = OpenCalls()
        pending: TokensUsed | None = None
        for line, entry in file.lines():
            agent = text_in(entry.get("agentId")) or None
            if entry.get("type") != "assistant":
                for event in _other_events(line, entry, calls, agent):
                    if pending is not None:
                        yield pending
                        pending = None
                    yield event
                continue
            tokens = tokens_in(entry.get("usageMetadata"), (), "totalTokenCount")
            if tokens:
                if pending is not None:
                    yield pending
                pending = TokensUsed(line, tokens, None, agent)
            called = [event for call in _calls(entry, agent) for event in calls.add(line, call)]
            yield from called
            if called and pending is not None:
                # A sub-agent's file has the tokens of a message before its calls; events have them after the calls.
                pending = pending._replace(line=line)
        if pending is not None and not file.problem_count:
            # A file that breaks off may have lost the calls of its last message.
            yield pending


def _calls(entry: dict[str, Any], agent: str | None) -> Iterator[ToolCall]:
    """Yield the calls in a message of the model."""
    for part in _parts(entry) or ():
        wanted = part.get("functionCall") if isinstance(part, dict) else None
        if isinstance(wanted, dict):
            call_id = text_in(wanted.get("id")) or None
            yield ToolCall(text_in(wanted.get("name")), arguments_of(wanted.get("args")), id=call_id, agent_id=agent)


def _other_events(line: int, entry: dict[str, Any], calls: OpenCalls, agent: str | None) -> Iterator[Event]:
    """Yield the event of a line that is not from the model: a result, a prompt, or a compaction."""
    kind, parts = entry.get("type"), _parts(entry)
    if kind == "tool_result" and parts is not None:
        status = entry.get("toolCallResult")
        result = [_without_framed_advice(part) for part in parts]
        yield from calls.returned(line, _call_id(parts), result, lambda call, bare: _outcome(call, bare, status))
    elif kind == "user" and parts and agent is None:
        yield UserMessage(line)
    elif kind == "system" and entry.get("subtype") == "chat_compression":
        payload = entry.get("systemPayload")
        info = payload.get("info") if isinstance(payload, dict) else None
        status = info.get("compressionStatus", _COMPRESSED) if isinstance(info, dict) else _COMPRESSED
        yield Compacted(line, None, agent, ok=status == _COMPRESSED)


def _outcome(call: ToolCall, parts: list[Any], host: object) -> Outcome:
    """Return the outcome of a call from the parts that the model was shown and from the host's own record of it."""
    record = host if isinstance(host, dict) else {}
    error = next((text for part in parts if isinstance(text := _response(part).get("error"), str)), None)
    status = text_in(record.get("status")) or ("success" if error is None else "error")
    return outcome_of(call, parts, status, text_in(record.get("errorType")) or _kind(call, error or ""))


def _kind(call: ToolCall, error: str) -> str:
    """Return the type of an error that the host did not record."""
    if error.startswith(_REFUSED) or _RULED_OUT in error.partition("\n")[0]:
        return DENIED
    return UNKNOWN if says_unknown_tool((call.tool,), error) else ""


def _without_framed_advice(part: Any) -> Any:
    """Return a part without advice that stands inside the frame around its output."""
    response = _response(part)
    output = text_in(response.get("output"))
    inner = unframed(output)
    bare = without_advice(inner)
    if bare is inner:
        return part
    response = {**response, "output": output.replace(inner, bare) if bare else inner}
    return {**part, "functionResponse": {**part["functionResponse"], "response": response}}


def _call_id(parts: list[Any]) -> object:
    """Return the id of the call that a result belongs to."""
    answers = [part["functionResponse"] for part in parts if isinstance(part, dict) and "functionResponse" in part]
    return next((answer.get("id") for answer in answers if isinstance(answer, dict)), None)


def _response(part: Any) -> dict[str, Any]:
    answer = part.get("functionResponse") if isinstance(part, dict) else None
    response = answer.get("response") if isinstance(answer, dict) else None
    return response if isinstance(response, dict) else {}


def _parts(entry: dict[str, Any]) -> list[Any] | None:
    message = entry.get("message")
    parts = message.get("parts") if isinstance(message, dict) else None
    return parts if isinstance(parts, list) else None
