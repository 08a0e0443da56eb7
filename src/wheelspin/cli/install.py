"""`wheelspin install` and `uninstall`: put a host's hooks into its own settings, and take them out."""

from __future__ import annotations

import argparse
from typing import Any

from wheelspin.hooks import HOOKS, hook_named
from wheelspin.hooks.launcher import write_launcher
from wheelspin.installers import base as work
from wheelspin.installers import installer_for
from wheelspin.installers.base import SCOPES
from wheelspin.userfiles.change import Change, write

__all__ = ["add_to"]


def add_to(verbs: Any) -> None:
    """Add both verbs to the parser."""
    for name, what, run in (
        ("install", "guard a command-line agent: put the hooks into its settings", _install),
        ("uninstall", "take the hooks out of an agent's settings again", _uninstall),
    ):
        parser = verbs.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
        parser.add_argument("host", choices=tuple(HOOKS), metavar="HOST", help=", ".join(HOOKS))
        parser.add_argument(
            "--scope",
            choices=SCOPES,
            default="user",
            help="the user's settings, or those of the project in this folder",
        )
        parser.add_argument("--dry-run", action="store_true", help="show what would change, and change nothing")
        parser.set_defaults(run=run)


def _install(options: argparse.Namespace) -> int:
    installer = installer_for(options.host)
    is_present = installer.is_present()
    change = work.installed(installer, options.scope)
    if not options.dry_run:
        write_launcher()
    if _write(change, options):
        preset = hook_named(options.host).preset
        why = f"the preset `{preset}`" + (", since it stops runs early itself" if preset == "early" else "")
        verb = "would be" if options.dry_run else "is"
        is_trusted = installer.is_trusted(options.scope) is not False
        when = "from its next session on" if is_trusted else "once you have trusted the hooks"
        print(f"{installer.title} {verb} guarded {when}, with {why}.")
    else:
        print(f"{change.path}: nothing to change, {installer.title} is guarded already")
    notes = installer.notes(options.scope)
    if not is_present:
        where = f"no command `{installer.program}`, no folder ~/{installer.home}"
        notes.insert(0, f"{installer.title} was not found here ({where}): it is guarded once it is there")
    if options.scope == "project":
        notes.append("it names programs of this machine: keep it out of what you share, or let others install it, too")
    for note in notes:
        print(f"note: {note}")
    return 0


def _uninstall(options: argparse.Namespace) -> int:
    installer = installer_for(options.host)
    change = work.removed(installer, options.scope)
    if _write(change, options):
        verb = "would be" if options.dry_run else "is"
        print(f"{installer.title} {verb} no longer guarded. What was remembered of its sessions stays in the store.")
    else:
        print(f"{change.path}: nothing to change, no hook of Wheelspin is in it")
    return 0


def _write(change: Change, options: argparse.Namespace) -> bool:
    """Show a change and write it; `False` where there is none."""
    if change.before == change.after:
        return False
    print(change.diff, end="")
    if not options.dry_run:
        backup = write(change)
        done = "written" if change.after else "removed"
        print(f"{change.path}: {done}" + (f"; what was there is in {backup.name}" if backup else ""))
    return True
