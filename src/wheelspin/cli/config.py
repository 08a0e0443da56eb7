"""`wheelspin config`: what holds, whether a file is right, and its schema for editors."""

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
    parser = verbs.add_parser("config", help="show, check and describe the configuration", description=__doc__)
    actions = parser.add_subparsers(title="actions", required=True, metavar="ACTION")
    show = actions.add_parser("show", help="print what holds, and where each value comes from")
    add_config_to(show, without="the defaults")
    show.add_argument("--json", action="store_true", help="print it as JSON")
    show.set_defaults(run=_show)
    check = actions.add_parser("check", help="report every fault of a file at once")
    check.add_argument("file", type=Path, metavar="FILE")
    check.set_defaults(run=_check)
    describe = actions.add_parser("schema", help="print the JSON Schema of a configuration, for editors")
    describe.add_argument("--config", type=Path, metavar="FILE", help="a configuration whose plugins it includes")
    describe.set_defaults(run=_schema)


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
    print_table(("key, under tools.loopDetection", "value", "from"), rows, notices)
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


def _schema(options: argparse.Namespace) -> int:
    json.dump(schema(load_config(options.config) if options.config else None), sys.stdout, indent=2)
    print()
    return 0


def _declared(hint: ToolHint) -> dict[str, Any]:
    """Give a hint as it stands in a file, with what was declared alone."""
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
