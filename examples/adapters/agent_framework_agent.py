"""A Microsoft Agent Framework agent that loops on purpose, with a scripted model: it is warned, blocked and ended."""

import asyncio
from itertools import count

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    ResponseStream,
    tool,
)

from wheelspin import Guard
from wheelspin.adapters.agent_framework import WheelspinMiddleware
from wheelspin.errors import ToolLoopError

numbers = count(1)


class Client(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    """A model that asks for the same file forever."""

    def _inner_get_response(self, *, messages, stream, options, **more):
        return ResponseStream(self.asking(), finalizer=ChatResponse.from_updates)

    async def asking(self):
        """Yield the next message."""
        call = Content.from_function_call(f"call_{next(numbers)}", "read", arguments={"path": "/a"})
        yield ChatResponseUpdate(role="assistant", contents=[call])


@tool(approval_mode="never_require")
def read(path: str) -> str:
    """Read a file."""
    return f"text of {path}"


async def main():
    """Run the agent, and print warnings, blocks and the end."""
    guard = Guard()
    agent = Agent(Client(), name="reader", tools=[read], middleware=[WheelspinMiddleware(guard)])
    try:
        async for update in agent.run("Read /a.", stream=True):
            for content in update.contents:
                if content.type == "function_result" and "Loop detected" in content.result:
                    print("warned:" if content.result.startswith("text of") else "blocked:", content.result)
    except ToolLoopError as ended:
        print("ended:", ended)
    print(guard.record())


asyncio.run(main())
