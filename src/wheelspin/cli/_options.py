"""Options that several commands share: the configuration, and the agent whose settings to use."""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from pathlib import Path

from wheelspin.config import Config, config_from, load_config
from wheelspin.core.presets import NUMBERS
from wheelspin.errors import ConfigError, Fault
from wheelspin.replay.compare import Side

__all__ = ["add_config_to", "config_of", "sides_of"]

_DEFAULTS = "defaults"


def add_config_to(parser: argparse.ArgumentParser, *, default: str) -> None:
    """
    Add `--config` and `--agent`.

    Args:
        parser: The parser of the command.
        default: What is used if the user names no configuration, for the help text.
    """
    parser.add_argument("--config", type=Path, metavar="FILE", help=f"configuration file (default: {default})")
    parser.add_argument(
        "--agent", metavar="ID", help="use the settings of this agent, one with a block in the configuration"
    )


def config_of(options: argparse.Namespace) -> tuple[Config | None, str | None]:
    """
    Return the configuration and the agent that the user named.

    Raises:
        ConfigError: The file has faults, or has no such agent.
    """
    config = load_config(options.config) if options.config else None
    return config, _agent_of([config] if config else [], options.agent)


def sides_of(options: argparse.Namespace) -> tuple[tuple[Side, Side], str | None]:
    """
    Return the two configurations that the user wants to compare, and the agent, which one of them must have.

    Raises:
        ConfigError: A file has faults, or there is no such preset or agent.
    """
    left = load_config(options.config) if options.config else None
    right = _preset_or_file(options.compare)
    agent = _agent_of([config for config in (left, right) if config], options.agent)
    return (Side(str(options.config) if left else _DEFAULTS, left), Side(options.compare, right)), agent


def _preset_or_file(name: str) -> Config:
    if name in NUMBERS:
        return config_from({"tools": {"loopDetection": {"enabled": True, "preset": name}}}, name)
    try:
        is_missing = not Path(name).exists()
    except OSError:
        is_missing = False
    if is_missing:
        close = get_close_matches(name, NUMBERS, n=1)
        hint = f"did you mean `{close[0]}`?" if close else f"use a file, or one of the presets {', '.join(NUMBERS)}"
        raise ConfigError(name, [Fault("", "there is no such file or preset", hint=hint)])
    return load_config(name)


def _agent_of(configs: list[Config], agent_id: str | None) -> str | None:
    if agent_id is None:
        return None
    known = [agent for config in configs for agent in config.agents]
    plain = agent_id.strip().lower()
    if plain in known:
        return plain
    source = " and ".join(config.source for config in configs) or "the defaults"
    close = get_close_matches(plain, known, n=1)
    hint = f"did you mean `{close[0]}`?" if close else "leave out `--agent` for the settings of all agents"
    expected = f"one of {', '.join(known)}" if known else "a configuration (`--config`) that has a block for an agent"
    raise ConfigError(source, [Fault("--agent", repr(agent_id), expected, hint=hint)])
