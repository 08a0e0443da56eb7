"""The options that verbs share: which configuration holds, and for which agent."""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from pathlib import Path

from wheelspin.config import Config, load_config
from wheelspin.errors import ConfigError, Fault

__all__ = ["add_config_to", "config_of"]


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
    return config, _agent_of(config, options.agent)


def _agent_of(config: Config | None, agent_id: str | None) -> str | None:
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
