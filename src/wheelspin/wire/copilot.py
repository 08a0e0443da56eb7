"""
Calls and results of GitHub Copilot CLI, as hooks receive them and as sessions record them.

The output of a shell command ends with a note of its exit code and the number of its shell, which counts up. Output
that is too long is stored in a file, whose name is always different.
"""

from __future__ import annotations

from wheelspin.core.events import Outcome
from wheelspin.core.hints import NEVER, ToolHint
from wheelspin.core.known_tools import TOOLS
from wheelspin.wire.shell import shell_outcome

__all__ = ["COPILOT_TOOLS", "NO_PROMPT", "REFUSED", "outcome_of"]

_SHELLS = ("bash", "powershell", "read_bash", "read_powershell")
_TIMES = ToolHint(volatile=["/elapsed: .* commands/"])
_OF_AN_AGENT = ToolHint(poll=True, critical_threshold=NEVER)
COPILOT_TOOLS = TOOLS.extended(
    ignored={tool: ["description"] for tool in ("bash", "powershell", "sql", "session_store_sql", "task")},
    polls=["read_bash", "read_powershell", "list_bash", "list_powershell"],
    hints={
        "list_bash": _TIMES,
        "list_powershell": _TIMES,
        "task": ToolHint(volatile=["/agent_id: .*. You/"]),
        "list_agents": _OF_AN_AGENT,
        "read_agent": _OF_AN_AGENT,
    },
)
"""What is known about its tools."""
NO_PROMPT = ("<system_notification>", "You have not yet marked the task as complete using the task_complete tool.")
"""How messages begin that Copilot writes on behalf of the user."""
REFUSED = ("rejected", "denied")
"""Result types of calls that somebody refused."""
_FAILED = ("failure", "timeout")
_TOO_LARGE = "Output too large to read at once ("


def outcome_of(tool: str, shown: object, kind: object = "success") -> Outcome:
    r"""
    Return the outcome of a call.

    Args:
        tool: Name of the tool, as the model knows it.
        shown: What the model was shown.
        kind: The host's result type.

    Example:
        >>> outcome_of("bash", "1 failing\n<shellId: 7 completed with exit code 3>").value["exitCode"]
        3
    """
    shown = _without_file_name(shown) if isinstance(shown, str) else shown
    if kind in REFUSED:
        return Outcome.denied(shown)
    if kind in _FAILED:
        return Outcome.error(shown)
    return _of_shell(shown) if tool in _SHELLS and isinstance(shown, str) else Outcome.result(shown)


def _of_shell(shown: str) -> Outcome:
    """Return the outcome of a command, without the note at its end."""
    start = max(shown.rfind("<shellId: "), shown.rfind("<command "))
    if start < 0 or not shown.endswith(">"):
        return shell_outcome(shown)
    printed, note = shown[:start].removesuffix("\n"), shown[start:]
    _, ended, code = note[:-1].rpartition(" completed with exit code ")
    if ended and code.removeprefix("-").isdecimal():
        return shell_outcome(printed, failed=code != "0", exit_code=int(code))
    if " background with shellId: " in note or " is still running " in note:
        return Outcome.shell(printed, status="running")
    return shell_outcome(shown)


def _without_file_name(text: str) -> str:
    """Return a text without the name of the file that contains the full output."""
    if not text.startswith(_TOO_LARGE):
        return text
    first, line, rest = text.partition("\n")
    return first.partition(" Saved to: ")[0] + line + rest
