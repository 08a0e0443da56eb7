"""Play a script in a Strands agent, with a scripted model."""

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

__all__ = [
    "Scripted",
    "agent_of",
    "messages_of",
    "play",
    "play_in_turn",
    "play_streamed",
    "results",
    "shown",
    "tools_of",
]


class Scripted(Model):
    """A model that gives its messages in turn, each a text or calls."""

    def __init__(self, messages: Iterator[str | list[ScriptedCall]], longest: int = 1000) -> None:
        self._messages = messages
        self._longest = longest

    def update_config(self, **_: Any) -> None:
        """Accept no options."""

    def get_config(self) -> Any:
        """Return no options."""
        return {}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        """Not supported."""
        raise NotImplementedError

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterator[Any]:
        """Send the next message, unless the conversation is too long."""
        if len(messages) > self._longest:
            raise ContextWindowOverflowException("too long")
        message = next(self._messages)
        yield {"messageStart": {"role": "assistant"}}
        for block in _blocks(message):
            for part in block:
                yield part
        yield {"messageStop": {"stopReason": "end_turn" if isinstance(message, str) else "tool_use"}}


def _blocks(message: str | list[ScriptedCall]) -> Iterator[list[dict[str, Any]]]:
    stop: dict[str, Any] = {"contentBlockStop": {}}
    if isinstance(message, str):
        yield [{"contentBlockStart": {"start": {}}}, {"contentBlockDelta": {"delta": {"text": message}}}, stop]
        return
    for call in message:
        start = {"toolUse": {"name": call.tool, "toolUseId": call.id}}
        to = call.tool == "handoff_to_agent"
        arguments = {"agent_name": call.path, "message": "go on"} if to else {"path": call.path}
        delta = {"toolUse": {"input": json.dumps(arguments)}}
        yield [{"contentBlockStart": {"start": start}}, {"contentBlockDelta": {"delta": delta}}, stop]


def messages_of(script: Script, *words: str) -> Iterator[str | list[ScriptedCall]]:
    """Yield the model's messages: those of the script, then the given texts."""
    yield from script
    yield from words or ("done",)


def tools_of(script: Script, ran: list[str]) -> list[Any]:
    """Return the tools of a script."""
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
    """Return an agent whose model plays a script."""
    options = {"conversation_manager": NullConversationManager(), "tools": tools_of(script, ran), **options}
    model = options.pop("model", None) or Scripted(messages_of(script))
    return Agent(model, hooks=[] if hooks is None else [hooks], callback_handler=None, **options)


def play(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script in an agent."""
    return _played(script, guard, lambda agent: agent("go"))


def play_in_turn(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script in an agent that runs the calls of a message one by one."""
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
    """Return the texts of the results in an agent's conversation, by call id."""
    texts: dict[str, list[str]] = {}
    for result in results(agent):
        text = "\n".join(block.get("text", "") for block in result["content"])
        texts.setdefault(result["toolUseId"], []).append(text)
    return texts


def results(agent: Agent) -> list[Any]:
    """Return the results in an agent's conversation."""
    return [block["toolResult"] for message in agent.messages for block in message["content"] if "toolResult" in block]
