"""The ends of a relay: one file, one way in which MCP is spoken. Lines go from one to the other."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Protocol

from wheelspin.proxy.mcp_relay import Relay

__all__ = ["End", "join"]


class End(Protocol):
    """A client or a server, as the relay sees it."""

    def lines(self) -> AsyncIterator[bytes]:
        """Give what it sends, each message as one line of JSON; ends when it is gone."""

    async def send(self, line: bytes) -> None:
        """
        Send it a message.

        Raises:
            OSError: It is gone.
        """

    async def finish(self) -> None:
        """Tell it that nothing more comes; it may still send what is due."""


async def join(client: End, server: End, relay: Relay) -> None:
    """Pass messages between a client and a server until one of them is gone."""

    async def ask() -> None:
        # Whatever ends the client's lines ends the server, and with it all.
        with contextlib.suppress(Exception):
            async for line in client.lines():
                reply = relay.asked(line)
                await _passed(*((server, line) if reply is None else (client, reply)))
        await server.finish()

    asking = asyncio.create_task(ask())
    try:
        async for line in server.lines():
            await client.send(relay.answered(line))
    except OSError:
        await server.finish()
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)


async def _passed(end: End, line: bytes) -> None:
    """Send a line; that the other end is gone is found where it is read from."""
    try:
        await end.send(line)
    except OSError:
        return
