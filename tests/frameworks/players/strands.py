"""Plays a script in an agent of Strands, with a scripted model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from strands import Agent, tool
from strands.agent.conversation_manager import NullConversationManager
from strands.models import Model
from strands.tools.executors import SequentialToolExecutor
from strands.types.exceptions import ContextWindowOverflowException

from wheelspin import Guard
from wheelspin.adapters.strands import WheelspinHooks
from wheelspin.errors import ToolLoopError
from wheelspin.testing import AdapterRun, Script, ScriptedCall, ScriptedTool

__all__ = ["Scripted", "agent_of", "play", "play_in_turn", "play_streamed", "results", "said", "shown", "tools_of"]


class Scripted(Model):
    """A model that says its messages in turn: a text, or calls."""

    def __init__(self, messages: Iterator[str | list[ScriptedCall]], longest: int = 1000) -> None:
        self._messages = messages
        self._longest = longest

    def update_config(self, **_: Any) -> None:
        """Take none."""

    def get_config(self) -> Any:
        """Give none."""
        return {}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        """Know none."""
        raise NotImplementedError

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterator[Any]:
        """Say the next message, where the conversation is not too long."""
        if len(messages) > self._longest:
            raise ContextWindowOverflowException("too long")
        said = next(self._messages)
        yield {"messageStart": {"role": "assistant"}}
        for block in _blocks(said):
            for part in block:
                yield part
        yield {"messageStop": {"stopReason": "end_turn" if isinstance(said, str) else "tool_use"}}


def _blocks(said: str | list[ScriptedCall]) -> Iterator[list[dict[str, Any]]]:
    stop: dict[str, Any] = {"contentBlockStop": {}}
    if isinstance(said, str):
        yield [{"contentBlockStart": {"start": {}}}, {"contentBlockDelta": {"delta": {"text": said}}}, stop]
        return
    for call in said:
        start = {"toolUse": {"name": call.tool, "toolUseId": call.id}}
        to = call.tool == "handoff_to_agent"
        arguments = {"agent_name": call.path, "message": "go on"} if to else {"path": call.path}
        delta = {"toolUse": {"input": json.dumps(arguments)}}
        yield [{"contentBlockStart": {"start": start}}, {"contentBlockDelta": {"delta": delta}}, stop]


def said(script: Script, *words: str) -> Iterator[str | list[ScriptedCall]]:
    """Give what the model says: the script, then some words."""
    yield from script
    yield from words or ("done",)


def tools_of(script: Script, ran: list[str]) -> list[Any]:
    """Give the tools, which do what the script says."""
    run = ScriptedTool(script, ran)

    @tool
    def read(path: str) -> str:
        """Read a file."""
        return run(path)

    @tool(name="list")
    def list_(path: str) -> str:
        """List a folder."""
        return run(path)

    return [read, list_]


def agent_of(script: Script, ran: list[str], hooks: WheelspinHooks | None, **options: Any) -> Agent:
    """Give an agent whose model says the script."""
    options = {"conversation_manager": NullConversationManager(), "tools": tools_of(script, ran), **options}
    model = options.pop("model", None) or Scripted(said(script))
    return Agent(model, hooks=[] if hooks is None else [hooks], callback_handler=None, **options)


def play(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script in an agent."""
    return _played(script, guard, lambda agent: agent("go"))


def play_in_turn(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script in an agent that runs the calls of a message in turn."""
    return _played(script, guard, lambda agent: agent("go"), tool_executor=SequentialToolExecutor())


def play_streamed(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script in an agent whose events are streamed."""

    async def streamed(agent: Agent) -> None:
        async for _ in agent.stream_async("go"):
            pass

    return _played(script, guard, lambda agent: asyncio.run(streamed(agent)))


def _played(script: Script, guard: Guard | None, start: Callable[[Agent], object], **options: Any) -> AdapterRun:
    ran: list[str] = []
    agent = agent_of(script, ran, None if guard is None else WheelspinHooks(guard), **options)
    ended = None
    try:
        start(agent)
    except ToolLoopError as error:
        ended = error.code
    return AdapterRun(ran, shown(agent), ended)


def shown(agent: Agent) -> dict[str, list[str]]:
    """Give the texts of the results in an agent's conversation, by the ids of the calls."""
    texts: dict[str, list[str]] = {}
    for result in results(agent):
        text = "\n".join(block.get("text", "") for block in result["content"])
        texts.setdefault(result["toolUseId"], []).append(text)
    return texts


def results(agent: Agent) -> list[Any]:
    """Give the results in an agent's conversation."""
    return [block["toolResult"] for message in agent.messages for block in message["content"] if "toolResult" in block]
