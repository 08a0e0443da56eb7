"""A Google ADK agent that loops on purpose, with a scripted model: it is warned, blocked and ended."""

import asyncio
from itertools import count

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from wheelspin import Guard
from wheelspin.adapters.google_adk import WheelspinPlugin

numbers = count(1)


class Model(BaseLlm):
    """A model that asks for the same file forever."""

    model: str = "scripted"

    async def generate_content_async(self, llm_request, stream=False):  # noqa: FBT002
        """Yield the next message."""
        call = types.FunctionCall(id=f"call_{next(numbers)}", name="read", args={"path": "/a"})
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(function_call=call)]))


def read(path: str) -> str:
    """Read a file."""
    return f"text of {path}"


guard = Guard()
agent = LlmAgent(name="reader", model=Model(), tools=[read])
runner = InMemoryRunner(app=App(name="files", root_agent=agent, plugins=[WheelspinPlugin(guard)]))
for event in asyncio.run(runner.run_debug("Read /a.", quiet=True)):
    for response in event.get_function_responses():
        if "wheelspin" in response.response:
            print("warned:", response.response["wheelspin"])
        if "error" in response.response:
            print("blocked:", response.response["error"])
    if event.custom_metadata:
        print("ended:", event.content.parts[0].text)
print(guard.record())
