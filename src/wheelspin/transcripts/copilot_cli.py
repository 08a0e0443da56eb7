"""GitHub Copilot CLI: the events of a session, `~/.copilot/session-state/<session>/events.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wheelspin.core.events import Outcome, ToolCall
from wheelspin.transcripts.base import Compacted, Event, OpenCalls, Reader, TokensUsed, UserMessage
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

    A call is read where it starts to run, with the arguments that the model gave. Provider ids may repeat within a
    session, so calls are identified by the id of their event. A message that reaches the model in the middle of a run
    does not start a run, and neither does a message that Copilot writes on behalf of the user. Commands that the user
    runs, and Copilot's own reading of a background command after it announced its end, are not calls of the model.
    """

    name = "copilot_cli"
    title = "Copilot CLI sessions"
    tools = COPILOT_TOOLS

    def matches(self, head: Head) -> bool:
        """Return whether the file has events of Copilot's types that name the event before them."""
        return any(
            line.get("type") in _TYPES and "parentId" in line and isinstance(line.get("data"), dict)
            for line in head.objects()
        )

    def read(self, file: TranscriptFile) -> Iterator[Event]:
        """Yield the events line by line."""
        calls = OpenCalls()
        event_ids: dict[str, str] = {}
        unreported: dict[str | None, int] = {}
        notified: set[str | None] = set()
        for line, entry in file.lines():
            data, kind = entry.get("data"), entry.get("type")
            if not isinstance(data, dict):
                continue
            agent = text_in(entry.get("agentId")) or None
            call_id = text_in(data.get("toolCallId"))
            if "turnId" in data:
                notified.discard(agent)
            # The session records the tokens of a turn before its calls.
            if kind in {"tool.execution_complete", "assistant.turn_end", "session.usage_record"} and unreported.get(
                agent
            ):
                yield TokensUsed(line, unreported.pop(agent), None, agent)
            match entry.get("type"):
                case "user.message" if _is_prompt(data):
                    yield UserMessage(line, None, agent)
                case "system.notification":
                    notified.add(agent)
                case "session.usage_record":
                    unreported[agent] = tokens_in(data.get("usage"), _USAGE)
                case "session.compaction_complete":
                    yield Compacted(line, None, agent, ok=data.get("success") is True)
                case "tool.execution_start" if agent not in notified:
                    own_id = event_ids[call_id] = text_in(entry.get("id")) or call_id
                    call = ToolCall(
                        text_in(data.get("toolName")), data.get("arguments"), id=own_id or None, agent_id=agent
                    )
                    yield from calls.add(line, call)
                case "tool.execution_complete":
                    yield from calls.returned(line, event_ids.get(call_id), data, _outcome)
                case _:
                    pass


def _is_prompt(data: dict[str, Any]) -> bool:
    """Return whether a message was written by the user and starts a run."""
    if data.get("delivery") == "steering" or data.get("isAutopilotContinuation") is True:
        return False
    return not text_in(data.get("source")).startswith("skill-") and not text_in(data.get("content")).startswith(
        NO_PROMPT
    )


def _outcome(call: ToolCall, data: dict[str, Any]) -> Outcome:
    """Return the outcome of a call without the guidance of hooks; a call that Wheelspin's hook blocked has none."""
    if data.get("success") is not True:
        error = data.get("error")
        shown, code = (error.get("message"), error.get("code")) if isinstance(error, dict) else (error, None)
        if is_refusal(text_in(shown)) and text_in(shown).startswith(_DENIED):
            return Outcome.missing()
        return outcome_of(call.tool, shown, code if code in REFUSED else "failure")
    result = data.get("result")
    shown = result.get("content") if isinstance(result, dict) else result
    before, found, guidance = text_in(shown).rpartition(_GUIDED)
    if not found:
        return outcome_of(call.tool, shown)
    if is_refusal(guidance):
        return Outcome.missing()
    return outcome_of(call.tool, before.rpartition('Tool "')[0].removesuffix("\n\n"))
