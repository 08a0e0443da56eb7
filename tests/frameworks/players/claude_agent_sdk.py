"""Play a script in the Claude Code bundled with the SDK, with a scripted model on loopback."""

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

__all__ = ["SERVER", "environment", "heard_after", "options_of", "play", "played", "requested_calls", "tools_of"]

SERVER = "files"
_PREFIX = f"mcp__{SERVER}__"
_CONTEXT = "hook additional context: "


def environment(home: str | Path, model: ScriptedModel) -> dict[str, str]:
    """Return an environment in which Claude uses the scripted model and none of the machine's settings."""
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
    """Return options for a Claude with its own home folder that does not ask for permission."""
    given: dict[str, Any] = {"permission_mode": "bypassPermissions", "setting_sources": [], **more}
    return ClaudeAgentOptions(cwd=home, env=environment(home, model), **given)


def requested_calls(script: Script) -> list[list[Ask]]:
    """Return the calls that the model asks for in each turn."""
    names = {"read": f"{_PREFIX}read", "list": f"{_PREFIX}list"}
    return [[(names.get(call.tool, call.tool), {"path": call.path}) for call in message] for message in script]


def tools_of(script: Script, ran: list[str]) -> dict[str, Any]:
    """Return a server with the tools of a script."""
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
    turns = requested_calls(script)
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
    """Yield the results in the model's last request, each with the context that hooks added after its message."""
    results: list[dict[str, Any]] = []
    context: list[str] = []
    for message in model.requests[-1]["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if message["role"] == "assistant":
            yield from ((result, "\n".join(context)) for result in results)
            results, context = [], []
        results += [block for block in blocks if block["type"] == "tool_result"]
        context += [block["text"] for block in blocks if block["type"] == "text" and _CONTEXT in block["text"]]
    yield from ((result, "\n".join(context)) for result in results)


def _shown(script: Script, model: ScriptedModel) -> dict[str, list[str]]:
    """Return the results by the script's call ids, with the script's tool names."""
    ids = {
        f"call_{turn:04}_{place}": call.id for turn, message in enumerate(script) for place, call in enumerate(message)
    }
    shown: dict[str, list[str]] = {}
    for result, context in heard_after(model):
        content = result["content"]
        text = content if isinstance(content, str) else json.dumps(content)
        shown.setdefault(ids[result["tool_use_id"]], []).append(f"{text}\n{context}".replace(_PREFIX, ""))
    return shown
