"""A Strands agent that loops on purpose, with a scripted model: it is warned, blocked and ended."""

from itertools import count

from strands import Agent, tool
from strands.hooks import MessageAddedEvent
from strands.models import Model

from wheelspin import Guard
from wheelspin.adapters.strands import WheelspinHooks
from wheelspin.errors import ToolLoopError


class Scripted(Model):
    """A model that asks for the same file forever."""

    numbers = count(1)

    def update_config(self, **config):
        """Accept no options."""

    def get_config(self):
        """Return no options."""
        return {}

    def structured_output(self, *arguments, **options):
        """Not supported."""
        raise NotImplementedError

    async def stream(self, messages, *arguments, **options):
        """Ask for the file."""
        call = {"name": "read", "toolUseId": f"call_{next(self.numbers)}"}
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": {"toolUse": call}}}
        yield {"contentBlockDelta": {"delta": {"toolUse": {"input": '{"path": "/a"}'}}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use"}}


@tool
def read(path: str) -> str:
    """Read a file."""
    return f"text of {path}"


def show(event):
    """Print the guard's advice in a result."""
    for block in event.message["content"]:
        result = block.get("toolResult")
        last = result["content"][-1]["text"] if result else ""
        if "Loop detected" in last:
            print("blocked:" if result["status"] == "error" else "warned:", last)


guard = Guard()
agent = Agent(Scripted(), tools=[read], hooks=[WheelspinHooks(guard)], callback_handler=None)
agent.hooks.add_callback(MessageAddedEvent, show)
try:
    agent("Read /a.")
except ToolLoopError as ended:
    print("ended:", ended)
print(guard.record())
