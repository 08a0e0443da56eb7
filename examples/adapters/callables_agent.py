"""A hand-written loop with a model that asks for the same file forever: it is warned, blocked and ended."""

from wheelspin.adapters.callables import Run
from wheelspin.errors import ToolLoopError


def read(path):
    """Read a file."""
    return f"text of {path}"


def model(messages):
    """Ask for the same file, whatever the messages say."""
    return {"id": f"call_{len(messages)}", "tool": "read", "arguments": {"path": "/a"}}


run = Run()
messages = ["Read /a."]
try:
    while True:
        call = model(messages)
        text = run.call(call["tool"], call["arguments"], read, id=call["id"])
        messages.append(text)
        if "Loop detected" in text:
            print("warned:" if text.startswith("text") else "blocked:", text.splitlines()[-1])
except ToolLoopError as ended:
    print("ended:", ended)
print(run.guard.record())
