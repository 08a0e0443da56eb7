"""
The contract of an installer, and what all installers share: adding hooks to an agent's settings and removing them.

Everything else in the settings stays as it is, and installing twice changes nothing.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from wheelspin.errors import ConfigError, Fault
from wheelspin.hooks.launcher import command_for, launcher_path, words_for
from wheelspin.userfiles.change import Change
from wheelspin.userfiles.json_edit import JsonEditError, with_item, without_items

__all__ = ["Entry", "Installer", "Scope", "installed", "is_installed", "removed", "scopes_of"]


class Scope(StrEnum):
    """Whose settings an installer changes."""

    USER = "user"
    """Those of the user, for all projects."""
    PROJECT = "project"
    """Those of the project in the current folder."""


class Entry(NamedTuple):
    """
    An item to add to a list in a settings file.

    Attributes:
        path: The keys that lead to the list.
        item: The item, as a JSON value.
    """

    path: tuple[str, ...]
    item: Any


class Installer:
    """
    The installer of one command-line agent.

    Attributes:
        host: Name of the agent, the same as that of its hook.
        title: Name of the agent for people.
        home: Folder that exists if the agent is installed, relative to the user's home directory.
        program: The command that starts the agent.
    """

    __slots__ = ()

    host = ""
    title = ""
    home = ""
    program = ""

    def settings(self, scope: Scope) -> Path:
        """Return the path of the file that the hooks are added to."""
        raise NotImplementedError

    def entries(self, command: str) -> list[Entry]:
        """Return the entries to add to a settings file that has other content too; `command` starts the hook."""
        return []

    def file(self, command: list[str]) -> str | None:
        """Return the text of the file if it is only Wheelspin's; `command`, a list of words, starts the hook."""
        return None

    def notes(self, scope: Scope) -> list[str]:
        """Return what else the user has to know or do."""
        return []

    def is_present(self) -> bool:
        """Return whether the agent is on this machine: it has a command, or a folder with files of its own."""
        folder, ours = Path.home() / self.home, self.settings(Scope.USER)
        own = ours.relative_to(folder).parts[0] if ours.is_relative_to(folder) else ours.name
        has_files = folder.is_dir() and any(not path.name.startswith(own) for path in folder.iterdir())
        return shutil.which(self.program) is not None or has_files

    def is_trusted(self, scope: Scope) -> bool | None:
        """Return whether the agent trusts the hook and runs it; `None` if the agent does not ask for trust."""
        return None


def installed(installer: Installer, scope: Scope) -> Change:
    """
    Return the change that installs the hook.

    Raises:
        ConfigError: The agent's settings cannot be read, or have an unexpected structure.
    """
    path, before = _read(installer, scope)
    own = installer.file(words_for(installer.host))
    if own is not None:
        return Change(path, before, own, keeps_backup=_is_of_others(before))
    after = before
    with _json_errors(path):
        after = _without(installer, after)
        for entry in installer.entries(command_for(installer.host)):
            after = with_item(after, entry.path, entry.item)
        if _same(installer, before):
            after = before
    return Change(path, before, after)


def removed(installer: Installer, scope: Scope) -> Change:
    """
    Return the change that removes the hook.

    Raises:
        ConfigError: The agent's settings cannot be read, or have an unexpected structure.
    """
    path, before = _read(installer, scope)
    own = installer.file(words_for(installer.host))
    if own is not None:
        return Change(path, before, before if _is_of_others(before) else "", keeps_backup=False)
    with _json_errors(path):
        return Change(path, before, _without(installer, before))


def scopes_of(installer: Installer) -> list[Scope]:
    """Return the scopes with a file of their own: in the user's home directory, both can be the same file."""
    files = {installer.settings(scope).absolute(): scope for scope in reversed(Scope)}
    return [scope for scope in Scope if scope in files.values()]


def is_installed(installer: Installer, scope: Scope) -> bool:
    """
    Return whether the agent's settings have the hook exactly as it would be installed now.

    Raises:
        ConfigError: The agent's settings cannot be read, or have an unexpected structure.
    """
    path, text = _read(installer, scope)
    own = installer.file(words_for(installer.host))
    if own is not None:
        return text == own
    with _json_errors(path):
        return _same(installer, text)


def _read(installer: Installer, scope: Scope) -> tuple[Path, str]:
    path = installer.settings(scope)
    try:
        return path, path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return path, ""
    except (OSError, UnicodeDecodeError) as problem:
        why = getattr(problem, "strerror", None) or "it is not UTF-8 text"
        hint = f"fix it, so that {installer.title} can read it too"
        raise ConfigError(str(path), [Fault("", f"it cannot be read ({why})", hint=hint)]) from None


def _is_of_others(text: str) -> bool:
    """Return whether a file that should be Wheelspin's was written by someone else."""
    path = str(launcher_path())
    return bool(text) and path not in text and json.dumps(path, ensure_ascii=False)[1:-1] not in text


def _without(installer: Installer, text: str) -> str:
    for path in dict.fromkeys(entry.path for entry in installer.entries("")):
        text = without_items(text, path, lambda item: _is_hook(item, installer.host))
    return text


def _same(installer: Installer, text: str) -> bool:
    """Return whether a text has each entry once, and no other entry of Wheelspin."""
    wanted = installer.entries(command_for(installer.host))
    found: list[Any] = []

    def collect(item: Any) -> bool:
        if _is_hook(item, installer.host):
            found.append(item)
        return False

    for path in dict.fromkeys(entry.path for entry in wanted):
        without_items(text, path, collect)
    return found == [entry.item for entry in wanted]


def _is_hook(item: Any, host: str) -> bool:
    """Return whether an entry starts the hook of an agent, with any Python."""
    return any(f"{launcher_path()} {host}" in text.replace("'", "") for text in _texts(item))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


@contextmanager
def _json_errors(path: Path) -> Iterator[None]:
    """Raise the error of a settings file that cannot be edited as one of the configuration."""
    try:
        yield
    except JsonEditError as problem:
        fault = Fault("", str(problem), hint="nothing was changed: fix the file first, then try again")
        raise ConfigError(str(path), [fault]) from None
