"""The launcher, a small program that command-line agents start for each hook."""

from __future__ import annotations

import shlex
import sys
import sysconfig
from pathlib import Path

from wheelspin.userfiles.change import Change, write
from wheelspin.userfiles.paths import state_folder

__all__ = ["command_for", "launcher_path", "words_for", "write_launcher"]

_LAUNCHER = """\
# Starts Wheelspin's hook. Written by `wheelspin install`. Whatever goes wrong, the tool call is let through.
import gc, os, sys
gc.disable()
sys.path[:0] = {paths!r}
try:
    from wheelspin.hooks.process import main
    main()
    sys.stdout.flush()
except Exception as problem:
    print(f"wheelspin: the hook cannot start ({{type(problem).__name__}}); the call was let through", file=sys.stderr)
os._exit(0)
"""


def launcher_path() -> Path:
    """Return the path of the launcher. It never changes, because some agents trust a hook by its command."""
    return Path(state_folder()) / "hook.py"


def words_for(host: str) -> list[str]:
    """Return the command of an agent's hook as a list of words."""
    return [sys.executable, "-S", "-I", str(launcher_path()), host]


def command_for(host: str) -> str:
    """Return the command of an agent's hook as a shell command line."""
    return shlex.join(words_for(host))


def write_launcher() -> Path:
    """
    Write the launcher, if it is missing or out of date.

    Returns:
        Its path.

    Raises:
        ConfigError: It cannot be written.
    """
    path = launcher_path()
    folders = {str(Path(__file__).parents[2]), *(sysconfig.get_paths()[name] for name in ("purelib", "platlib"))}
    text = _LAUNCHER.format(paths=sorted(folders))
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        write(Change(path, before, text, keeps_backup=False))
    return path
