"""Run the page and the example of a framework as a reader would."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.conftest import ROOT

__all__ = ["run_example", "run_looping_example", "run_page"]

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_page(name: str) -> dict[str, object]:
    """Run the Python of a page from top to bottom as one program, and return its variables."""
    page = ROOT / "docs" / "adapters" / f"{name}.md"
    scope: dict[str, object] = {"__name__": page.stem}
    blocks = _BLOCK.findall(page.read_text())
    assert blocks, f"{page} has no Python in it"
    for block in blocks:
        exec(compile(block, str(page), "exec"), scope)  # noqa: S102 - our own documentation
    return scope


def run_example(name: str) -> str:
    """Run an example, and return what it prints."""
    path = ROOT / "examples" / "adapters" / f"{name}.py"
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_looping_example(name: str) -> None:
    """Run an example that loops on purpose, and check that it shows a warning, a block and the end, in this order."""
    out = run_example(name)
    first = [out.index(f"{word}: ") for word in ("warned", "blocked", "ended") if f"{word}: " in out]
    assert len(first) == len(("warned", "blocked", "ended")), out
    assert first == sorted(first), out
