"""A Pydantic AI agent that loops on purpose, with a scripted model: it is warned, blocked and ended."""

import asyncio

from pydantic_ai import Agent, UsageLimits
from pydantic_ai.messages import ModelResponse, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel

from wheelspin import Guard
from wheelspin.adapters.pydantic_ai import WheelspinCapability
from wheelspin.errors import ToolLoopError


def ask(messages, info):
    """Print what the model receives, and ask for the same file forever."""
    for part in messages[-1].parts:
        if "Loop detected" in str(part.content):
            print("blocked:" if isinstance(part, ToolReturnPart) else "warned:", part.content)
    return ModelResponse([ToolCallPart("read", {"path": "/a"})])


def read(path: str) -> str:
    """Read a file."""
    return f"text of {path}"


async def main():
    """Run the agent."""
    guard = Guard()
    agent = Agent(FunctionModel(ask), name="reader", tools=[read], capabilities=[WheelspinCapability(guard)])
    try:
        await agent.run("Read /a.", usage_limits=UsageLimits(request_limit=200))
    except ToolLoopError as ended:
        print("ended:", ended)
    print(guard.record())


asyncio.run(main())
