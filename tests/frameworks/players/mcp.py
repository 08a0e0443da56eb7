"""Play a script as an MCP client of a server with the middleware, and of one behind `wheelspin mcp`."""

from __future__ import annotations

import asyncio
import json
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

from fastmcp import Client
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.conftest import ROOT
from tests.frameworks.players.mcp_server import scripted
from wheelspin import Guard
from wheelspin.adapters.mcp import WheelspinMiddleware
from wheelspin.testing import AdapterRun, Script, ScriptedCall

__all__ = ["COSTS", "PROXY", "SERVER", "Cost", "cost", "parameters", "play", "play_through_the_proxy", "text_of"]

SERVER = [sys.executable, "-m", "tests.frameworks.players.mcp_server"]
PROXY = [sys.executable, "-m", "wheelspin", "mcp"]
_ABORTED = re.compile(r"^wheelspin: abort: .* \[(\w+), ", re.MULTILINE)

Call = Callable[[ScriptedCall], Awaitable[str]]


def play(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script against a server with the middleware, in memory."""
    ran: list[str] = []
    server = scripted(script, ran.append, middleware=[] if guard is None else [WheelspinMiddleware(guard)])

    async def run() -> AdapterRun:
        async with Client(server) as client:

            async def make(call: ScriptedCall) -> str:
                return text_of(await client.call_tool(call.tool, {"path": call.path}, raise_on_error=False))

            return await _played(script, ran, make, lambda: _code(guard))

    return asyncio.run(run())


def play_through_the_proxy(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script with the SDK's client against a server behind the proxy, which creates its own guard."""
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "log").open("w+") as log:
        given = Path(folder) / "script.json"
        given.write_text(json.dumps(script))
        command = [*SERVER, str(given)] if guard is None else [*PROXY, "--", *SERVER, str(given)]

        def ended() -> str | None:
            found = _ABORTED.search(Path(log.name).read_text())
            return found[1] if found else None

        async def run() -> AdapterRun:
            async with stdio_client(parameters(command), errlog=log) as streams, ClientSession(*streams) as client:
                await client.initialize()

                async def make(call: ScriptedCall) -> str:
                    return text_of(await client.call_tool(call.tool, {"path": call.path}))

                return await _played(script, [], make, ended)

        done = asyncio.run(run())
        ran = given.with_suffix(".ran")
        return done._replace(ran=ran.read_text().splitlines() if ran.exists() else [])


async def _played(script: Script, ran: list[str], make: Call, ended: Callable[[], str | None]) -> AdapterRun:
    """Make the calls of each message, and stop when the guard ends the run, as the advice asks."""
    shown: dict[str, list[str]] = {}
    for message in script:
        for call in message:
            shown.setdefault(call.id, []).append(await make(call))
        if ended() is not None:
            break
    return AdapterRun(ran, shown, ended())


def _code(guard: Guard | None) -> str | None:
    record = guard.record() if guard is not None else None
    return record.code if record is not None else None


def text_of(result: Any) -> str:
    """Return the texts of a result, as a client shows them."""
    return "\n".join(block.text for block in result.content)


def parameters(command: list[str], **environment: str) -> StdioServerParameters:
    """Return the parameters to start a command without the user's configuration."""
    environment = {"WHEELSPIN_CONFIG": "/nowhere", "PYTHONPATH": str(ROOT), **environment}
    return StdioServerParameters(command=command[0], args=command[1:], env=environment, cwd=str(ROOT))


class Cost(NamedTuple):
    """Median milliseconds per call."""

    direct: float
    guarded: float
    added: float


COSTS = "the proxy over stdio"
"""What `cost` is of."""


def cost(calls: int = 300) -> Cost:
    """Measure calls of a server over stdio, alternating between direct calls and calls through the proxy."""

    async def timed(client: ClientSession, path: str) -> float:
        begin = time.perf_counter()
        await client.call_tool("read", {"path": path})
        return (time.perf_counter() - begin) * 1e3

    async def run() -> Cost:
        bare, through = stdio_client(parameters(SERVER)), stdio_client(parameters([*PROXY, "--", *SERVER]))
        async with bare as one, through as two, ClientSession(*one) as direct, ClientSession(*two) as guarded:
            await direct.initialize()
            await guarded.initialize()
            pairs = [(await timed(direct, f"/{n}"), await timed(guarded, f"/{n}")) for n in range(calls)]
        before, after = zip(*pairs, strict=True)
        added = statistics.median(two - one for one, two in pairs)
        return Cost(statistics.median(before), statistics.median(after), added)

    return asyncio.run(run())
