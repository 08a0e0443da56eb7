"""Play a script in an OpenAI Agents SDK agent, with the SDK's own scripted model."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
from agents import Agent, FunctionTool, RunConfig, Runner, ToolExecutionConfig, function_tool, set_trace_processors
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call

from wheelspin import Guard, Outcome, ToolCall
from wheelspin.adapters.openai_agents import guard_agent, tell_unknown_tools
from wheelspin.errors import ToolLoopError
from wheelspin.testing import AdapterRun, Script, ScriptedTool

__all__ = [
    "SERVER",
    "RecordingGuard",
    "agent_of",
    "asking",
    "compacting",
    "model_of",
    "play",
    "play_streamed",
    "shown_to",
    "tools_of",
]

ONE_BY_ONE = ToolExecutionConfig(max_function_tool_concurrency=1)
"""The calls of one message run as the bare guard sees them: each is told before the next is asked about."""
CONFIG = RunConfig(
    tool_not_found_behavior="return_error_to_model",
    tool_error_formatter=tell_unknown_tools,
    tool_execution=ONE_BY_ONE,
)

SERVER = """
from mcp.server import MCPServer

server = MCPServer("files")


@server.tool()
def read(path: str) -> str:
    return f"text of {path}"


@server.tool()
def fail(path: str) -> str:
    raise ValueError("no such file")


server.run("stdio")
"""
"""An MCP server, as a program."""

set_trace_processors([])  # no network


def model_of(script: Script) -> ScriptedModel:
    """Return a model that plays a script."""
    messages = [
        [function_call(call.tool, {"path": call.path}, call_id=call.id) for call in message] for message in script
    ]
    steps = [ModelStep(output=message, response_id=f"m{number}") for number, message in enumerate(messages)]
    return ScriptedModel([*steps, ModelStep(output=[assistant_message("done")], response_id="last")])


def tools_of(script: Script, ran: list[str], **options: Any) -> list[Any]:
    """Return the tools of a script."""
    run = ScriptedTool(script, ran)

    def read(path: str) -> str:
        """Read a file."""
        return run(path)

    def list_(path: str) -> str:
        """List a folder."""
        return run(path)

    options = {"failure_error_function": lambda _, error: str(error), **options}
    return [function_tool(read, **options), function_tool(list_, name_override="list", **options)]


def agent_of(script: Script, guard: Guard | None, ran: list[str] | None = None, **options: Any) -> Agent[Any]:
    """Return an agent that plays the script."""
    tools: list[FunctionTool] = tools_of(script, [] if ran is None else ran)
    agent = Agent("reader", model=model_of(script), tools=list(tools), **options)
    return agent if guard is None else guard_agent(agent, guard)


def play(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script with `Runner.run`."""
    return asyncio.run(_play(script, guard, streams=False))


def play_streamed(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script with `Runner.run_streamed`."""
    return asyncio.run(_play(script, guard, streams=True))


async def _play(script: Script, guard: Guard | None, *, streams: bool) -> AdapterRun:
    ran: list[str] = []
    agent = agent_of(script, guard, ran)
    ended = None
    try:
        if streams:
            async for _ in Runner.run_streamed(agent, "go", max_turns=400, run_config=CONFIG).stream_events():
                pass
        else:
            await Runner.run(agent, "go", max_turns=400, run_config=CONFIG)
    except ToolLoopError as error:
        ended = error.code
    return AdapterRun(ran, shown_to(agent.model), ended)


def shown_to(model: Any) -> dict[str, list[str]]:
    """Return the texts of the results in a model's last request, by call id."""
    shown: dict[str, list[str]] = {}
    for item in model.last_call.input:
        if isinstance(item, dict) and item.get("type") == "function_call_output":
            shown.setdefault(item["call_id"], []).append(str(item["output"]))
    return shown


class RecordingGuard(Guard):
    """A guard that records the outcomes it receives."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.calls: list[ToolCall] = []
        self.outcomes: list[tuple[str | None, str, object]] = []

    def after(self, call: ToolCall, outcome: Outcome) -> Any:
        self.calls.append(call)
        self.outcomes.append((call.id, outcome.kind, outcome.value))
        return super().after(call, outcome)


def asking(tool: str, times: int = 60, **arguments: Any) -> ScriptedModel:
    """Return a model that asks for the same call again and again."""
    given = arguments or {"path": "/a"}
    calls = [function_call(tool, given, call_id=f"{tool}_{number}") for number in range(times)]
    steps = [ModelStep(output=[call], response_id=call.id) for call in calls]  # type: ignore[union-attr]
    return ScriptedModel([*steps, ModelStep(output=[assistant_message("done")])])


def compacting(request: httpx2.Request) -> httpx2.Response:
    """Answer a request to compact a conversation, as the provider does."""
    item = {"id": "cmp_1", "type": "compaction", "encrypted_content": "secret"}
    body = {"id": "resp_1", "created_at": 1, "object": "response.compaction", "output": [item]}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return httpx2.Response(200, json={**body, "usage": {**usage, **details}})
