"""The forms of report: text for the terminal, and JSON for programs."""

from __future__ import annotations

from typing import Protocol, TextIO

from wheelspin.replay.compare import Comparison
from wheelspin.replay.summary import Summary
from wheelspin.replay.tuning import Recommendation, Tuning

__all__ = ["Form", "form_named"]


class Form(Protocol):
    """A form of report."""

    def write(self, summary: Summary, out: TextIO) -> None:
        """Write the report of a replay."""

    def write_comparison(self, comparison: Comparison, out: TextIO) -> None:
        """Write what two configurations would have done in the same sessions."""

    def write_tuning(self, tuning: Tuning, choice: Recommendation | None, out: TextIO) -> None:
        """Write what each setting would have done in the sessions, and which one is recommended."""


def form_named(name: str) -> Form:
    """Return a form of report, `terminal` or `plain_json`; only that one is imported."""
    match name:
        case "plain_json":
            from wheelspin.reports import plain_json

            return plain_json
        case _:
            from wheelspin.reports import terminal

            return terminal
