"""Play a script in a Pydantic AI agent, with Pydantic AI's own scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, UsageLimits, capture_run_messages
from pydantic_ai.messages import CompactionPart, ModelMessage, ModelResponse, SystemPromptPart, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from wheelspin import Guard
from wheelspin.adapters.pydantic_ai import WheelspinCapability
from wheelspin.errors import ToolLoopError
from wheelspin.testing import AdapterRun, Script, ScriptedTool

__all__ = [
    "DRIVES",
    "agent_of",
    "answers",
    "approved",
    "called",
    "halved",
    "loop",
    "model_of",
    "notes",
    "play",
    "play_with",
    "read",
    "resumed",
    "run",
    "summarized",
]

_ANSWERS = {"tool-return", "retry-prompt"}


def called(*calls: tuple[str, Any, str]) -> ModelResponse:
    """Return a message of the model that asks for calls, given as names, arguments and ids."""
    return ModelResponse([ToolCallPart(name, arguments, call_id) for name, arguments, call_id in calls])


def model_of(responses: Iterable[ModelResponse], seen: list[ModelMessage] | None = None) -> FunctionModel:
    """Return a model that gives these messages and then a final answer; `seen` receives each newest message."""
    messages = iter([*responses, ModelResponse([TextPart("done")])])

    def say(history: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if seen is not None:
            seen.append(history[-1])
        return next(messages)

    async def stream(history: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        for place, part in enumerate(next(messages).parts):
            if isinstance(part, ToolCallPart):
                whole = DeltaToolCall(part.tool_name, part.args_as_json_str(), tool_call_id=part.tool_call_id)
                yield {place: whole}
            elif isinstance(part, TextPart):
                yield part.content

    return FunctionModel(say, stream_function=stream)


def tools_of(script: Script, ran: list[str]) -> list[Any]:
    """Return the tools of a script."""
    run = ScriptedTool(script, ran)

    # Coroutines that wait for nothing end in the order of the calls, as under the bare guard.
    async def read(path: str) -> str:
        """Read a file."""
        return run(path)

    async def list(path: str) -> str:  # noqa: A001 - the script's own word for it
        """List a folder."""
        return run(path)

    return [read, list]


def answers(messages: Iterable[ModelMessage]) -> list[Any]:
    """Return the results in a conversation."""
    return [part for message in messages for part in message.parts if part.part_kind in _ANSWERS]


def notes(messages: Iterable[ModelMessage]) -> list[str]:
    """Return the notes that the model received with the results."""
    parts = [part for message in messages for part in message.parts]
    return [part.content for part in parts if isinstance(part, SystemPromptPart)]


def read(path: str) -> str:
    """Read a file whose text is always the same."""
    return "text"


def loop(times: int, tool: str = "read", arguments: Any = None, first: int = 0) -> list[ModelResponse]:
    """Return the messages of a model that asks for the same call over and over."""
    return [called((tool, arguments or {"path": "/a"}, f"c{number}")) for number in range(first, first + times)]


def agent_of(guard: Guard, responses: Any, *more: Any, **options: Any) -> Any:
    """Return a guarded agent whose model gives these messages, with more capabilities and other options."""
    return Agent(
        model_of(responses),
        **{"tools": [read], "name": "helper", **options},
        capabilities=[WheelspinCapability(guard), *more],
    )


def run(agent: Any, prompt: str | None = "go", **more: Any) -> Any:
    """Run an agent without a request limit."""
    return asyncio.run(agent.run(prompt, usage_limits=UsageLimits(request_limit=None), **more))


def resumed(guard: Guard, responses: list[ModelResponse], result_of: Any, **options: Any) -> list[Any]:
    """Run an agent whose calls are resolved elsewhere, one run for each, and return the output of each run."""
    agent = agent_of(guard, responses, output_type=[str, DeferredToolRequests], **options)
    done = [run(agent)]
    while isinstance(done[-1].output, DeferredToolRequests):
        results = result_of(done[-1].output)
        done.append(run(agent, None, message_history=done[-1].all_messages(), deferred_tool_results=results))
    return done


def approved(requests: DeferredToolRequests) -> DeferredToolResults:
    """Approve everything."""
    return DeferredToolResults(approvals={call.tool_call_id: True for call in requests.approvals})


def summarized(messages: list[ModelMessage]) -> list[ModelMessage]:
    """Replace some messages with a summary, as a summarizing history processor does."""
    if len(messages) < 30:
        return messages
    summary = ModelResponse([CompactionPart(f"what was done until {messages[-2].timestamp}")])
    return [messages[0], summary, *messages[-18:]]


def halved(messages: list[ModelMessage]) -> list[ModelMessage]:
    """Drop most messages."""
    return [messages[0], *messages[-2:]] if len(messages) >= 14 else messages


def play(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script in an agent."""
    return play_with(_run, script, guard)


def play_with(drive: Callable[[Any], None], script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script in an agent started by `drive`, with plenty of retries for wrong tool names."""
    ran: list[str] = []
    responses = [called(*((call.tool, {"path": call.path}, call.id) for call in message)) for message in script]
    capabilities = [] if guard is None else [WheelspinCapability(guard)]
    agent = Agent(model_of(responses), tools=tools_of(script, ran), capabilities=capabilities, retries=100)
    ended = None
    with capture_run_messages() as messages:
        try:
            drive(agent)
        except ToolLoopError as error:
            ended = error.code
    return AdapterRun(ran, _shown(messages), ended)


def _shown(messages: Iterable[ModelMessage]) -> dict[str, list[str]]:
    """Return what the model received for each call: its results, and the note after them that names its tool."""
    shown: dict[str, list[str]] = {}
    for message in messages:
        message_notes = notes([message])
        for part in answers([message]):
            of_it = [note for note in message_notes if f"`{part.tool_name}`" in note]
            shown.setdefault(part.tool_call_id, []).append("\n\n".join([str(part.content), *of_it]))
    return shown


_NO_LIMIT = UsageLimits(request_limit=None)


def _run(agent: Any) -> None:
    asyncio.run(agent.run("go", usage_limits=_NO_LIMIT))


def _run_sync(agent: Any) -> None:
    # The framework leaves a loop open that it made itself.
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        agent.run_sync("go", usage_limits=_NO_LIMIT)
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def _run_stream(agent: Any) -> None:
    async def main() -> None:
        async with agent.run_stream("go", usage_limits=_NO_LIMIT) as stream:
            await stream.get_output()

    asyncio.run(main())


def _iter(agent: Any) -> None:
    async def main() -> None:
        async with agent.iter("go", usage_limits=_NO_LIMIT) as run:
            async for _ in run:
                pass

    asyncio.run(main())


def _iter_and_stream(agent: Any) -> None:
    async def main() -> None:
        async with agent.iter("go", usage_limits=_NO_LIMIT) as run:
            async for node in run:
                if Agent.is_model_request_node(node) or Agent.is_call_tools_node(node):
                    async with node.stream(run.ctx) as events:
                        async for _ in events:
                            pass

    asyncio.run(main())


DRIVES = (_run, _run_sync, _run_stream, _iter, _iter_and_stream)
"""The ways in which an agent is run."""
