"""`wheelspin tune`: play recorded sessions with a grid of settings, and recommend one."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from wheelspin.cli._sessions import add_sessions_to, exit_code, form_of, play_each
from wheelspin.config import load_config
from wheelspin.errors import ConfigError, Fault
from wheelspin.replay.tuning import Labels, Tuning, check_new, grid

__all__ = ["add_to"]

_LABELS = Path("wheelspin-labels.json")


def add_to(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = verbs.add_parser(
        "tune",
        help="find the settings that fit your own sessions",
        description=(
            "Play recorded sessions with a small grid of settings around the presets. Report what each would have done "
            "and saved, list the borderline runs on which they disagree, and recommend a setting. Your own labels for "
            "those runs, in the file given with --label, decide the recommendation."
        ),
    )
    add_sessions_to(parser)
    parser.add_argument(
        "--label",
        type=Path,
        metavar="FILE",
        help=(
            'file with your labels, {"<run id>": "loop" or "ok"}; missing borderline runs are added as null, and a '
            f"missing file is created (default: {_LABELS}, if it exists)"
        ),
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="also ask the plugins of this configuration")
    parser.add_argument(
        "--write", type=Path, metavar="FILE", help="write the recommended setting to a new configuration file"
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    if options.write is not None:
        check_new(options.write)
    path = options.label or (_LABELS if _LABELS.exists() else None)
    plugins = load_config(options.config).plugins if options.config else ()
    tuning = Tuning(grid(plugins), labels=Labels(path) if path else None)
    summary = tuning.summary
    play_each(options, summary, tuning.play)
    if summary.failures and not summary.files:
        return exit_code(summary)
    choice = tuning.judge()
    form_of(options).write_tuning(tuning, choice, sys.stdout)
    code = exit_code(summary)
    if options.write is not None:
        if choice is None:
            hint = "use sessions that contain tool calls"
            raise ConfigError(
                str(options.write), [Fault("", "it was not written, because there are no runs to tune on", hint=hint)]
            )
        tuning.save(choice, options.write)
        if not options.json:
            print(f"{options.write}: written; use it with `wheelspin replay --config {options.write}`")
    return code
