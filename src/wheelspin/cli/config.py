"""`wheelspin config`: what holds, whether a file is right, and its schema for editors."""

from __future__ import annotations

import argparse
import json
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from wheelspin.config import Config, config_from, key_of, load_config, schema
from wheelspin.errors import ConfigError, Fault

__all__ = ["add_to", "agent_of"]


def add_to(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = verbs.add_parser("config", help="show, check and describe the configuration", description=__doc__)
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION")
    show = actions.add_parser("show", help="print what holds, and where each value comes from")
    show.add_argument("--config", type=Path, metavar="FILE", help="the configuration; without it, the defaults")
    show.add_argument("--agent", metavar="ID", help="the agent whose block holds")
    show.add_argument("--json", action="store_true", help="print it as JSON")
    show.set_defaults(run=_show)
    check = actions.add_parser("check", help="report every fault of a file at once")
    check.add_argument("file", type=Path, metavar="FILE")
    check.set_defaults(run=_check)
    actions.add_parser("schema", help="print the JSON Schema of a configuration, for editors").set_defaults(run=_schema)


def agent_of(config: Config | None, agent_id: str | None) -> str | None:
    """
    Give the agent that the user named.

    Raises:
        ConfigError: The configuration has no such agent.
    """
    if agent_id is None:
        return None
    known = config.agents if config is not None else ()
    plain = agent_id.strip().lower()
    if plain in known:
        return plain
    source = config.source if config is not None else "the defaults"
    close = get_close_matches(plain, known, n=1)
    hint = f"did you mean `{close[0]}`?" if close else "leave `--agent` out for what holds for all agents"
    expected = f"one of {', '.join(known)}" if known else "a configuration (`--config`) in which an agent has a block"
    raise ConfigError(source, [Fault("--agent", repr(agent_id), expected, hint=hint)])


def _show(options: argparse.Namespace) -> int:
    config = load_config(options.config) if options.config else config_from({}, "the defaults")
    resolution = config.resolve(agent_of(config if options.config else None, options.agent))
    values = {key_of(name): getattr(resolution.settings, name) for name in resolution.origins}
    origins = {key_of(name): origin for name, origin in resolution.origins.items()}
    notices = resolution.notices if options.config else ()
    if options.json:
        document = {
            "values": values,
            "origins": origins,
            "notices": list(notices),
        }
        json.dump(document, sys.stdout, indent=2)
        print()
        return 0
    from rich.console import Console
    from rich.table import Table

    table = Table("key, under tools.loopDetection", "value", "from", box=None, padding=(0, 2, 0, 0))
    for key, value in values.items():
        table.add_row(key, "not set" if value is None else json.dumps(value), origins[key])
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    for notice in notices:
        console.print(f"note: {notice}", markup=False)
    return 0


def _check(options: argparse.Namespace) -> int:
    config = load_config(options.file)
    agents = f" and for {', '.join(config.agents)}" if config.agents else ""
    notices = list(config.resolve().notices)
    for agent in config.agents:
        notices += [f"{agent}: {notice}" for notice in config.resolve(agent).notices if notice not in notices]
    for notice in notices:
        print(f"note: {notice}")
    print(f"{options.file}: right, for all agents{agents}")
    return 0


def _schema(_: argparse.Namespace) -> int:
    json.dump(schema(), sys.stdout, indent=2)
    print()
    return 0
