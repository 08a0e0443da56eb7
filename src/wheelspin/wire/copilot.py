"""
Calls and results of GitHub Copilot CLI, as it tells them to hooks and as it writes them down.

What a shell command printed ends with a note: its exit code, and the number of a shell, which counts up. What is too
long stands under the name of a file that holds all of it, which is another each time.
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
"""How begins what it says to the model in place of the user."""
REFUSED = ("rejected", "denied")
"""What it calls a call that somebody refused."""
_FAILED = ("failure", "timeout")
_TOO_LARGE = "Output too large to read at once ("


def outcome_of(tool: str, shown: object, kind: object = "success") -> Outcome:
    r"""
    Give the outcome of a call.

    Args:
        tool: The tool's name, as the model knows it.
        shown: What the model was shown.
        kind: What the host calls it.

    Example:
        >>> outcome_of("bash", "1 failing\n<shellId: 7 completed with exit code 3>").value["exitCode"]
        3
    """
    shown = _without_place(shown) if isinstance(shown, str) else shown
    if kind in REFUSED:
        return Outcome.denied(shown)
    if kind in _FAILED:
        return Outcome.error(shown)
    return _of_shell(shown) if tool in _SHELLS and isinstance(shown, str) else Outcome.result(shown)


def _of_shell(shown: str) -> Outcome:
    """Give the outcome of a command, without the note."""
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


def _without_place(text: str) -> str:
    """Give a text without the name of the file that all of it is in."""
    if not text.startswith(_TOO_LARGE):
        return text
    first, line, rest = text.partition("\n")
    return first.partition(" Saved to: ")[0] + line + rest
