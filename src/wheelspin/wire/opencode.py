"""
Calls and results of opencode, as its plugins receive them and as sessions record them.

A call of an unknown tool, or with arguments that are not valid JSON, is run as a call of the tool `invalid`, which
receives the requested name and the reason. Some values in a result's metadata also occur in its output, and are
different with each call.
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

__all__ = ["OPENCODE_TOOLS", "failure", "outcome_of", "requested"]

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
_CHANGING_KEYS = ("outputPath", "sessionId")


def requested(tool: object, arguments: Any) -> tuple[str, Any]:
    """
    Return the tool and the arguments of a call; for an invalid call, the requested tool and the error.

    Example:
        >>> requested("invalid", {"tool": "fly", "error": "no such tool"})
        ('fly', {'error': 'no such tool'})
    """
    name = text_in(tool)
    if name == _INVALID and isinstance(arguments, dict):
        return text_in(arguments.get("tool")) or name, {"error": arguments.get("error")}
    return name, arguments


def outcome_of(tool: object, result: Mapping[str, Any]) -> Outcome:
    """Return the outcome of a call with a result; the tool has the name that opencode uses."""
    shown, metadata = _shown(result), result.get("metadata")
    if tool == _INVALID:
        return Outcome.unknown_tool(shown) if text_in(shown).startswith(_MISSING) else Outcome.error(shown)
    if text_in(tool).strip().lower() in SHELL_TOOLS and isinstance(metadata, dict) and "exit" in metadata:
        code = metadata["exit"]
        return shell_outcome(shown, failed=code != 0, exit_code=code if type(code) is int else None)
    return Outcome.result(shown)


def failure(error: str) -> Outcome:
    """Return the outcome of a call with an error; the error of a sub-agent begins with its session id."""
    if error.startswith(_DENIED):
        return Outcome.denied(error)
    if error == _INTERRUPTED:
        return Outcome.missing()
    return Outcome.error(error.partition(")")[2] if error.startswith(_SUBAGENT) else error)


def _shown(result: Mapping[str, Any]) -> Any:
    """Return what the model is shown, without changing values; for an MCP tool, the content of its result."""
    content = result.get("content")
    if isinstance(content, list):
        texts = [block.get("text") for block in content if isinstance(block, dict)]
        plain = [text for text in texts if isinstance(text, str)]
        return "\n\n".join(plain) if len(plain) == len(content) else content
    shown, metadata = text_in(result.get("output")), result.get("metadata")
    if isinstance(metadata, dict):
        for value in filter(None, [text_in(metadata.get(key)) for key in _CHANGING_KEYS]):
            shown = shown.replace(value, "")
    attached = result.get("attachments")
    files = [file for file in attached if isinstance(file, dict)] if isinstance(attached, list) else []
    return [shown, *([file.get("mime"), file.get("url")] for file in files)] if files else shown
