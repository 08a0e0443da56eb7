"""The forms of report, by the name that the command line gives them; each writes what was found in its own way."""

from __future__ import annotations

from typing import Protocol, TextIO

from wheelspin.replay.compare import Comparison
from wheelspin.replay.summary import Summary
from wheelspin.replay.tuning import Recommendation, Tuning

__all__ = ["Form", "form_named"]


class Form(Protocol):
    """One form of report."""

    def write(self, summary: Summary, out: TextIO) -> None:
        """Write what a replay found."""

    def write_comparison(self, comparison: Comparison, out: TextIO) -> None:
        """Write what two configurations would have made of the same sessions."""

    def write_tuning(self, tuning: Tuning, choice: Recommendation | None, out: TextIO) -> None:
        """Write what each setting would have made of the sessions, and which one to take."""


def form_named(name: str) -> Form:
    """Give a form of report: `terminal` or `plain_json`; only the one that is asked for is loaded."""
    match name:
        case "plain_json":
            from wheelspin.reports import plain_json

            return plain_json
        case _:
            from wheelspin.reports import terminal

            return terminal
