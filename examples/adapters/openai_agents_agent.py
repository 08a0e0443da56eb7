"""An OpenAI Agents SDK agent that loops on purpose, with a scripted model: it is warned, blocked and ended."""

from agents import Agent, Runner, function_tool, set_tracing_disabled
from agents.testing import ModelStep, ScriptedModel, function_call

from wheelspin import Guard
from wheelspin.adapters.openai_agents import guard_agent
from wheelspin.errors import ToolLoopError

set_tracing_disabled(True)


@function_tool
def read(path: str) -> str:
    """Read a file."""
    return f"text of {path}"


asked = [function_call("read", {"path": "/a"}, call_id=f"call_{number}") for number in range(100)]
model = ScriptedModel([ModelStep(output=[call]) for call in asked])  # asks for the same file again and again
guard = Guard()
agent = guard_agent(Agent("reader", model=model, tools=[read]), guard)


async def main():
    """Run the agent, and print what its model receives."""
    result = Runner.run_streamed(agent, "Read /a.", max_turns=100)
    try:
        async for event in result.stream_events():
            if event.type != "run_item_stream_event" or event.item.type != "tool_call_output_item":
                continue
            text = event.item.output
            if "Loop detected" in text:
                print("warned:" if text.startswith("text of") else "blocked:", text.splitlines()[-1])
    except ToolLoopError as ended:
        print("ended:", ended)
    print(guard.record())


if __name__ == "__main__":
    import asyncio

    asyncio.run(main())
