"""GitHub Copilot CLI: the events of a session, `~/.copilot/session-state/<session>/events.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wheelspin.core.events import Outcome, ToolCall
from wheelspin.transcripts.base import Compacted, Event, OpenCalls, Reader, TokensUsed, ToolReturned, UserMessage
from wheelspin.transcripts.files import Head, TranscriptFile
from wheelspin.wire.advice import is_refusal
from wheelspin.wire.copilot import COPILOT_TOOLS, NO_PROMPT, REFUSED, outcome_of
from wheelspin.wire.texts import text_in
from wheelspin.wire.usage import tokens_in

_TYPES = ("session.start", "session.resume", "user.message", "assistant.message", "tool.execution_start")
_DENIED = ("Denied by preToolUse hook: ", "Permission denied by a PermissionRequest hook: wheelspin: ")
_GUIDED = " succeeded. Additional guidance from postToolUse hooks:\n"
_USAGE = ("inputTokens", "outputTokens")


class CopilotCli(Reader):
    """
    Read Copilot CLI's sessions.

    A call is told of where it begins to run, with the arguments that the model gave. An id of a provider may come again
    in one session, that of the event does not. A message that reaches the model in the middle of a run begins none;
    neither does what Copilot says in the user's place. No calls of the model's are the commands that the user runs, nor
    the look at a background command whose end Copilot tells of.
    """

    name = "copilot_cli"
    title = "Copilot CLI sessions"
    tools = COPILOT_TOOLS

    def matches(self, head: Head) -> bool:
        """Tell it by events of its types, which name the event before them."""
        return any(
            line.get("type") in _TYPES and "parentId" in line and isinstance(line.get("data"), dict)
            for line in head.objects()
        )

    def read(self, source: TranscriptFile) -> Iterator[Event]:
        """Give the events, line by line."""
        calls = OpenCalls()
        begun: dict[str, str] = {}
        spent: dict[str | None, int] = {}
        notified: set[str | None] = set()
        for line, entry in source.lines():
            data, kind = entry.get("data"), entry.get("type")
            if not isinstance(data, dict):
                continue
            agent = text_in(entry.get("agentId")) or None
            call_id = text_in(data.get("toolCallId"))
            if "turnId" in data:
                notified.discard(agent)
            # The tokens of a turn are told of before its calls.
            if kind in {"tool.execution_complete", "assistant.turn_end", "session.usage_record"} and spent.get(agent):
                yield TokensUsed(line, spent.pop(agent), None, agent)
            match entry.get("type"):
                case "user.message" if _is_prompt(data):
                    yield UserMessage(line, None, agent)
                case "system.notification":
                    notified.add(agent)
                case "session.usage_record":
                    spent[agent] = tokens_in(data.get("usage"), _USAGE)
                case "session.compaction_complete":
                    yield Compacted(line, None, agent, ok=data.get("success") is True)
                case "tool.execution_start" if agent not in notified:
                    begun[call_id] = text_in(entry.get("id")) or call_id
                    call = ToolCall(
                        text_in(data.get("toolName")), data.get("arguments"), id=begun[call_id] or None, agent_id=agent
                    )
                    yield from calls.ask(line, call)
                case "tool.execution_complete" if (answered := calls.answered(begun.get(call_id))) is not None:
                    yield ToolReturned(line, answered, _outcome(answered, data))


def _is_prompt(data: dict[str, Any]) -> bool:
    """Tell whether a message is the user's, and begins a run."""
    if data.get("delivery") == "steering" or data.get("isAutopilotContinuation") is True:
        return False
    return not text_in(data.get("source")).startswith("skill-") and not text_in(data.get("content")).startswith(
        NO_PROMPT
    )


def _outcome(call: ToolCall, data: dict[str, Any]) -> Outcome:
    """Give the outcome of a call, without what hooks said to it; none of a call that our own kept from running."""
    if data.get("success") is not True:
        error = data.get("error")
        shown, code = (error.get("message"), error.get("code")) if isinstance(error, dict) else (error, None)
        if is_refusal(text_in(shown)) and text_in(shown).startswith(_DENIED):
            return Outcome.missing()
        return outcome_of(call.tool, shown, code if code in REFUSED else "failure")
    result = data.get("result")
    shown = result.get("content") if isinstance(result, dict) else result
    before, found, said = text_in(shown).rpartition(_GUIDED)
    if not found:
        return outcome_of(call.tool, shown)
    if is_refusal(said):
        return Outcome.missing()
    return outcome_of(call.tool, before.rpartition('Tool "')[0].removesuffix("\n\n"))
