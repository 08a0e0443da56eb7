"""Plays a script in an agent of Microsoft Agent Framework, with a client of ours that says what the script says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any

from agent_framework import (
    Agent,
    AgentResponse,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    Message,
    ResponseStream,
    tool,
)

from wheelspin import Guard
from wheelspin.adapters.agent_framework import WheelspinMiddleware
from wheelspin.errors import ToolLoopError
from wheelspin.testing import AdapterRun, Script, ScriptedCall, ScriptedTool

__all__ = [
    "Client",
    "agent_of",
    "answer",
    "asked",
    "ended_with",
    "play",
    "play_streamed",
    "said",
    "shown_to",
    "tools_of",
]

LIMITS: Any = {"max_iterations": 400, "max_consecutive_errors_per_request": 400, "include_detailed_errors": True}


class Client(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):  # type: ignore[type-arg,misc]
    """A client that says what it is given, and keeps what it was sent last."""

    def __init__(self, says: Iterator[list[Content]], *, conversation: str | None = None, **more: Any) -> None:
        super().__init__(function_invocation_configuration=LIMITS, **more)
        self.says = says
        self.sent: list[Message] = []
        self._conversation = conversation

    def _inner_get_response(self, *, messages: Sequence[Message], stream: bool, options: Any, **more: Any) -> Any:
        self.sent = list(messages)
        contents = next(self.says)
        if stream:
            return ResponseStream(_in_parts(contents), finalizer=ChatResponse.from_updates)
        return _whole(contents, self._conversation)


async def _whole(contents: list[Content], conversation: str | None) -> ChatResponse[Any]:
    return ChatResponse(messages=[Message("assistant", contents)], conversation_id=conversation)


async def _in_parts(contents: list[Content]) -> AsyncIterator[ChatResponseUpdate]:
    for content in contents:
        yield ChatResponseUpdate(role="assistant", contents=[content])


def said(script: Script) -> Iterator[list[Content]]:
    """Give the model's messages."""
    for message in script:
        yield asked(*message)
    while True:
        yield answer("done")


def asked(*calls: ScriptedCall) -> list[Content]:
    """Give a message that asks for calls."""
    return [Content.from_function_call(call.id, call.tool, arguments={"path": call.path}) for call in calls]


def answer(text: str) -> list[Content]:
    """Give a message that is a text."""
    return [Content.from_text(text)]


def tools_of(script: Script, ran: list[str]) -> list[Any]:
    """Give the tools, which do what the script says."""
    run = ScriptedTool(script, ran)

    @tool(approval_mode="never_require")
    async def read(path: str) -> str:
        """Read a file."""
        return run(path)

    @tool(name="list", approval_mode="never_require")
    def list_(path: str) -> str:
        """List a folder."""
        return run(path)

    return [read, list_]


def agent_of(client: Client, tools: list[Any], guard: Guard | None = None, **more: Any) -> Agent[Any]:
    """Give an agent under a guard, or without one."""
    options = {name: more.pop(name) for name in ("on_abort",) if name in more}
    middleware = [] if guard is None else [WheelspinMiddleware(guard, **options)]
    return Agent(client, name="agent", tools=tools, middleware=middleware, **more)


def play(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script in an agent."""
    return asyncio.run(_play(script, guard, stream=False))


def play_streamed(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script in an agent that streams, and ends a run with a last word."""
    return asyncio.run(_play(script, guard, stream=True))


async def _play(script: Script, guard: Guard | None, *, stream: bool) -> AdapterRun:
    ran: list[str] = []
    client = Client(said(script))
    agent = agent_of(client, tools_of(script, ran), guard, on_abort="end" if stream else "raise")
    ended = None
    try:
        if stream:
            streamed = agent.run("go", stream=True)
            async for _ in streamed:
                pass
            ended = ended_with(await streamed.get_final_response())
        else:
            await agent.run("go")
    except ToolLoopError as error:
        ended = error.code
    return AdapterRun(ran, shown_to(client), ended)


def ended_with(response: AgentResponse[Any]) -> str | None:
    """Give the code with which a run was ended by a last word."""
    code: str | None = response.additional_properties.get("wheelspin")
    return code


def shown_to(client: Client) -> dict[str, list[str]]:
    """Give the texts of the results that the model was sent last, by the ids of their calls."""
    shown: dict[str, list[str]] = {}
    for content in (content for message in client.sent for content in message.contents):
        if content.type == "function_result":
            shown.setdefault(str(content.call_id), []).append(str(content.result))
    return shown
