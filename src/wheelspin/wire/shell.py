"""Outcomes of shell tools whose results are a single text (SPEC 4.2, rule 3)."""

from __future__ import annotations

from wheelspin.core.events import Outcome

__all__ = ["SHELL_TOOLS", "shell_outcome"]

SHELL_TOOLS = frozenset(
    {
        "bash",
        "exec",
        "execute_bash",
        "execute_command",
        "run_command",
        "run_shell_command",
        "run_terminal_cmd",
        "shell",
        "terminal",
    }
)
"""Common names of tools that run shell commands, in lower case."""


def shell_outcome(text: object, *, failed: bool = False, exit_code: int | None = None) -> Outcome:
    """
    Return the outcome of a command of which only the text is known.

    Args:
        text: What the model was shown.
        failed: Whether the host reports a failure.
        exit_code: The exit code, if the host reports it.
    """
    return Outcome.shell(text, status="failed" if failed else "completed", exit_code=exit_code)
