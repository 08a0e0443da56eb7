"""Set up the real agents for `make test-agents`: each in a folder of its own, at the version that was tested."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

__all__ = ["AGENTS", "Agent"]


class Agent(NamedTuple):
    """A program that is guarded."""

    host: str
    kind: str
    """`python` or `node`: where its package is from."""
    pin: str
    program: str
    """The program, in its folder."""


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
    """Set up what is not there at its version yet."""
    for agent in AGENTS:
        home = folder / agent.host
        stamp = home / ".pin"
        if stamp.exists() and stamp.read_text() == agent.pin:
            continue
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        print(f"setting up {agent.pin}", flush=True)
        for command in _commands(agent, home):
            subprocess.run(command, check=True)  # noqa: S603 - the names are those above
        stamp.write_text(agent.pin)
    return 0


def _commands(agent: Agent, home: Path) -> list[list[str]]:
    if agent.kind == "node":
        return [["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(home), agent.pin]]
    uv = shutil.which("uv")
    if uv is not None:
        python = str(home / "bin" / "python")
        venv = [uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(home)]
        return [venv, [uv, "pip", "install", "--quiet", "--python", python, agent.pin]]
    return [
        [sys.executable, "-m", "venv", str(home)],
        [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", agent.pin],
    ]


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
