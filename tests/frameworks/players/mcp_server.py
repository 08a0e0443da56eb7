"""
A FastMCP server for tests: its tools play a script or use other features of the protocol.

`python -m tests.frameworks.players.mcp_server [SCRIPT [PORT]]` serves over stdio, or over HTTP; what ran goes to
`SCRIPT.ran`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fastmcp import Context, FastMCP
from mcp_types import (
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    SamplingMessage,
    TextContent,
    ToolListChangedNotification,
)

from wheelspin.testing import Script, ScriptedCall

__all__ = ["scripted", "server_of"]

_FORM = {"type": "object", "properties": {"name": {"type": "string"}}}


def scripted(script: Script, report: Callable[[str], object], **options: Any) -> FastMCP:
    """Return a server whose tools play a script."""
    answers: dict[str, ScriptedCall] = {call.path: call for message in script for call in message}
    server: FastMCP = FastMCP("files", **options)

    def run(path: str) -> str:
        report(path)
        call = answers.get(path)
        if call is not None and call.fails:
            raise RuntimeError(call.result)
        return call.result if call is not None else f"text of {path}"

    @server.tool
    async def read(path: str) -> str:
        """Read a file."""
        return run(path)

    @server.tool(name="list")
    async def list_(path: str) -> str:
        """List a folder."""
        return run(path)

    return server


def server_of(script: Script, report: Callable[[str], object], **options: Any) -> FastMCP:
    """Return a server that also uses the other features of the protocol."""
    server = scripted(script, report, instructions="Read before you write.", **options)
    _add_results(server)
    _add_asking(server)
    _add_ends(server, report)

    @server.resource("data://one")
    def one() -> str:
        return "the one resource"

    @server.prompt
    def greet(name: str) -> str:
        return f"Greet {name}."

    return server


def _add_results(server: FastMCP) -> None:
    @server.tool(annotations={"readOnlyHint": True}, title="The sum of two")
    async def add(first: int, second: int) -> dict[str, int]:
        """Add two numbers."""
        return {"sum": first + second}

    @server.tool
    async def rows() -> list[int]:
        """Return rows."""
        return [1, 2]


def _add_asking(server: FastMCP) -> None:
    @server.tool
    async def sample(context: Context, text: str) -> str:
        """Ask the client's model."""
        messages = [SamplingMessage(role="user", content=TextContent(type="text", text=text))]
        answer = await context.session.create_message(messages=messages, max_tokens=9)
        return f"the model said {answer.content.text}"  # type: ignore[union-attr]

    @server.tool
    async def elicit(context: Context, text: str) -> str:
        """Ask the user."""
        answer = await context.session.elicit(message=text, requested_schema=_FORM)
        return f"the user said {answer.content}"

    @server.tool
    async def confirm(context: Context) -> Any:
        """Ask the user, by an answer that requires input."""
        if context.input_responses is None:
            asked = ElicitRequest(params=ElicitRequestFormParams(message="Sure?", requested_schema=_FORM))
            return InputRequiredResult(input_requests={"sure": asked}, request_state="asked")
        return "confirmed"

    @server.tool
    async def work(context: Context) -> str:
        """Report progress, and log."""
        for step in range(3):
            await context.report_progress(step, 3, f"step {step}")
        await context.info("worked")
        return "done"

    @server.tool
    async def grow(context: Context) -> str:
        """Notify the client that the tools have changed."""
        await context.send_notification(ToolListChangedNotification())
        return "grown"


def _add_ends(server: FastMCP, report: Callable[[str], object]) -> None:
    @server.tool
    async def wait() -> str:
        """Wait until it is cancelled."""
        report("waits")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            report("cancelled")
            raise
        return "late"

    @server.tool
    async def variable(name: str) -> str:
        """Return an environment variable."""
        return os.environ.get(name, "")

    @server.tool
    async def crash() -> str:
        """End the process."""
        os._exit(7)


def _main() -> None:
    given = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    script = json.loads(given.read_text()) if given is not None else []
    ran = given.with_suffix(".ran").open("a") if given is not None else None

    def report(path: str) -> None:
        if ran is not None:
            print(path, file=ran, flush=True)

    server = server_of([[ScriptedCall(*call) for call in message] for message in script], report)
    if len(sys.argv) > 2:
        server.run(transport="http", port=int(sys.argv[2]), show_banner=False, log_level="ERROR")
    else:
        server.run(show_banner=False, log_level="ERROR")


if __name__ == "__main__":
    _main()
