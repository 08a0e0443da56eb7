"""`wheelspin install` and `uninstall`: add the hooks to the settings of a command-line agent, and remove them."""

from __future__ import annotations

import argparse
from typing import Any

from wheelspin.hooks import HOOKS, hook_named
from wheelspin.hooks.launcher import write_launcher
from wheelspin.installers import base as work
from wheelspin.installers import installer_for
from wheelspin.installers.base import Scope
from wheelspin.userfiles.change import Change, write

__all__ = ["add_to"]


def add_to(verbs: Any) -> None:
    """Add both verbs to the parser."""
    for name, what, run in (
        ("install", "guard a command-line agent by adding hooks to its settings", _install),
        ("uninstall", "remove the hooks from the settings of a command-line agent", _uninstall),
    ):
        parser = verbs.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
        parser.add_argument("host", choices=tuple(HOOKS), metavar="AGENT", help=", ".join(HOOKS))
        parser.add_argument(
            "--scope",
            choices=[scope.value for scope in Scope],
            default=Scope.USER.value,
            help="change the user's settings, or those of the project in the current folder (default: user)",
        )
        parser.add_argument("--dry-run", action="store_true", help="show the changes without making them")
        parser.set_defaults(run=run)


def _install(options: argparse.Namespace) -> int:
    installer = installer_for(options.host)
    is_present = installer.is_present()
    scope = Scope(options.scope)
    change = work.installed(installer, scope)
    if not options.dry_run:
        write_launcher()
    if _write(change, options):
        preset = hook_named(options.host).preset
        why = f" (because {installer.title} itself ends loops early)" if preset == "early" else ""
        verb = "would be" if options.dry_run else "is"
        is_trusted = installer.is_trusted(scope) is not False
        when = "from its next session on" if is_trusted else "once you trust the hooks"
        print(f"{installer.title} {verb} guarded {when}, with the preset `{preset}`{why}.")
    else:
        print(f"{change.path}: no changes, {installer.title} is already guarded")
    notes = installer.notes(scope)
    if not is_present:
        where = f"no command `{installer.program}`, no folder ~/{installer.home}"
        notes.insert(0, f"{installer.title} was not found ({where}); it will be guarded once it is installed")
    if scope is Scope.PROJECT:
        notes.append(
            "the file contains paths of this machine: do not commit it, or have everyone run `wheelspin install`"
        )
    for note in notes:
        print(f"note: {note}")
    return 0


def _uninstall(options: argparse.Namespace) -> int:
    installer = installer_for(options.host)
    change = work.removed(installer, Scope(options.scope))
    if _write(change, options):
        verb = "would be" if options.dry_run else "is"
        print(f"{installer.title} {verb} no longer guarded. The state of its sessions stays in the store.")
    else:
        print(f"{change.path}: no changes, it contains no hooks of Wheelspin")
    return 0


def _write(change: Change, options: argparse.Namespace) -> bool:
    """Show and write a change, and return whether there is one."""
    if change.before == change.after:
        return False
    print(change.diff, end="")
    if not options.dry_run:
        backup = write(change)
        done = "written" if change.after else "removed"
        print(f"{change.path}: {done}" + (f"; backup in {backup.name}" if backup else ""))
    return True
