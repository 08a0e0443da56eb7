"""
Calls and results of Gemini CLI, and of Qwen Code, which is derived from it.

Output from outside sources is framed. Output that is too long is stored in a file and shown in part, below the file's
name. The output of a shell command has labels around it: the command, its exit code and its process number. File names
and process numbers are always different. Every tool has an argument that says when a call may run, which has no
influence on what the call does.
"""

from __future__ import annotations

from wheelspin.core.events import Outcome
from wheelspin.core.known_tools import TOOLS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["GEMINI_TOOLS", "arguments_of", "command_outcome", "unframed"]

GEMINI_TOOLS = TOOLS.extended(
    ignored={"run_shell_command": ["description"], "replace": ["instruction"]},
    polls=["list_background_processes", "read_background_output"],
    plans=["write_todos"],
)
"""What is known about Gemini CLI's tools."""
_FRAME = ("<untrusted_context>\n", "\n</untrusted_context>")
_SAVED = "Tool output was too large and has been truncated.\nThe full output has been saved to: "
_SHORTENED = "\nTruncated part of the output:\n"
_STARTED = "Background shell started."
_HINT = "\n\nNote: this foreground command ran for "
_BACKGROUND = ("Command moved to background (PID: ", "Command is running in background. PID: ")
_TIMED_OUT = ("Command was automatically cancelled because it exceeded the timeout", "Command timed out after ")
_CANCELLED = "Command was cancelled by user before it could complete."
_LABELS = ("Process Group PGID", "Background PIDs", "Signal", "Exit Code", "Error")
"""Labels after the output, from the last to the first."""
_PROCESSES = frozenset({"Process Group PGID", "Background PIDs"})
_NOTHING = frozenset({"(none)", "(empty)"})


def arguments_of(given: Any) -> Any:
    """Return the arguments of a call without the one that says when it may run."""
    if not isinstance(given, dict) or "wait_for_previous" not in given:
        return given
    return {name: value for name, value in given.items() if name != "wait_for_previous"}


def unframed(text: str) -> str:
    r"""
    Return output without its frame; of output that is too long, return the part that is shown.

    Example:
        >>> unframed("<untrusted_context>\npong\n</untrusted_context>")
        'pong'
    """
    if text.startswith(_SAVED):
        return text.partition(_SHORTENED)[2] or text
    begin, end = _FRAME
    return text[len(begin) : -len(end)] if text.startswith(begin) and text.endswith(end) else text


def command_outcome(shown: str, command: object = None, *, failed: bool = False) -> Outcome:
    r"""
    Return the outcome of a shell command.

    Args:
        shown: What the model was shown, without the frame.
        command: The command, which Qwen Code repeats in the output.
        failed: Whether the host reports a failure.

    Example:
        >>> command_outcome("Output: 1 failing\nExit Code: 3\nProcess Group PGID: 512").value["exitCode"]
        3
    """
    if shown.startswith(_CANCELLED):
        return Outcome.denied(shown)
    if shown.startswith(f"{_STARTED}\n"):
        shown = _STARTED
    for start in _BACKGROUND:
        if shown.startswith(start):
            shown = start + shown[len(start) :].lstrip("0123456789")
    text, labels = _without_labels(shown.removeprefix(f"Command: {command}\n").partition(_HINT)[0])
    code = labels.get("Exit Code", "")
    exit_code = int(code) if code.removeprefix("-").isdecimal() else None
    timed_out = shown.startswith(_TIMED_OUT)
    failed = failed or timed_out or bool(exit_code) or "Signal" in labels
    return Outcome.shell(
        "\n".join([text, *(f"{name}: {labels[name]}" for name in ("Error", "Signal") if name in labels)]).strip("\n"),
        status="failed" if failed else "completed",
        exit_code=exit_code,
        timed_out=timed_out,
    )


def _without_labels(text: str) -> tuple[str, dict[str, str]]:
    """Return the output of a command, and those of its labels that carry information."""
    if text.startswith("Directory: "):
        text = text.partition("\n")[2]
    if not text.startswith("Output: "):
        return text, {}
    labels = {}
    for label in _LABELS:
        before, found, value = text.rpartition(f"\n{label}: ")
        if found and "\n" not in value:
            text = before
            labels[label] = value
    text = text.removeprefix("Output: ")
    informative = {name: value for name, value in labels.items() if value not in _NOTHING and name not in _PROCESSES}
    return "" if text in _NOTHING else text, informative
