"""Play a script in a Microsoft Agent Framework agent, with a scripted client."""

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
    "ended_with",
    "message_with",
    "messages_of",
    "play",
    "play_streamed",
    "shown_to",
    "tools_of",
]

LIMITS: Any = {"max_iterations": 400, "max_consecutive_errors_per_request": 400, "include_detailed_errors": True}


class Client(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):  # type: ignore[type-arg,misc]
    """A client that gives scripted messages and records its last request."""

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


def messages_of(script: Script) -> Iterator[list[Content]]:
    """Yield the model's messages."""
    for message in script:
        yield message_with(*message)
    while True:
        yield answer("done")


def message_with(*calls: ScriptedCall) -> list[Content]:
    """Return a message that asks for calls."""
    return [Content.from_function_call(call.id, call.tool, arguments={"path": call.path}) for call in calls]


def answer(text: str) -> list[Content]:
    """Return a text message."""
    return [Content.from_text(text)]


def tools_of(script: Script, ran: list[str]) -> list[Any]:
    """Return the tools of a script."""
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
    """Return an agent with a guard, or without one."""
    options = {name: more.pop(name) for name in ("on_abort",) if name in more}
    middleware = [] if guard is None else [WheelspinMiddleware(guard, **options)]
    return Agent(client, name="agent", tools=tools, middleware=middleware, **more)


def play(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script in an agent."""
    return asyncio.run(_play(script, guard, stream=False))


def play_streamed(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script in an agent that streams and ends a run with a final message."""
    return asyncio.run(_play(script, guard, stream=True))


async def _play(script: Script, guard: Guard | None, *, stream: bool) -> AdapterRun:
    ran: list[str] = []
    client = Client(messages_of(script))
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
    """Return the code of a run that ended with a final message."""
    code: str | None = response.additional_properties.get("wheelspin")
    return code


def shown_to(client: Client) -> dict[str, list[str]]:
    """Return the texts of the results in the last request to the model, by call id."""
    shown: dict[str, list[str]] = {}
    for content in (content for message in client.sent for content in message.contents):
        if content.type == "function_result":
            shown.setdefault(str(content.call_id), []).append(str(content.result))
    return shown
