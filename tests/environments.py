"""Separate environments for the programs and frameworks under test, made again only for another version."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

__all__ = ["made", "node_packages", "python_packages"]


def made(home: Path, of: Iterable[str], make: Callable[[], None]) -> None:
    """
    Fill a folder, unless it already has the wanted content.

    Args:
        home: The folder.
        of: Names and versions of the content.
        make: Fills the folder, which exists and is empty.
    """
    stamp, wanted = home / "made-of", "\n".join(of)
    if stamp.exists() and stamp.read_text() == wanted:
        return
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    make()
    stamp.write_text(wanted)


def python_packages(home: Path, *needed: str) -> None:
    """Create an environment of this Python in a folder, and install requirements into it."""
    python = str(home / "bin" / "python")
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv")
    if uv is None:
        commands = [[sys.executable, "-m", "venv", str(home)], [python, "-m", "pip", "install", "--quiet", *needed]]
    else:
        commands = [
            [uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(home)],
            [uv, "pip", "install", "--quiet", "--python", python, *needed],
        ]
    for command in commands:
        subprocess.run(command, check=True)  # noqa: S603 - the names are ours


def node_packages(home: Path, *needed: str) -> None:
    """Install npm packages into a folder."""
    command = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(home), *needed]
    subprocess.run(command, check=True)  # noqa: S603 - the names are ours
