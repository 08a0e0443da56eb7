"""The program that hosts start for their hooks: where it is, how it is called, and what is in it."""

from __future__ import annotations

import shlex
import sys
import sysconfig
from pathlib import Path

from wheelspin.userfiles.change import Change, write
from wheelspin.userfiles.paths import state_folder

__all__ = ["command_for", "launcher_path", "words_for", "write_launcher"]

_LAUNCHER = """\
# Starts Wheelspin's hook. Written by `wheelspin install`; whatever goes wrong, the host's call passes.
import gc, os, sys
gc.disable()
sys.path[:0] = {paths!r}
try:
    from wheelspin.hooks.process import main
    main()
    sys.stdout.flush()
except Exception as problem:
    print(f"wheelspin: the hook cannot start ({{type(problem).__name__}}); the call passed", file=sys.stderr)
os._exit(0)
"""


def launcher_path() -> Path:
    """Give the program that a host starts: its place never changes, since some hosts trust a hook by its command."""
    return Path(state_folder()) / "hook.py"


def words_for(host: str) -> list[str]:
    """Give the command of a host's hook, word by word."""
    return [sys.executable, "-S", "-I", str(launcher_path()), host]


def command_for(host: str) -> str:
    """Give the command line of a host's hook."""
    return shlex.join(words_for(host))


def write_launcher() -> Path:
    """
    Write the program that hosts start.

    Raises:
        ConfigError: It cannot be written.
    """
    path = launcher_path()
    places = {str(Path(__file__).parents[2]), *(sysconfig.get_paths()[name] for name in ("purelib", "platlib"))}
    text = _LAUNCHER.format(paths=sorted(places))
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        write(Change(path, before, text, keeps=False))
    return path
