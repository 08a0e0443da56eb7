"""An MCP client that uses everything a server offers, over each transport."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import anyio
from mcp import ClientSession
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CreateMessageResult, ElicitResult, PromptReference, TextContent

from tests.conftest import ROOT
from tests.frameworks.players.mcp import PROXY, SERVER, parameters

__all__ = ["WAYS", "direct", "served", "tour", "way"]

WAYS = ("stdio to a program", "stdio to a URL", "HTTP to a program", "HTTP to a URL")


@contextmanager
def served(command: list[str], folder: Path) -> Iterator[str]:
    """Start a server that prints its URL to stderr, and yield the URL."""
    log = folder / "proxy.log"
    with log.open("w") as file:
        process = subprocess.Popen(command, cwd=ROOT, stderr=file)  # noqa: S603 - our own program
        try:
            yield _found(log, process)
        finally:
            process.terminate()
            process.wait()


def _found(log: Path, process: subprocess.Popen[bytes]) -> str:
    until = time.monotonic() + 30
    while time.monotonic() < until and process.poll() is None:
        found = re.search(r" at (http\S+)", log.read_text())
        if found:
            return found[1]
        time.sleep(0.05)
    raise AssertionError(f"it does not serve: {log.read_text()}")


@contextmanager
def _server_at_a_url(folder: Path) -> Iterator[str]:
    script = folder / "script.json"
    script.write_text("[]")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen([*SERVER, str(script), str(port)], cwd=ROOT)  # noqa: S603 - our own program
    try:
        until = time.monotonic() + 30
        while time.monotonic() < until:
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


@asynccontextmanager
async def _over_http(url: str) -> AsyncIterator[tuple[Any, Any]]:
    """Yield the streams to a server at a URL."""
    async with streamable_http_client(url) as streams:
        yield streams[0], streams[1]


@asynccontextmanager
async def direct(name: str, folder: Path) -> AsyncIterator[tuple[Any, Any]]:
    """Yield the streams to a server over the given transport, without the proxy."""
    script = folder / "script.json"
    script.write_text("[]")
    if name.endswith("a program"):
        async with stdio_client(parameters([*SERVER, str(script)])) as streams:
            yield streams
    else:
        with _server_at_a_url(folder) as url:
            async with _over_http(url) as streams:
                yield streams


@asynccontextmanager
async def way(name: str, folder: Path) -> AsyncIterator[tuple[Any, Any]]:
    """Yield the streams to a server behind the proxy, over the given transport."""
    script = folder / "script.json"
    script.write_text("[]")
    if name == "stdio to a program":
        async with stdio_client(parameters([*PROXY, "--", *SERVER, str(script)], KEY="given")) as streams:
            yield streams
    elif name == "stdio to a URL":
        with _server_at_a_url(folder) as url:
            async with stdio_client(parameters([*PROXY, "--url", url])) as streams:
                yield streams
    elif name == "HTTP to a program":
        with served([*PROXY, "--http", "0", "--", *SERVER, str(script)], folder) as url:
            async with _over_http(url) as streams:
                yield streams
    else:
        with (
            _server_at_a_url(folder) as server,
            served([*PROXY, "--http", "127.0.0.1:0", "--url", server], folder) as url,
        ):
            async with _over_http(url) as streams:
                yield streams


async def tour(streams: tuple[Any, Any], ran: Path) -> dict[str, Any]:
    """Use everything a server offers, and return what it answered."""
    seen: list[Any] = []

    async def sampled(_: Any, params: Any) -> CreateMessageResult:
        content = TextContent(type="text", text=f"yes to {params.messages[0].content.text}")
        return CreateMessageResult(role="assistant", content=content, model="m", stop_reason="endTurn")

    async def elicited(_: Any, params: Any) -> ElicitResult:
        return ElicitResult(action="accept", content={"name": params.message})

    async def logged(params: Any) -> None:
        seen.append(["log", params.level, params.data])

    async def on_message(message: Any) -> None:
        if getattr(message, "method", "").endswith("list_changed"):
            seen.append(message.method)

    async def moved(progress: float, total: float | None, message: str | None) -> None:
        seen.append([progress, total, message])

    callbacks: dict[str, Any] = {
        "sampling_callback": sampled,
        "elicitation_callback": elicited,
        "logging_callback": logged,
        "message_handler": on_message,
    }
    async with ClientSession(*streams, **callbacks) as client:
        shown: dict[str, Any] = {"initialize": _json(await client.initialize())}
        shown["tools"] = _json(await client.list_tools())
        for tool, given in (
            ("add", {"first": 1, "second": 2}),
            ("rows", {}),
            ("sample", {"text": "one"}),
            ("sample", {"text": "two"}),
            ("elicit", {"text": "one"}),
            ("elicit", {"text": "two"}),
            ("grow", {}),
            ("nothing", {}),
            ("add", {"first": "no number"}),
        ):
            shown[f"{tool} {given}"] = _json(await client.call_tool(tool, given))
        shown["work"] = _json(await client.call_tool("work", {}, progress_callback=moved))
        shown["resources"] = _json(await client.list_resources())
        shown["resource"] = _json(await client.read_resource("data://one"))
        shown["prompts"] = _json(await client.list_prompts())
        shown["prompt"] = _json(await client.get_prompt("greet", {"name": "Ada"}))
        shown["ping"] = _json(await client.send_ping())
        try:
            await client.complete(PromptReference(type="ref/prompt", name="greet"), {"name": "name", "value": "A"})
        except Exception as refused:
            shown["completion"] = str(refused)
        with anyio.move_on_after(1):
            await client.call_tool("wait", {})
        with anyio.fail_after(10):
            while "cancelled" not in ran.read_text():  # noqa: ASYNC110, ASYNC240 - the server is another process
                await anyio.sleep(0.05)
        shown["seen"] = sorted(seen, key=str)
    return shown


def _json(value: Any) -> Any:
    return json.loads(value.model_dump_json(by_alias=True, exclude_none=True))
