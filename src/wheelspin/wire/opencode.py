"""
Calls and results of opencode, as its plugins are told of them and as it writes them down.

A call of a tool that is not there, or with arguments that are no JSON, is run as one of the tool `invalid`, which has
the name that was asked for and the reason. What is in a result's metadata under some keys is in its output too, and is
another with each call.
"""

from __future__ import annotations

from wheelspin.core.events import Outcome
from wheelspin.core.known_tools import TOOLS
from wheelspin.wire.shell import SHELL_TOOLS, shell_outcome
from wheelspin.wire.texts import text_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["OPENCODE_TOOLS", "asked", "failure", "outcome_of"]

OPENCODE_TOOLS = TOOLS.extended(ignored={"bash": ["description"], "task": ["description"]}, plans=["todowrite"])
"""What is known about its tools."""
_DENIED = (
    "The user rejected permission to use this specific tool call",
    "The user has specified a rule which prevents you from using this specific tool call",
)
_INTERRUPTED = "Tool execution aborted"
_INVALID = "invalid"
_MISSING = "The arguments provided to the tool are invalid: Model tried to call unavailable tool "
_SUBAGENT = "Subagent failed (task_id: "
_ANEW = ("outputPath", "sessionId")


def asked(tool: object, arguments: Any) -> tuple[str, Any]:
    """
    Give the tool and the arguments of a call: of one that was not understood the name that was asked for, and why.

    Example:
        >>> asked("invalid", {"tool": "fly", "error": "no such tool"})
        ('fly', {'error': 'no such tool'})
    """
    name = text_in(tool)
    if name == _INVALID and isinstance(arguments, dict):
        return text_in(arguments.get("tool")) or name, {"error": arguments.get("error")}
    return name, arguments


def outcome_of(tool: object, result: Mapping[str, Any]) -> Outcome:
    """Give the outcome of a call of a tool, as opencode names it, that brought a result."""
    shown, found = _shown(result), result.get("metadata")
    if tool == _INVALID:
        return Outcome.unknown_tool(shown) if text_in(shown).startswith(_MISSING) else Outcome.error(shown)
    if text_in(tool).strip().lower() in SHELL_TOOLS and isinstance(found, dict) and "exit" in found:
        code = found["exit"]
        return shell_outcome(shown, failed=code != 0, exit_code=code if type(code) is int else None)
    return Outcome.result(shown)


def failure(error: str) -> Outcome:
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
    shown, found = text_in(result.get("output")), result.get("metadata")
    if isinstance(found, dict):
        for own in filter(None, [text_in(found.get(key)) for key in _ANEW]):
            shown = shown.replace(own, "")
    attached = result.get("attachments")
    files = [file for file in attached if isinstance(file, dict)] if isinstance(attached, list) else []
    return [shown, *([file.get("mime"), file.get("url")] for file in files)] if files else shown
