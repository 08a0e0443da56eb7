"""
opencode's hooks, as the plugin that is installed tells of them.

opencode starts no commands: the plugin (`installers/opencode.js`) starts this hook. It tells the `event`, the
`session`, the `run`, which is the user's message, the `turn`, which is what the model answers, and of a call its id
`call`, `tool`, `arguments` and `result` or `error`. The reply is `advice`, which answers a call that is about to run
and is added to what came back from one, and whether to `abort`.

Facts that matter: a call that fails brings its error and no result. A call of a tool that is not there, or with
arguments that are no JSON, is run as one of the tool `invalid`, which has the name that was asked for and the reason.
Each sub-agent is a session of its own.
"""

from __future__ import annotations

from wheelspin.core.events import Action, Outcome, ToolCall
from wheelspin.core.volatile import TOOLS
from wheelspin.hook import Hook, HookEvent, advice_of
from wheelspin.store import Key
from wheelspin.wire.shell import SHELL_TOOLS, shell_outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from wheelspin.core.events import Verdict

__all__ = ["HOOK"]

_DENIED = (
    "The user rejected permission to use this specific tool call",
    "The user has specified a rule which prevents you from using this specific tool call",
)
_INTERRUPTED = "Tool execution aborted"
_INVALID = "invalid"
_MISSING = "The arguments provided to the tool are invalid: Model tried to call unavailable tool "
_SUBAGENT = "Subagent failed (task_id: "
_ANEW = ("outputPath", "sessionId")
"""Keys of a result's metadata: what they hold is in the output too, and is another with each call."""


class OpenCode(Hook):
    """The hook of opencode."""

    __slots__ = ()

    name = "opencode"
    tools = TOOLS.extended(ignored={"bash": ["description"], "task": ["description"]}, plans=["todowrite"])

    def event(self, payload: Mapping[str, Any]) -> HookEvent | None:
        """Give what happened."""
        name, session = payload.get("event"), payload.get("session")
        if not isinstance(name, str) or not isinstance(session, str):
            return None
        key = Key(self.name, session, "")
        if name == "before":
            return HookEvent("before", key, name, ((_call(payload, key), None),))
        if name == "after":
            call = _call(payload, key)
            return HookEvent("after", key, name, ((call, _outcome(call, payload)),))
        return HookEvent(name, key, name) if name in {"compacted", "prompt"} else None

    def reply(self, event: HookEvent, verdicts: list[Verdict]) -> Mapping[str, Any] | None:
        """Give the reply: what the model is told, and whether the run ends."""
        said = [verdict for verdict in verdicts if verdict.stops or event.kind != "before"]
        advice = advice_of(said)
        if not advice:
            return None
        return {"advice": advice, "abort": any(verdict.action is Action.ABORT for verdict in said)}


def _call(payload: Mapping[str, Any], key: Key) -> ToolCall:
    """Give a call; of one that was not understood the name that was asked for, and the reason as its arguments."""
    tool, arguments = _text(payload.get("tool")), payload.get("arguments")
    if tool == _INVALID and isinstance(arguments, dict):
        tool, arguments = _text(arguments.get("tool")) or tool, {"error": arguments.get("error")}
    return ToolCall(
        tool,
        arguments,
        id=_text(payload.get("call")) or None,
        turn_id=_text(payload.get("turn")) or None,
        run_id=_text(payload.get("run")) or None,
        session_id=key.session,
    )


def _outcome(call: ToolCall, payload: Mapping[str, Any]) -> Outcome:
    """Give the outcome of a call, from its result or its error."""
    error, result = payload.get("error"), payload.get("result")
    if isinstance(error, str):
        return _failure(error)
    if not isinstance(result, dict):
        return Outcome.missing()
    shown, found = _shown(result), result.get("metadata")
    if payload.get("tool") == _INVALID:
        return Outcome.unknown_tool(shown) if _text(shown).startswith(_MISSING) else Outcome.error(shown)
    if call.tool.strip().lower() in SHELL_TOOLS and isinstance(found, dict) and "exit" in found:
        code = found["exit"]
        return shell_outcome(shown, failed=code != 0, exit_code=code if type(code) is int else None)
    return Outcome.result(shown)


def _failure(error: str) -> Outcome:
    """Give the outcome of a call that brought an error; that of a sub-agent begins with the session it was."""
    if error.startswith(_DENIED):
        return Outcome.denied(error)
    if error == _INTERRUPTED:
        return Outcome.missing()
    return Outcome.error(error.partition(")")[2] if error.startswith(_SUBAGENT) else error)


def _shown(result: Mapping[str, Any]) -> Any:
    """Give what the model is shown, without what is another each time; an MCP server's result is its content."""
    content = result.get("content")
    if isinstance(content, list):
        texts = [block.get("text") for block in content if isinstance(block, dict)]
        plain = [text for text in texts if isinstance(text, str)]
        return "\n\n".join(plain) if len(plain) == len(content) else content
    shown, found = _text(result.get("output")), result.get("metadata")
    if isinstance(found, dict):
        for own in filter(None, [_text(found.get(key)) for key in _ANEW]):
            shown = shown.replace(own, "")
    attached = result.get("attachments")
    files = [file for file in attached if isinstance(file, dict)] if isinstance(attached, list) else []
    return [shown, *([file.get("mime"), file.get("url")] for file in files)] if files else shown


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


HOOK = OpenCode()
