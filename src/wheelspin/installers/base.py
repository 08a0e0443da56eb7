"""
The contract of an installer, and what all share: putting hooks into a host's own settings file, and taking them out.

Everything else in the file stays as it is, and doing it twice changes nothing.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from wheelspin.errors import ConfigError, Fault
from wheelspin.hooks.launcher import command_for, launcher_path, words_for
from wheelspin.userfiles.change import Change
from wheelspin.userfiles.json_edit import JsonEditError, with_item, without_items

__all__ = ["SCOPES", "Entry", "Installer", "installed", "is_installed", "removed", "scopes_of"]

SCOPES = ("user", "project")


class Entry(NamedTuple):
    """What is put into a list of a settings file."""

    path: tuple[str, ...]
    """The keys that lead to the list."""
    item: Any


class Installer:
    """
    The installer of one host.

    Attributes:
        host: The host's name, as its hook has it.
        title: What people call it.
        home: The folder that is there where the host is installed, under the user's home.
        program: The command that starts it.
    """

    __slots__ = ()

    host = ""
    title = ""
    home = ""
    program = ""

    def settings(self, scope: str) -> Path:
        """Give the file of a scope that hooks are put into: the user's, or that of the project in this folder."""
        raise NotImplementedError

    def entries(self, command: str) -> list[Entry]:
        """Give what is put into a settings file that holds other things too; `command` starts the hook."""
        return []

    def file(self, command: list[str]) -> str | None:
        """Give the whole text of the file, where it is ours alone; `command` starts the hook, word by word."""
        return None

    def notes(self, scope: str) -> list[str]:
        """Give what the user has to know or to do besides."""
        return []

    def is_present(self) -> bool:
        """Tell whether the host is on this machine: its command, or its folder with files of its own."""
        folder, ours = Path.home() / self.home, self.settings("user")
        own = ours.relative_to(folder).parts[0] if ours.is_relative_to(folder) else ours.name
        has_files = folder.is_dir() and any(not path.name.startswith(own) for path in folder.iterdir())
        return shutil.which(self.program) is not None or has_files

    def is_trusted(self, scope: str) -> bool | None:
        """Tell whether the host runs the hook without asking; `None` where it has no such thing."""
        return None


def installed(installer: Installer, scope: str) -> Change:
    """
    Give what installing changes.

    Raises:
        ConfigError: The host's settings cannot be read, or are of another shape.
    """
    path, before = _read(installer, scope)
    own = installer.file(words_for(installer.host))
    if own is not None:
        return Change(path, before, own, keeps=_is_foreign(before))
    after = before
    with _told(path):
        after = _without(installer, after)
        for entry in installer.entries(command_for(installer.host)):
            after = with_item(after, entry.path, entry.item)
        if _same(installer, before):
            after = before
    return Change(path, before, after)


def removed(installer: Installer, scope: str) -> Change:
    """
    Give what uninstalling changes.

    Raises:
        ConfigError: The host's settings cannot be read, or are of another shape.
    """
    path, before = _read(installer, scope)
    own = installer.file(words_for(installer.host))
    if own is not None:
        return Change(path, before, before if _is_foreign(before) else "", keeps=False)
    with _told(path):
        return Change(path, before, _without(installer, before))


def scopes_of(installer: Installer) -> list[str]:
    """Give the scopes that there are from this folder: in the user's home both may be one file."""
    files = {installer.settings(scope).absolute(): scope for scope in reversed(SCOPES)}
    return [scope for scope in SCOPES if scope in files.values()]


def is_installed(installer: Installer, scope: str) -> bool:
    """Tell whether the host's settings hold the hook as it would be installed now."""
    path, text = _read(installer, scope)
    own = installer.file(words_for(installer.host))
    if own is not None:
        return text == own
    with _told(path):
        return _same(installer, text)


def _read(installer: Installer, scope: str) -> tuple[Path, str]:
    path = installer.settings(scope)
    try:
        return path, path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return path, ""
    except (OSError, UnicodeDecodeError) as problem:
        why = getattr(problem, "strerror", None) or "it is no UTF-8 text"
        hint = f"mend it, so that {installer.title} can read it too"
        raise ConfigError(str(path), [Fault("", f"it cannot be read ({why})", hint=hint)]) from None


def _is_foreign(text: str) -> bool:
    """Tell whether a file that should be ours alone is somebody else's."""
    path = str(launcher_path())
    return bool(text) and path not in text and json.dumps(path, ensure_ascii=False)[1:-1] not in text


def _without(installer: Installer, text: str) -> str:
    for path in dict.fromkeys(entry.path for entry in installer.entries("")):
        text = without_items(text, path, lambda item: _is_ours(item, installer.host))
    return text


def _same(installer: Installer, text: str) -> bool:
    """Tell whether a text holds each entry once, and no other of ours."""
    wanted = installer.entries(command_for(installer.host))
    found: list[Any] = []

    def see(item: Any) -> bool:
        if _is_ours(item, installer.host):
            found.append(item)
        return False

    for path in dict.fromkeys(entry.path for entry in wanted):
        without_items(text, path, see)
    return found == [entry.item for entry in wanted]


def _is_ours(item: Any, host: str) -> bool:
    """Tell whether an entry starts our hook of a host, with whatever Python."""
    return any(f"{launcher_path()} {host}" in text.replace("'", "") for text in _texts(item))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


class _told:  # noqa: N801 - a context manager, which reads as a word
    """Tell that a settings file is no JSON as an error of the configuration."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Nothing is prepared."""

    def __exit__(self, _: object, problem: BaseException | None, __: object) -> None:
        if isinstance(problem, JsonEditError):
            fault = Fault("", str(problem), hint="mend it first: nothing was changed")
            raise ConfigError(str(self._path), [fault]) from None
