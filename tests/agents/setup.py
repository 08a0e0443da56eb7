"""Install the real agents for `make test-agents`, each in a folder of its own and at the version that is tested."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tests.environments import made, node_packages, python_packages

__all__ = ["AGENTS", "Agent"]


class Agent(NamedTuple):
    """A command-line agent, and how it is installed."""

    host: str
    kind: str
    """`python` or `node`: the kind of its package."""
    pin: str
    program: str
    """Path of the program in its folder, as a glob pattern."""


AGENTS = (
    Agent(
        "claude-code",
        "python",
        "claude-agent-sdk==0.2.189",
        "lib/python*/site-packages/claude_agent_sdk/_bundled/claude",
    ),
    Agent("codex", "node", "@openai/codex@0.171.0", "node_modules/@openai/codex-*/vendor/*/bin/codex"),
    Agent("gemini-cli", "node", "@google/gemini-cli@0.61.0", "node_modules/.bin/gemini"),
    Agent("qwen-code", "node", "@qwen-code/qwen-code@0.24.4", "node_modules/.bin/qwen"),
    Agent("copilot-cli", "node", "@github/copilot@1.0.102", "node_modules/.bin/copilot"),
    Agent("opencode", "node", "opencode-ai@1.18.33", "node_modules/.bin/opencode"),
)


def main(folder: Path) -> int:
    """Install each agent that is missing or has another version."""
    for agent in AGENTS:
        home = folder / agent.host
        install = python_packages if agent.kind == "python" else node_packages
        made(home, [agent.pin], partial(install, home, agent.pin))
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
