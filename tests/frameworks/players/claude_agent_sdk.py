"""Plays a script in the Claude that the SDK brings along, with a scripted model on loopback."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, Message, create_sdk_mcp_server, query, tool

from tests.agents.scripted_model import Ask, ScriptedModel
from wheelspin import Guard
from wheelspin.adapters.claude_agent_sdk import guarded, raising
from wheelspin.errors import ToolLoopError
from wheelspin.testing import AdapterRun, Script, ScriptedCall

__all__ = ["SERVER", "asked", "environment", "heard_after", "options_of", "play", "played", "tools_of"]

SERVER = "files"
_PREFIX = f"mcp__{SERVER}__"
_CONTEXT = "hook additional context: "


def environment(home: str | Path, model: ScriptedModel) -> dict[str, str]:
    """Give what makes Claude ask the scripted model, with nothing of the machine's own settings."""
    return {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": f"{home}/.claude",
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",
    }


def options_of(home: str | Path, model: ScriptedModel, **more: Any) -> ClaudeAgentOptions:
    """Give options for a Claude with a home of its own, that asks for no permission."""
    given: dict[str, Any] = {"permission_mode": "bypassPermissions", "setting_sources": [], **more}
    return ClaudeAgentOptions(cwd=home, env=environment(home, model), **given)


def asked(script: Script) -> list[list[Ask]]:
    """Give what the model asks for, turn by turn."""
    names = {"read": f"{_PREFIX}read", "list": f"{_PREFIX}list"}
    return [[(names.get(call.tool, call.tool), {"path": call.path}) for call in message] for message in script]


def tools_of(script: Script, ran: list[str]) -> dict[str, Any]:
    """Give the server with the tools, which do what the script says."""
    answers: dict[str, ScriptedCall] = {call.path: call for message in script for call in message}

    async def run(given: dict[str, Any]) -> dict[str, Any]:
        ran.append(given["path"])
        answer = answers[given["path"]]
        if answer.fails:
            raise RuntimeError(answer.result)
        return {"content": [{"type": "text", "text": answer.result}]}

    tools = [tool(name, f"{name} a path", {"path": str})(run) for name in ("read", "list")]
    return {SERVER: create_sdk_mcp_server(SERVER, tools=tools)}


async def played(prompt: str, options: ClaudeAgentOptions, guard: Guard | None) -> list[Message]:
    """
    Run a prompt.

    Raises:
        ToolLoopError: The guard has ended the run.
    """
    messages = query(prompt=prompt, options=options)
    return [message async for message in (messages if guard is None else raising(messages, guard))]


def play(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script."""
    ran: list[str] = []
    turns = asked(script)
    ended = None
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home,
        ScriptedModel(lambda turn: turns[turn] if turn < len(turns) else []) as model,
    ):
        options = options_of(home, model, mcp_servers=tools_of(script, ran))
        if guard is not None:
            options = guarded(options, guard)
        try:
            asyncio.run(played("go", options, guard))
        except ToolLoopError as error:
            ended = error.code
        shown = _shown(script, model)
    return AdapterRun(ran, shown, ended)


def heard_after(model: ScriptedModel) -> Iterator[tuple[dict[str, Any], str]]:
    """Give the results that the model was shown at last, each with what hooks said after its message."""
    results: list[dict[str, Any]] = []
    said: list[str] = []
    for message in model.requests[-1]["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if message["role"] == "assistant":
            yield from ((result, "\n".join(said)) for result in results)
            results, said = [], []
        results += [block for block in blocks if block["type"] == "tool_result"]
        said += [block["text"] for block in blocks if block["type"] == "text" and _CONTEXT in block["text"]]
    yield from ((result, "\n".join(said)) for result in results)


def _shown(script: Script, model: ScriptedModel) -> dict[str, list[str]]:
    """Give the results by the ids of the script, with the tools' names as the script has them."""
    ids = {
        f"call_{turn:04}_{place}": call.id for turn, message in enumerate(script) for place, call in enumerate(message)
    }
    shown: dict[str, list[str]] = {}
    for result, said in heard_after(model):
        content = result["content"]
        text = content if isinstance(content, str) else json.dumps(content)
        shown.setdefault(ids[result["tool_use_id"]], []).append(f"{text}\n{said}".replace(_PREFIX, ""))
    return shown
