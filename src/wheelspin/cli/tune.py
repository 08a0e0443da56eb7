"""`wheelspin tune`: recorded sessions under a grid of settings, and which one to take."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from wheelspin.cli._sessions import add_sessions_to, exit_code, form_of, play_each
from wheelspin.errors import ConfigError, Fault
from wheelspin.replay.tuning import Labels, Tuning, check_new

__all__ = ["add_to"]

_LABELS = Path("wheelspin-labels.json")


def add_to(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = verbs.add_parser(
        "tune",
        help="find the setting that fits your own sessions",
        description=(
            "Play recorded sessions through a small grid of settings around the presets: what each would have done and "
            "saved, the borderline runs on which they disagree, and which setting to take. Your own judgement of those "
            "runs, in the file of --label, decides."
        ),
    )
    add_sessions_to(parser)
    parser.add_argument(
        "--label",
        type=Path,
        metavar="FILE",
        help=(
            'your judgement, {"<run id>": "loop" or "ok"}; the borderline runs that it lacks are added as null, and a '
            f"file that is not there is written; without it, {_LABELS} if that is there"
        ),
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the recommended setting as a configuration")
    parser.add_argument("--json", action="store_true", help="write the report as JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    if options.write is not None:
        check_new(options.write)
    path = options.label or (_LABELS if _LABELS.exists() else None)
    tuning = Tuning(labels=Labels(path) if path else None)
    summary = tuning.summary
    play_each(options, summary, tuning.play)
    if summary.failures and not summary.files:
        return exit_code(summary)
    choice = tuning.judge()
    form_of(options).write_tuning(tuning, choice, sys.stdout)
    code = exit_code(summary)
    if options.write is not None:
        if choice is None:
            hint = "name sessions in which tools are called"
            raise ConfigError(
                str(options.write), [Fault("", "it is not written: there is no run to tune on", hint=hint)]
            )
        tuning.save(choice, options.write)
        if not options.json:
            print(f"{options.write}: written; use it with `wheelspin replay --config {options.write}`")
    return code
