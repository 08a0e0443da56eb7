"""Qwen Code: session JSONL, `~/.qwen/projects/<folder>/chats/<session>.jsonl`, and that of its sub-agents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wheelspin.core.events import Outcome, ToolCall
from wheelspin.core.unknown_tool import says_unknown_tool
from wheelspin.transcripts.base import Compacted, Event, OpenCalls, Reader, TokensUsed, ToolReturned, UserMessage
from wheelspin.transcripts.files import Head, TranscriptFile
from wheelspin.wire.advice import OPENING
from wheelspin.wire.gemini import arguments_of
from wheelspin.wire.qwen_code import DENIED, QWEN_TOOLS, UNKNOWN, outcome_of
from wheelspin.wire.texts import text_in
from wheelspin.wire.usage import tokens_in

_COMPRESSED = 1
"""What Qwen Code calls a compaction that succeeded."""
_ADVICE = f"\n\n{OPENING}"
_REFUSED = (OPENING, 'Qwen Code requires permission to use "')
_RULED_OUT = '" invocation was denied by permission rules.'


class QwenCode(Reader):
    """
    Read Qwen Code's sessions.

    A compaction is a line of the subtype `chat_compression`. A sub-agent has a file of its own, in the folder
    `subagents`; there Qwen Code does not say what sort of error a call ended with, and what it tells the model does.
    The guard's advice, which stands at the end of a result, does not count.
    """

    name = "qwen_code"
    title = "Qwen Code sessions"
    tools = QWEN_TOOLS

    def matches(self, head: Head) -> bool:
        """Tell it by lines that hold a session id and a unique id, and whose messages are made of parts."""
        return any("sessionId" in line and "uuid" in line and _parts(line) is not None for line in head.objects())

    def read(self, source: TranscriptFile) -> Iterator[Event]:
        """Give the events, line by line."""
        calls = OpenCalls()
        owed: TokensUsed | None = None
        for line, entry in source.lines():
            agent = text_in(entry.get("agentId")) or None
            if entry.get("type") != "assistant":
                for event in _heard(line, entry, calls, agent):
                    if owed is not None:
                        yield owed
                        owed = None
                    yield event
                continue
            tokens = tokens_in(entry.get("usageMetadata"), (), "totalTokenCount")
            if tokens:
                if owed is not None:
                    yield owed
                owed = TokensUsed(line, tokens, None, agent)
            asked = [event for call in _calls(entry, agent) for event in calls.ask(line, call)]
            yield from asked
            if asked and owed is not None:
                # What a message cost stands before its calls in a sub-agent's file, and comes after them here.
                owed = owed._replace(line=line)
        if owed is not None and not source.problem_count:
            # A file that breaks off may have lost the calls of the message that was on.
            yield owed


def _calls(entry: dict[str, Any], agent: str | None) -> Iterator[ToolCall]:
    """Give the calls that a message of the model asks for."""
    for part in _parts(entry) or ():
        wanted = part.get("functionCall") if isinstance(part, dict) else None
        if isinstance(wanted, dict):
            call_id = text_in(wanted.get("id")) or None
            yield ToolCall(text_in(wanted.get("name")), arguments_of(wanted.get("args")), id=call_id, agent_id=agent)


def _heard(line: int, entry: dict[str, Any], calls: OpenCalls, agent: str | None) -> Iterator[Event]:
    """Give the event of a line that is not the model's: a result, a prompt, or a compaction."""
    kind, parts = entry.get("type"), _parts(entry)
    if kind == "tool_result" and parts is not None:
        call = calls.answered(_answered(parts))
        if call is not None:
            yield ToolReturned(line, call, _outcome(call, parts, entry.get("toolCallResult")))
    elif kind == "user" and parts and agent is None:
        yield UserMessage(line)
    elif kind == "system" and entry.get("subtype") == "chat_compression":
        payload = entry.get("systemPayload")
        info = payload.get("info") if isinstance(payload, dict) else None
        status = info.get("compressionStatus", _COMPRESSED) if isinstance(info, dict) else _COMPRESSED
        yield Compacted(line, None, agent, ok=status == _COMPRESSED)


def _outcome(call: ToolCall, parts: list[Any], told: object) -> Outcome:
    """Give the outcome of a call from what the model was shown, less the advice, and from what the host says of it."""
    bare = [_bare(part) for part in parts]
    said = told if isinstance(told, dict) else {}
    error = next((text for part in bare if isinstance(text := _response(part).get("error"), str)), None)
    status = text_in(said.get("status")) or ("success" if error is None else "error")
    return outcome_of(call, bare, status, text_in(said.get("errorType")) or _kind(call, error or ""))


def _kind(call: ToolCall, error: str) -> str:
    """Tell what sort of error it was where the host does not say."""
    if error.startswith(_REFUSED) or _RULED_OUT in error.partition("\n")[0]:
        return DENIED
    return UNKNOWN if says_unknown_tool((call.tool,), error) else ""


def _bare(part: Any) -> Any:
    """Give a part of a result without the advice at the end of it."""
    response = _response(part)
    for key in ("output", "error"):
        text, found, rest = text_in(response.get(key)).rpartition(_ADVICE)
        if found and "\n\n" not in rest:
            answer = {**part["functionResponse"], "response": {**response, key: text}}
            return {**part, "functionResponse": answer}
    return part


def _answered(parts: list[Any]) -> object:
    """Give the id of the call that a result is of."""
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
