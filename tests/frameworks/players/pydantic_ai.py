"""Plays a script in an agent of Pydantic AI, with Pydantic AI's own scripted model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic_ai import Agent, UsageLimits, capture_run_messages
from pydantic_ai.messages import ModelMessage, ModelResponse, SystemPromptPart, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from wheelspin import Guard
from wheelspin.adapters.pydantic_ai import WheelspinCapability
from wheelspin.errors import ToolLoopError
from wheelspin.testing import AdapterRun, Script, ScriptedCall

__all__ = ["NO_LIMIT", "model_of", "play", "said", "shown", "tools_of"]

NO_LIMIT = UsageLimits(request_limit=None)
_ANSWERS = {"tool-return", "retry-prompt"}


def said(script: Script) -> Iterator[ModelResponse]:
    """Give the model's messages."""
    for message in script:
        yield ModelResponse([ToolCallPart(call.tool, {"path": call.path}, call.id) for call in message])
    yield ModelResponse([TextPart("done")])


def model_of(script: Script) -> FunctionModel:
    """Give a model that says what the script says."""
    messages = said(script)

    def say(history: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        return next(messages)

    return FunctionModel(say)


def tools_of(script: Script, ran: list[str]) -> list[Any]:
    """Give the tools, which do what the script says."""
    answers: dict[str, ScriptedCall] = {call.path: call for message in script for call in message}

    def run(path: str) -> str:
        ran.append(path)
        if answers[path].fails:
            raise RuntimeError(answers[path].result)
        return answers[path].result

    # Coroutines that wait for nothing end in the order of the calls, as under the bare guard.
    async def read(path: str) -> str:
        """Read a file."""
        return run(path)

    async def list(path: str) -> str:  # noqa: A001 - the script's own word for it
        """List a folder."""
        return run(path)

    return [read, list]


def shown(messages: list[ModelMessage]) -> dict[str, list[str]]:
    """Give what the model was shown of each call; a note behind the results belongs to the call that it tells of."""
    found: dict[str, list[str]] = {}
    for message in messages:
        answers = [part for part in message.parts if part.part_kind in _ANSWERS]
        notes = [part.content for part in message.parts if isinstance(part, SystemPromptPart)]
        for part in answers:
            said_of_it = [note for note in notes if f"`{part.tool_name}`" in note]
            found.setdefault(part.tool_call_id, []).append("\n\n".join([str(part.content), *said_of_it]))
    return found


def play(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script in an agent; it may get a tool's name wrong as often as it likes."""
    ran: list[str] = []
    capabilities = [] if guard is None else [WheelspinCapability(guard)]
    agent = Agent(model_of(script), tools=tools_of(script, ran), capabilities=capabilities, retries=100)
    ended = None
    with capture_run_messages() as messages:
        try:
            agent.run_sync("go", usage_limits=NO_LIMIT)
        except ToolLoopError as error:
            ended = error.code
    return AdapterRun(ran, shown(messages), ended)
