"""A FastMCP server, and a client that loops on purpose: it is warned, blocked, and finally blocked for good."""

import asyncio

from fastmcp import Client, FastMCP

from wheelspin import Guard
from wheelspin.adapters.mcp import WheelspinMiddleware

guard = Guard()
server = FastMCP("files", middleware=[WheelspinMiddleware(guard)])


@server.tool
def read(path: str) -> str:
    """Read a file."""
    return f"text of {path}"


async def main():
    """Ask for the same file until the run has ended."""
    async with Client(server) as client:
        while guard.record() is None or not guard.record().ended:
            result = await client.call_tool("read", {"path": "/a"}, raise_on_error=False)
            last = result.content[-1].text
            if "Loop detected" in last:
                print("blocked:" if result.is_error else "warned:", last)
        print("ended:", guard.record().reason)


asyncio.run(main())
print(guard.record())
