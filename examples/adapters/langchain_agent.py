"""A LangChain agent that loops on purpose, with a scripted model: it is warned, blocked and ended."""

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolMessage

from wheelspin import Guard
from wheelspin.adapters.langchain import WheelspinMiddleware
from wheelspin.errors import ToolLoopError


class Model(GenericFakeChatModel):
    """A model that asks for the same file forever."""

    def bind_tools(self, tools, **options):
        """Accept any tools."""
        return self


def read(path: str) -> str:
    """Read a file."""
    return f"text of {path}"


def asking():
    """Yield the model's messages."""
    number = 0
    while True:
        number += 1
        yield AIMessage("", tool_calls=[{"name": "read", "args": {"path": "/a"}, "id": f"call_{number}"}])


guard = Guard()
agent = create_agent(Model(messages=asking()), tools=[read], middleware=[WheelspinMiddleware(guard)])
try:
    for state in agent.stream({"messages": [("user", "Read /a.")]}, {"recursion_limit": 200}, stream_mode="values"):
        last = state["messages"][-1]
        if isinstance(last, ToolMessage) and "Loop detected" in last.text:
            print("blocked:" if last.status == "error" else "warned:", last.text.splitlines()[-1])
except ToolLoopError as ended:
    print("ended:", ended)
print(guard.record())
