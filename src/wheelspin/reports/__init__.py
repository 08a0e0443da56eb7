"""The forms of report, by the name that the command line gives them: each is one file with one function."""

from __future__ import annotations

from wheelspin.report import Report

__all__ = ["report_named"]


def report_named(name: str) -> Report:
    """Give a form of report: `terminal` or `plain_json`; only the one that is asked for is loaded."""
    match name:
        case "plain_json":
            from wheelspin.reports.plain_json import write
        case _:
            from wheelspin.reports.terminal import write
    return write
