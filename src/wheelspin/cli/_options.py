"""The options that verbs share: which configuration holds, and for which agent."""

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


def add_config_to(parser: argparse.ArgumentParser, *, without: str) -> None:
    """
    Add `--config` and `--agent`.

    Args:
        parser: The verb's parser.
        without: What holds where the user names no configuration.
    """
    parser.add_argument("--config", type=Path, metavar="FILE", help=f"the configuration; without it, {without}")
    parser.add_argument("--agent", metavar="ID", help="the agent whose block in the configuration holds")


def config_of(options: argparse.Namespace) -> tuple[Config | None, str | None]:
    """
    Give the configuration and the agent that the user named.

    Raises:
        ConfigError: The file has faults, or no such agent.
    """
    config = load_config(options.config) if options.config else None
    return config, _agent_of([config] if config else [], options.agent)


def sides_of(options: argparse.Namespace) -> tuple[tuple[Side, Side], str | None]:
    """
    Give the two configurations that the user wants to compare, and the agent, whom one of them has to know.

    Raises:
        ConfigError: A file has faults, there is no such preset, or no such agent.
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
        hint = f"did you mean `{close[0]}`?" if close else f"name a file, or a preset: {', '.join(NUMBERS)}"
        raise ConfigError(name, [Fault("", "there is no such file, and no such preset", hint=hint)])
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
    hint = f"did you mean `{close[0]}`?" if close else "leave `--agent` out for what holds for all agents"
    expected = f"one of {', '.join(known)}" if known else "a configuration (`--config`) in which an agent has a block"
    raise ConfigError(source, [Fault("--agent", repr(agent_id), expected, hint=hint)])
