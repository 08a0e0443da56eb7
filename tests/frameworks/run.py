"""
Run the tests of the adapters with the real frameworks, each in its own environment, at its pinned version.

`python -m tests.frameworks.run FOLDER [NAME …]`; with `--bench` it prints what each adapter costs a call instead.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from benchmarks.adapters import HEAD, rows

from tests.environments import made, python_packages

__all__ = ["FRAMEWORKS", "Framework"]

ROOT = Path(__file__).parents[2]
_TOOLS = ("pytest>=8.3", "hypothesis>=6.120", "mypy>=1.14")


class Framework(NamedTuple):
    """A framework at one version."""

    adapter: str
    """Name of the adapter module."""
    pins: tuple[str, ...]
    label: str = ""
    """Label of this version, if a framework is tested at several. There may be tests for one version alone."""
    more: tuple[str, ...] = ()
    """Other source files that import the framework."""

    @property
    def name(self) -> str:
        """Name of the environment."""
        return f"{self.adapter}-{self.label}" if self.label else self.adapter


FRAMEWORKS = (
    Framework("langchain", ("langchain==1.5.2", "langgraph==1.2.24", "deepagents==0.7.32")),
    Framework("langchain", ("langchain==1.2.10", "langgraph==1.0.8", "langgraph-prebuilt==1.0.7"), "oldest"),
    Framework("pydantic_ai", ("pydantic-ai-slim==2.68.0",)),
    Framework("pydantic_ai", ("pydantic-ai-slim==2.16.0",), "oldest"),
    Framework("pydantic_ai", ("pydantic-ai-slim==2.62.0", "pydantic-ai-harness==0.62.0"), "harness"),
    Framework("claude_agent_sdk", ("claude-agent-sdk==0.2.189",)),
    Framework("strands", ("strands-agents==1.62.0",)),
    Framework("strands", ("strands-agents==1.51.0",), "oldest"),
    Framework("agent_framework", ("agent-framework-core==1.23.0",)),
    Framework("agent_framework", ("agent-framework-core==1.17.0",), "oldest"),
    Framework("google_adk", ("google-adk==2.13.0",)),
    Framework("google_adk", ("google-adk==1.39.1",), "oldest"),
    Framework("openai_agents", ("openai-agents==0.24.0", "mcp==2.3.0")),
    Framework("openai_agents", ("openai-agents==0.21.0", "mcp==2.3.0"), "oldest"),
    Framework("litellm", ("litellm[proxy]==1.108.7",)),
    Framework("mcp", ("fastmcp==4.2.3",), more=("src/wheelspin/proxy/mcp_http.py",)),
    Framework("mcp", ("fastmcp==4.0.0", "mcp==2.2.0"), "oldest", more=("src/wheelspin/proxy/mcp_http.py",)),
)
_OFFLINE = {"LITELLM_LOCAL_MODEL_COST_MAP": "True"}
"""Variables that keep frameworks from using the network."""


def main(folder: Path, names: list[str], *, bench: bool = False) -> int:
    """Set up and test the named frameworks, or all of them, and return how many failed."""
    unknown = set(names) - {framework.adapter for framework in FRAMEWORKS}
    if unknown:
        sys.exit(f"no framework is called {', '.join(sorted(unknown))}; use names in FRAMEWORKS in {__file__}")
    failed = []
    meant = [framework for framework in FRAMEWORKS if not names or framework.adapter in names]
    for framework in meant:
        _set_up(framework, folder / framework.name)
    if bench:
        print("\n".join([HEAD, *rows("callables")]), flush=True)
    for framework in meant:
        if not bench:
            print(f"\n=== {framework.name}: {', '.join(framework.pins)}", flush=True)
        python = str(folder / framework.name / "bin" / "python")
        environment = {**os.environ, **_OFFLINE, "WHEELSPIN_FRAMEWORK": framework.adapter}
        for command in _benched(framework) if bench else _tested(framework):
            done = subprocess.run([python, "-m", *command], cwd=ROOT, env=environment, check=False)  # noqa: S603 - ours
            if done.returncode:
                failed.append(framework.name)
    if failed:
        print(f"failed: {', '.join(dict.fromkeys(failed))}")
    return len(failed)


def _tested(framework: Framework) -> list[list[str]]:
    files = [f"src/wheelspin/adapters/{framework.adapter}.py", *framework.more]
    own = f"tests/frameworks/test_{framework.adapter}_{framework.label}.py"
    test = own if (ROOT / own).exists() else f"tests/frameworks/test_{framework.adapter}.py"
    return [
        ["pytest", "-q", "-W", "default", "-p", "no:cacheprovider", test],
        ["mypy", "--strict", "--no-incremental", "--follow-imports=silent", *files],
    ]


def _benched(framework: Framework) -> list[list[str]]:
    return [] if framework.label else [["benchmarks.adapters", framework.adapter]]


def _set_up(framework: Framework, home: Path) -> None:
    needed = (*framework.pins, *_TOOLS)
    made(home, needed, lambda: python_packages(home, "--editable", str(ROOT), *needed))


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if not word.startswith("--")]
    sys.exit(main(Path(given[0]).absolute(), given[1:], bench="--bench" in sys.argv))
