"""Gemini CLI: sessions in `~/.gemini/tmp/<project>/chats/`, in JSONL or in the JSON files of older versions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from wheelspin.core.events import Outcome, ToolCall
from wheelspin.core.unknown_tool import says_unknown_tool
from wheelspin.transcripts.base import Compacted, Event, OpenCalls, Reader, TokensUsed, UserMessage
from wheelspin.transcripts.files import Head, TranscriptFile
from wheelspin.wire.advice import without_advice
from wheelspin.wire.gemini import GEMINI_TOOLS, arguments_of, command_outcome, unframed
from wheelspin.wire.usage import tokens_in

_MARKS = (b'"sessionId"', b'"projectHash"')
_SUMMED_UP = "Got it. Thanks for the additional context!"
"""What Gemini CLI has the model say after a summary of the context."""
_NO_PROMPT = (
    "<session_context>",
    "<hook_context>",
    "System: Potential loop detected",
    "[System: You ",
    "Please continue.",
)
_REFUSED = (
    "Tool execution blocked: ",
    "Agent execution stopped by hook: ",
    "Tool execution denied by policy.",
    "[Operation Cancelled]",
)
_SHORTENED = "Output too large. Showing first "
_LEFT_OUT = re.compile(r"\n\n\.\.\. \[\S+ characters omitted\] \.\.\.\n\n")
_SPARE = 2048
"""Characters of a long text that may have been cut to make room for what a hook added."""
_HOOK_CONTEXT = ("<hook_context>", "</hook_context>")
_NO_TEXT = "Binary content provided ("


class GeminiCli(Reader):
    """
    Read Gemini CLI's sessions.

    A message is written again when its calls have returned. A compaction is a history that is replaced by one with a
    new summary. A sub-agent has a file of its own. Context that hooks added to a result, and the name of the file that
    contains a long result, are not part of the outcome. In older files, which are one JSON object, the line numbers of
    events are message numbers.
    """

    name = "gemini_cli"
    title = "Gemini CLI sessions"
    tools = GEMINI_TOOLS

    def matches(self, head: Head) -> bool:
        """Return whether the file begins with an object that has a session id and a project hash."""
        first = head.first
        if first is not None:
            return "sessionId" in first and "projectHash" in first
        return head.data.lstrip().startswith(b"{") and all(mark in head.data for mark in _MARKS)

    def read(self, file: TranscriptFile) -> Iterator[Event]:
        """Yield the events message by message."""
        session = _Session()
        for line, entry in _entries(file):
            yield from session.take(line, entry)
        if not file.problem_count:
            # A file that breaks off may have lost the calls of its last message.
            yield from session.close_turn()


def _entries(file: TranscriptFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the entries of a file: its lines, or the messages of its one object."""
    first = file.head().first
    if first is not None and "messages" not in first:
        yield from file.lines()
        return
    for _, whole in file.documents():
        messages = whole.get("messages") if isinstance(whole, dict) else None
        for number, message in enumerate(messages if isinstance(messages, list) else (), 1):
            if isinstance(message, dict):
                yield number, message


class _Session:
    """
    The state of a session as its file is read.

    Attributes:
        calls: The calls that have not returned yet.
        agent: Id of the sub-agent whose session it is.
        turn: Id of the model's current message.
        pending: Line and tokens of the current message until they are reported.
        summaries: Ids of the messages that follow a summary.
    """

    def __init__(self) -> None:
        self.calls = OpenCalls()
        self.agent: str | None = None
        self.turn: object = None
        self.pending: tuple[int, int] | None = None
        self.summaries: set[str] = set()

    def take(self, line: int, entry: dict[str, Any]) -> Iterator[Event]:
        """Yield the events of an entry."""
        kind = entry.get("type")
        if kind == "gemini":
            yield from self._model_events(line, entry)
        elif kind == "user":
            yield from self.close_turn()
            if self.agent is None and _is_prompt(entry.get("content")):
                yield UserMessage(line)
        elif isinstance(entry.get("$set"), dict):
            yield from self._compactions(line, entry["$set"].get("messages"))
        elif entry.get("kind") == "subagent" and isinstance(entry.get("sessionId"), str):
            self.agent = entry["sessionId"]

    def close_turn(self) -> Iterator[Event]:
        """Yield the tokens of the current message, which is complete."""
        pending, self.pending = self.pending, None
        if pending is not None and pending[1]:
            yield TokensUsed(*pending, None, self.agent)

    def _model_events(self, line: int, message: dict[str, Any]) -> Iterator[Event]:
        """Yield the events of a message of the model: its new calls, its tokens once, and outcomes."""
        turn, tokens = message.get("id"), tokens_in(message.get("tokens"), (), "total")
        if turn is None or turn != self.turn:
            yield from self.close_turn()
            self.turn, self.pending = turn, (line, tokens)
        elif self.pending is not None:
            self.pending = line, tokens
        listed = message.get("toolCalls")
        items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
        called = [event for item in items for event in self.calls.add(line, self._call(item))]
        if called:
            yield from called
            yield from self.close_turn()
        for item in items:
            if _response(item) is not None:
                yield from self.calls.returned(line, item.get("id"), item, _outcome)

    def _call(self, item: dict[str, Any]) -> ToolCall:
        call_id = item.get("id")
        return ToolCall(
            str(item.get("name") or ""),
            arguments_of(item.get("args")),
            id=call_id if isinstance(call_id, str) else None,
            agent_id=self.agent,
        )

    def _compactions(self, line: int, messages: object) -> Iterator[Event]:
        """Yield a compaction for each new summary in a history that replaces the previous one."""
        for message in messages if isinstance(messages, list) else ():
            if not isinstance(message, dict) or message.get("type") != "gemini":
                continue
            name = str(message.get("id"))
            if name not in self.summaries and _text(message.get("content")) == _SUMMED_UP:
                self.summaries.add(name)
                yield from self.close_turn()
                yield Compacted(line, None, self.agent)


