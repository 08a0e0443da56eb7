"""
Write the outputs of commands that the pages show.

A `text` block holds what the command in the `sh` block before it prints. Run it from the root of the project:
`python -m docs.make_outputs`.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"// (\S+\.json5)\n")
NOT_RUN = "console"
"""The language of a block with commands that are not run here; a `text` block after it is left as it is."""


def page(path: Path) -> str:
    """
    Return the text of a page with the outputs as they are now.

    Args:
        path: The page.

    Raises:
        ValueError: A `text` block does not follow a block with exactly one command.
        CalledProcessError: A command failed.
    """
    text = path.read_text()
    with TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "examples").symlink_to(ROOT / "examples")
        parts, end, before = [], 0, ("", "")
        for block in BLOCK.finditer(text):
            language, content = block.groups()
            if language == "json5" and (name := NAMED.match(content)):
                (home / name[1]).write_text(content)
            if language == "text" and before[0] != NOT_RUN:
                parts += [text[end : block.start(2)], _printed(_command(path, before), home)]
                end = block.end(2)
            before = language, content
    return "".join([*parts, text[end:]])


def _command(path: Path, before: tuple[str, str]) -> list[str]:
    language, content = before
    commands = [words for line in content.splitlines() if (words := shlex.split(line, comments=True))]
    if language != "sh" or len(commands) != 1 or commands[0][0] != "wheelspin":
        raise ValueError(f"{path.name}: a `text` block must follow an `sh` block with one `wheelspin` command")
    return commands[0][1:]


def _printed(arguments: list[str], home: Path) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("WHEELSPIN_", "XDG_", "COLUMNS"))}
    done = subprocess.run(  # noqa: S603 - the project's own command
        [sys.executable, "-m", "wheelspin", *arguments],
        cwd=home,
        env=kept | {"HOME": str(home)},
        capture_output=True,
        text=True,
        check=True,
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(page(path))
