"""The real Claude Code as the client of an MCP server behind the proxy."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable

from tests.agents.conftest import Ended, Home
from tests.agents.scripted_model import Ask, ScriptedModel
from tests.conftest import ROOT

READ: list[Ask] = [("mcp__files__read", {"path": "/a"})]
SERVER = [sys.executable, str(ROOT / "tests" / "mcp_server.py")]


def _run(home: Home, program: Callable[[str], str], model: ScriptedModel) -> Ended:
    words = ["-m", "wheelspin", "mcp", "--", *SERVER]
    entry = {"command": sys.executable, "args": words, "env": {"PYTHONPATH": str(ROOT / "src")}}
    flags = ["--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions", "--strict-mcp-config"]
    return home.run(
        [
            program("claude-code"),
            *("-p", "read the file", "--mcp-config", json.dumps({"mcpServers": {"files": entry}}), *flags),
        ],
        PATH=os.environ["PATH"],
        ANTHROPIC_BASE_URL=model.url,
        ANTHROPIC_API_KEY="none",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        DISABLE_AUTOUPDATER="1",
        IS_SANDBOX="1",
    )


def test_a_loop_is_warned_about_and_blocked(home: Home, program: Callable[[str], str]) -> None:
    """The model reads the warning although Claude Code shows it only the structured content of the result."""
    with ScriptedModel(lambda turn: READ if turn < 23 else []) as model:
        ended = _run(home, program, model)
        shown = model.shown()

    assert ended.code == 0, ended.err
    assert len(shown) == 23
    assert [number for number, (_, is_error) in enumerate(shown, 1) if is_error] == [21, 22, 23]
    assert [number for number, (text, _) in enumerate(shown, 1) if "Loop detected" in text] == [11, 21, 22, 23]
    assert shown[9][0] == '{"text":"text of /a"}'
    assert json.loads(shown[10][0]).keys() == {"wheelspin", "text"}
    assert "`read` was called 20 times" in shown[20][0]
