"""
The command line, `wheelspin COMMAND`, with one module per command.

The exit code is 0 on success and 2 on invalid input, with a message that says what to do.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from wheelspin.errors import WheelspinError

__all__ = ["main"]

_BAD_INPUT = 2


def main(arguments: Sequence[str] | None = None) -> int:
    """
    Run a command.

    Args:
        arguments: The command line without the name of the program; that of the process if left out.

    Returns:
        The exit code.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except WheelspinError as problem:
        print(f"wheelspin: {problem.diagnostics()}", file=sys.stderr)
        return _BAD_INPUT
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def _parser() -> argparse.ArgumentParser:
    from importlib.metadata import version

    from wheelspin.cli import allow, config, doctor, explain, install, mcp, replay, status, tune

    parser = argparse.ArgumentParser(
        prog="wheelspin",
        description="Traction control for tool-calling agents: detects, reports and stops tool-call loops.",
    )
    parser.add_argument("--version", action="version", version=f"wheelspin {version('wheelspin')}")
    verbs = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for verb in (install, mcp, doctor, status, allow, replay, tune, config, explain):
        verb.add_to(verbs)
    return parser
