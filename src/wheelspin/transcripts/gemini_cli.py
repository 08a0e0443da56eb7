"""Gemini CLI: session JSONL of `~/.gemini/tmp/<project>/chats/`, and the JSON files that it wrote before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from wheelspin.core.events import Outcome, ToolCall
from wheelspin.core.unknown_tool import says_unknown_tool
from wheelspin.transcripts.base import Compacted, Event, OpenCalls, Reader, TokensUsed, ToolReturned, UserMessage
from wheelspin.transcripts.files import Head, TranscriptFile
from wheelspin.wire.advice import without_advice
from wheelspin.wire.gemini import GEMINI_TOOLS, arguments_of, command_outcome, unframed
from wheelspin.wire.usage import tokens_in

_MARKS = (b'"sessionId"', b'"projectHash"')
_SUMMED_UP = "Got it. Thanks for the additional context!"
"""What the model is made to say after a summary of the context."""
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
"""Characters of a long text that may have given way to what a hook added."""
_ADVICE = ("<hook_context>", "</hook_context>")
_NO_TEXT = "Binary content provided ("


class GeminiCli(Reader):
    """
    Read Gemini CLI's sessions.

    A message is written once more when its calls have come back. A compaction is a history that is set anew and holds
    a summary which was not there before. A sub-agent has a file of its own. What a hook added to a result does not
    count, nor the name of the file that a long result was put into. In the older files, which are one JSON object,
    events are numbered by message.
    """

    name = "gemini_cli"
    title = "Gemini CLI sessions"
    tools = GEMINI_TOOLS

    def matches(self, head: Head) -> bool:
        """Tell it by an object, at the beginning, that names a session and the hash of its project."""
        first = head.first
        if first is not None:
            return "sessionId" in first and "projectHash" in first
        return head.data.lstrip().startswith(b"{") and all(mark in head.data for mark in _MARKS)

    def read(self, source: TranscriptFile) -> Iterator[Event]:
        """Give the events, message by message."""
        session = _Session()
        for line, entry in _entries(source):
            yield from session.take(line, entry)
        if not source.problem_count:
            # A file that breaks off may have lost the calls of the message that was on.
            yield from session.settle()


def _entries(source: TranscriptFile) -> Iterator[tuple[int, dict[str, Any]]]:
    """Give what a file is made of: its lines, or the messages of the one object that it is."""
    first = source.head().first
    if first is not None and "messages" not in first:
        yield from source.lines()
        return
    for _, whole in source.documents():
        messages = whole.get("messages") if isinstance(whole, dict) else None
        for number, message in enumerate(messages if isinstance(messages, list) else (), 1):
            if isinstance(message, dict):
                yield number, message


class _Session:
    """
    A session, as its file is read.

    Attributes:
        calls: The calls that wait for their outcome.
        agent: The sub-agent whose session it is.
        turn: Id of the model's message that is on.
        owed: Line and tokens of that message, until they are told.
        summaries: Ids of the messages that follow a summary.
    """

    def __init__(self) -> None:
        self.calls = OpenCalls()
        self.agent: str | None = None
        self.turn: object = None
        self.owed: tuple[int, int] | None = None
        self.summaries: set[str] = set()

    def take(self, line: int, entry: dict[str, Any]) -> Iterator[Event]:
        """Give the events of a line, or of a message."""
        kind = entry.get("type")
        if kind == "gemini":
            yield from self._said(line, entry)
        elif kind == "user":
            yield from self.settle()
            if self.agent is None and _is_prompt(entry.get("content")):
                yield UserMessage(line)
        elif isinstance(entry.get("$set"), dict):
            yield from self._set(line, entry["$set"].get("messages"))
        elif entry.get("kind") == "subagent" and isinstance(entry.get("sessionId"), str):
            self.agent = entry["sessionId"]

    def settle(self) -> Iterator[Event]:
        """Tell what the message that is over cost."""
        owed, self.owed = self.owed, None
        if owed is not None and owed[1]:
            yield TokensUsed(*owed, None, self.agent)

    def _said(self, line: int, message: dict[str, Any]) -> Iterator[Event]:
        """Give the events of a message of the model: its new calls, its cost once, and what came back."""
        turn, tokens = message.get("id"), tokens_in(message.get("tokens"), (), "total")
        if turn is None or turn != self.turn:
            yield from self.settle()
            self.turn, self.owed = turn, (line, tokens)
        elif self.owed is not None:
            self.owed = line, tokens
        listed = message.get("toolCalls")
        items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
        asked = [event for item in items for event in self.calls.ask(line, self._call(item))]
        if asked:
            yield from asked
            yield from self.settle()
        for item in items:
            if _response(item) is not None:
                call = self.calls.answered(item.get("id"))
                if call is not None:
                    yield ToolReturned(line, call, _outcome(call, item))

    def _call(self, item: dict[str, Any]) -> ToolCall:
        call_id = item.get("id")
        return ToolCall(
            str(item.get("name") or ""),
            arguments_of(item.get("args")),
            id=call_id if isinstance(call_id, str) else None,
            agent_id=self.agent,
        )

    def _set(self, line: int, messages: object) -> Iterator[Event]:
        """Give a compaction, where a history that is set anew has a new summary in it."""
        for message in messages if isinstance(messages, list) else ():
            if not isinstance(message, dict) or message.get("type") != "gemini":
                continue
            name = str(message.get("id"))
            if name not in self.summaries and _text(message.get("content")) == _SUMMED_UP:
                self.summaries.add(name)
                yield from self.settle()
                yield Compacted(line, None, self.agent)


def _response(item: dict[str, Any]) -> dict[str, Any] | None:
    """Give the part of a call's result that answers the model; `None` where there is none yet."""
    result = item.get("result")
    for part in result if isinstance(result, list) else ():
        answer = part.get("functionResponse") if isinstance(part, dict) else None
        if isinstance(answer, dict) and isinstance(answer.get("response"), dict):
            return answer
    return None


def _outcome(call: ToolCall, item: dict[str, Any]) -> Outcome:
    """Give the outcome of a call that has an answer."""
    answer = _response(item) or {}
    response: dict[str, Any] = answer.get("response", {})
    error = response.get("error")
    error = without_advice(error) if isinstance(error, str) else error
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
    """Give what a tool gave: its text, and what is no text, such as an image."""
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
    # The words that stand for what is no text give way to those that a hook adds.
    shown = others if text == "" or text.startswith(_NO_TEXT) else [text, *others]
    return shown[0] if len(shown) == 1 else shown


def _bare(told: str) -> str:
    """Give a text without what a hook added, its frame, and the name of the file that holds what was left out."""
    begin, end = _ADVICE
    # How many line ends stand before what was added depends on the tool.
    text = (told.rpartition(begin)[0] if told.endswith(end) else told).rstrip("\n")
    return unframed(_evened(text, len(told) - len(text)) if told.startswith(_SHORTENED) else text)


def _evened(text: str, added: int) -> str:
    """Give of a long text what is shown of it in any case: the more a hook added, the less of its end is shown."""
    head, *tail = _LEFT_OUT.split(text.partition("\n")[2], 1)
    return "\n".join([head, *(part[max(0, _SPARE - added) :] for part in tail)])


def _is_prompt(content: object) -> bool:
    """Tell a prompt of the user from answers of tools, and from what the host says in the user's name."""
    text = _text(content)
    return bool(text) and not text.startswith(_NO_PROMPT)


def _text(content: object) -> str:
    """Give the text of a message; none where it brings what tools gave."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    if any(isinstance(part, dict) and "functionResponse" in part for part in parts):
        return ""
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return "".join(text for text in texts if isinstance(text, str))
