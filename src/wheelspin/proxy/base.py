"""The endpoints of an MCP relay: a client and a server. Each transport has its own module."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Protocol

__all__ = ["Endpoint", "LineRelay", "forward"]


class Endpoint(Protocol):
    """An MCP client or server, as the relay sees it."""

    def lines(self) -> AsyncIterator[bytes]:
        """Yield the messages it sends, each as one line of JSON, until it is gone."""

    async def send(self, line: bytes) -> None:
        """
        Send it a message.

        Args:
            line: The message as one line of JSON.

        Raises:
            OSError: It is gone.
        """

    async def finish(self) -> None:
        """Signal that no more messages follow. It may still send the answers it owes."""


class LineRelay(Protocol):
    """What each message passes through."""

    def from_client(self, line: bytes) -> bytes | None:
        """Handle a line from the client; return its answer, or `None` if the line goes on to the server."""

    def from_server(self, line: bytes) -> bytes:
        """Handle a line from the server; return the line for the client."""


async def forward(client: Endpoint, server: Endpoint, relay: LineRelay) -> None:
    """
    Forward messages between a client and a server until one of them is gone.

    Args:
        client: The client.
        server: The server.
        relay: The relay that each message passes through.
    """

    async def forward_requests() -> None:
        # Whatever ends the client's lines also ends the server, and with it the session.
        with contextlib.suppress(Exception):
            async for line in client.lines():
                reply = relay.from_client(line)
                await _send_if_open(*((server, line) if reply is None else (client, reply)))
        await server.finish()

    requests = asyncio.create_task(forward_requests())
    try:
        async for line in server.lines():
            await client.send(relay.from_server(line))
    except OSError:
        await server.finish()
    finally:
        requests.cancel()
        await asyncio.gather(requests, return_exceptions=True)


async def _send_if_open(endpoint: Endpoint, line: bytes) -> None:
    """Send a line. If the endpoint is gone, the task that reads from it will notice."""
    try:
        await endpoint.send(line)
    except OSError:
        return
