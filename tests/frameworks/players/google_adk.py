"""Play a script in a Google ADK agent, with a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.events import Event
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.models.base_llm_connection import BaseLlmConnection
from google.adk.runners import InMemoryRunner
from google.adk.tools import FunctionTool
from google.genai import types

from wheelspin import Guard
from wheelspin.adapters.google_adk import WheelspinPlugin
from wheelspin.testing import AdapterRun, Script, ScriptedCall, ScriptedTool

__all__ = [
    "Line",
    "Live",
    "Metered",
    "Model",
    "Streaming",
    "agent_of",
    "answer",
    "ended_with",
    "message_with",
    "messages_of",
    "play",
    "play_with_a_handler",
    "run",
    "shown_in",
    "tools_of",
    "transfers",
]


class Model(BaseLlm):
    """A model that gives scripted messages and records its requests."""

    model: str = "scripted"
    says: Any
    sent: list[Any] = []  # noqa: RUF012 - a field of pydantic, copied for each

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT002 - as ADK has it
    ) -> AsyncGenerator[LlmResponse, None]:
        self.sent.append(llm_request)
        yield next(self.says)


class Streaming(Model):
    """A model that sends each message twice, once partial and once complete."""

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT002 - as ADK has it
    ) -> AsyncGenerator[LlmResponse, None]:
        response = next(self.says)
        if stream:
            yield response.model_copy(update={"partial": True})
        yield response


class Metered(Model):
    """A model that reports its input as 10 tokens per message."""

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT002 - as ADK has it
    ) -> AsyncGenerator[LlmResponse, None]:
        usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=10 * len(llm_request.contents))
        yield next(self.says).model_copy(update={"usage_metadata": usage})


class Line(BaseLlmConnection):
    """A live connection to a model that asks for the next call once it has the previous result."""

    def __init__(self, calls: int, a_message: int) -> None:
        self.answers: list[Any] = []
        self._calls = calls
        self._a_message = a_message
        self._answered, self._heard = asyncio.Event(), asyncio.Event()
        self.queue: Any = None

    async def send_history(self, history: Any) -> None: ...

    async def send_content(self, content: Any) -> None:
        found = [part.function_response for part in content.parts if part.function_response]
        self.answers.extend(found)
        (self._answered if found else self._heard).set()

    async def send_realtime(self, blob: Any) -> None: ...

    async def close(self) -> None: ...

    async def receive(self) -> AsyncGenerator[LlmResponse, None]:
        for number in range(self._calls):
            if number % self._a_message == 0:
                if number:
                    self.queue.send_content(types.Content(role="user", parts=[types.Part(text="again")]))
                await self._heard.wait()
                self._heard.clear()
            yield message_with(ScriptedCall(f"c{number}", "read", "/a", "text"))
            await self._answered.wait()
            self._answered.clear()
        yield LlmResponse(turn_complete=True)
        self.queue.close()


class Live(Model):
    """A model used over a live connection."""

    line: Any

    @asynccontextmanager
    async def connect(self, llm_request: LlmRequest) -> AsyncIterator[BaseLlmConnection]:
        yield self.line


def messages_of(script: Script) -> Iterator[LlmResponse]:
    """Yield the model's messages."""
    for message in script:
        yield message_with(*message)
    while True:
        yield answer("done")


def message_with(*calls: ScriptedCall) -> LlmResponse:
    """Return a message that asks for calls."""
    parts = [
        types.Part(function_call=types.FunctionCall(id=call.id, name=call.tool, args={"path": call.path}))
        for call in calls
    ]
    return LlmResponse(content=types.Content(role="model", parts=parts))


def answer(text: str) -> LlmResponse:
    """Return a text message."""
    return LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]))


def tools_of(script: Script, ran: list[str]) -> list[Any]:
    """Return the tools of a script."""
    run = ScriptedTool(script, ran)

    def read(path: str) -> str:
        """Read a file."""
        return run(path)

    async def list_(path: str) -> str:
        """List a folder."""
        return run(path)

    tool = FunctionTool(list_)
    tool.name = "list"
    list_.__name__ = "list"
    return [read, tool]


def transfers(to: str) -> Model:
    """Return a model that hands over to another agent forever."""

    def says() -> Any:
        number = 0
        while True:
            number += 1
            call = types.FunctionCall(id=f"{to}{number}", name="transfer_to_agent", args={"agent_name": to})
            yield LlmResponse(content=types.Content(role="model", parts=[types.Part(function_call=call)]))

    return Model(says=says())


def agent_of(script: Script, ran: list[str] | None = None, **more: Any) -> LlmAgent:
    """Return an agent whose model plays a script."""
    tools = tools_of(script, [] if ran is None else ran)
    return LlmAgent(**{"name": "agent", "model": Model(says=messages_of(script)), "tools": tools, **more})


def play(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script in an agent that ends when a tool fails."""
    return _play(script, guard)


def play_with_a_handler(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script in an agent that turns tool errors into results."""
    return _play(script, guard, on_tool_error_callback=lambda tool, args, tool_context, error: {"error": str(error)})


def _play(script: Script, guard: Guard | None, **more: Any) -> AdapterRun:
    ran: list[str] = []
    plugins = [] if guard is None else [WheelspinPlugin(guard)]
    runner = InMemoryRunner(app=App(name="files", root_agent=agent_of(script, ran, **more), plugins=plugins))
    events = asyncio.run(run(runner))
    return AdapterRun(ran, shown_in(events), ended_with(events))


async def run(runner: Any, session: str = "s1", *, message: types.Content | None = None, **more: Any) -> list[Event]:
    """Run an invocation in a session, which is created if necessary, and return its events."""
    place = {"app_name": runner.app_name, "user_id": "user", "session_id": session}
    if await runner.session_service.get_session(**place) is None:
        await runner.session_service.create_session(**place)
    new = message or types.Content(role="user", parts=[types.Part(text="go")])
    return [event async for event in runner.run_async(user_id="user", session_id=session, new_message=new, **more)]


def shown_in(events: list[Event]) -> dict[str, list[str]]:
    """Return the texts of the results, by call id."""
    shown: dict[str, list[str]] = {}
    for response in (response for event in events for response in event.get_function_responses()):
        texts = [str(value) for value in (response.response or {}).values()]
        shown.setdefault(str(response.id), []).append("\n".join(texts))
    return shown


def ended_with(events: list[Event]) -> str | None:
    """Return the code of a run that ended."""
    return next((event.custom_metadata["wheelspin"] for event in events if event.custom_metadata), None)
