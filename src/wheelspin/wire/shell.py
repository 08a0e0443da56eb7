"""Results of shell tools that hosts give as one text, as the outcome of a shell command (SPEC 4.2, rule 3)."""

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
"""Names under which tools that run a shell command are commonly offered, in lower case."""


def shell_outcome(text: object, *, failed: bool = False, exit_code: int | None = None) -> Outcome:
    """
    Give the outcome of a command of which only the text is known.

    Args:
        text: What the model was shown.
        failed: Whether the host calls it a failure.
        exit_code: The exit code, where the host tells it.
    """
    return Outcome.shell(text, status="failed" if failed else "completed", exit_code=exit_code)