def _response(item: dict[str, Any]) -> dict[str, Any] | None:
    """Return the part of a call's result that responds to the model; `None` if there is none yet."""
    result = item.get("result")
    for part in result if isinstance(result, list) else ():
        answer = part.get("functionResponse") if isinstance(part, dict) else None
        if isinstance(answer, dict) and isinstance(answer.get("response"), dict):
            return answer
    return None


def _outcome(call: ToolCall, item: dict[str, Any]) -> Outcome:
    """Return the outcome of a call that has a response."""
    answer = _response(item) or {}
    response: dict[str, Any] = answer.get("response", {})
    error = response.get("error")
    if item.get("status") == "cancelled" or (isinstance(error, str) and error.startswith(_REFUSED)):
        return Outcome.denied(error)
    if says_unknown_tool((call.tool,), error):
        return Outcome.unknown_tool(error)
    shown = error if error is not None else _shown(answer, item["result"])
    if call.tool == "run_shell_command" and isinstance(shown, str):
        command = call.arguments.get("command") if isinstance(call.arguments, dict) else None
        return command_outcome(shown, command, failed=error is not None)
    return Outcome.result(shown) if error is None else Outcome.error(error)


def _shown(answer: dict[str, Any], parts: list[Any]) -> object:
    """Return the result of a tool: its text, and other parts such as images."""
    inner = answer.get("parts")
    others = [part for part in parts if not isinstance(part, dict) or part.get("functionResponse") is not answer]
    others += inner if isinstance(inner, list) else []
    response = answer["response"]
    output = response.get("output")
    if not isinstance(output, str):
        return [response, *others] if others else response
    text = _bare(output)
    if not others:
        return text
    # A hook's context replaces the words that stand for parts without text.
    shown = others if text == "" or text.startswith(_NO_TEXT) else [text, *others]
    return shown[0] if len(shown) == 1 else shown


def _bare(output: str) -> str:
    """Return a text without a hook's context, the frame, advice in it, and the name of the file with the full text."""
    begin, end = _HOOK_CONTEXT
    # The number of line ends before the context depends on the tool.
    text = (output.rpartition(begin)[0] if output.endswith(end) else output).rstrip("\n")
    shortened = _evened(text, len(output) - len(text)) if output.startswith(_SHORTENED) else text
    return without_advice(unframed(shortened))


def _evened(text: str, added: int) -> str:
    """Return the part of a long text that is always shown; a hook's context takes the place of some of its end."""
    head, *tail = _LEFT_OUT.split(text.partition("\n")[2], 1)
    return "\n".join([head, *(part[max(0, _SPARE - added) :] for part in tail)])


def _is_prompt(content: object) -> bool:
    """Return whether a message is a prompt of the user, not tool results or a message that the host wrote."""
    text = _text(content)
    return bool(text) and not text.startswith(_NO_PROMPT)


def _text(content: object) -> str:
    """Return the text of a message; nothing for a message with tool results."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    if any(isinstance(part, dict) and "functionResponse" in part for part in parts):
        return ""
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "".join(text for text in texts if isinstance(text, str))
