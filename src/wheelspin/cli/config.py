"""`wheelspin config`: show the effective settings, check a file, or print the JSON Schema for editors."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from pydantic.alias_generators import to_camel

from wheelspin.cli._options import add_config_to, config_of
from wheelspin.cli._table import print_table
from wheelspin.config import config_from, load_config, schema, values_of
from wheelspin.core.hints import ToolHint

__all__ = ["add_to"]


def add_to(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = verbs.add_parser(
        "config",
        help="show, check and describe the configuration",
        description="Show the effective settings, check a configuration file, or print the JSON Schema for editors.",
    )
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION")
    show = actions.add_parser(
        "show",
        help="print the effective settings and where each comes from",
        description="Print the effective settings and where each value comes from.",
    )
    add_config_to(show, default="the built-in defaults")
    show.add_argument("--json", action="store_true", help="print JSON")
    show.set_defaults(run=_show)
    check = actions.add_parser(
        "check",
        help="check a configuration file",
        description="Check a configuration file, and report all its faults at once.",
    )
    check.add_argument("file", type=Path, metavar="FILE", help="configuration file")
    check.set_defaults(run=_check)
    print_schema = actions.add_parser(
        "schema",
        help="print the JSON Schema of configurations, for editors",
        description="Print the JSON Schema of configurations, for editors that complete and check JSON.",
    )
    print_schema.add_argument("--config", type=Path, metavar="FILE", help="include the plugins of this configuration")
    print_schema.set_defaults(run=_schema)


def _show(options: argparse.Namespace) -> int:
    config, agent = config_of(options)
    resolution = (config or config_from({}, "the defaults")).resolve(agent)
    values = {
        key: _declared(value) if isinstance(value, ToolHint) else value
        for key, value in values_of(resolution.settings).items()
    }
    origins = resolution.origins
    notices = resolution.notices if config else ()
    if options.json:
        document = {
            "values": values,
            "origins": origins,
            "notices": list(notices),
        }
        json.dump(document, sys.stdout, indent=2)
        print()
        return 0
    rows = [(key, "not set" if value is None else json.dumps(value), origins[key]) for key, value in values.items()]
    print_table(("key under tools.loopDetection", "value", "source"), rows, notices)
    return 0


def _check(options: argparse.Namespace) -> int:
    config = load_config(options.file)
    agents = f", including {', '.join(config.agents)}" if config.agents else ""
    notices = list(config.resolve().notices)
    for agent in config.agents:
        notices += [f"{agent}: {notice}" for notice in config.resolve(agent).notices if notice not in notices]
    for notice in notices:
        print(f"note: {notice}")
    print(f"{options.file}: valid for all agents{agents}")
    return 0


def _schema(options: argparse.Namespace) -> int:
    json.dump(schema(load_config(options.config) if options.config else None), sys.stdout, indent=2)
    print()
    return 0


def _declared(hint: ToolHint) -> dict[str, Any]:
    """Return a hint as it is written in a file, with only what was declared."""
    paths = {"identity": hint.identity, "volatile": hint.volatile}
    declared: dict[str, Any] = {
        name: [".".join(path).replace(".[*]", "[*]") for path in found] for name, found in paths.items() if found
    }
    if hint.patterns:
        declared.setdefault("volatile", []).extend(f"/{pattern}/" for pattern in hint.patterns)
    for name in ("poll", "mutates", "ignore", "warning_threshold", "critical_threshold"):
        if getattr(hint, name) is not None:
            declared[to_camel(name)] = getattr(hint, name)
    return declared
