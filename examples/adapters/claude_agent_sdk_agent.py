"""Claude Code looping on purpose, with a scripted model on loopback: it is warned, blocked and ended."""

import asyncio
import json
import tempfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Thread

from claude_agent_sdk import ClaudeAgentOptions, create_sdk_mcp_server, query, tool

from wheelspin import Guard
from wheelspin.adapters.claude_agent_sdk import TOOLS, guarded, raising
from wheelspin.errors import ToolLoopError


class Model(BaseHTTPRequestHandler):
    """A model that asks for the same file forever."""

    numbers = count(1)

    def do_POST(self):
        """Ask for the file."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        number = next(self.numbers)
        message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "scripted", "content": []}
        message |= {"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 9, "output_tokens": 9}}
        call = {"type": "tool_use", "id": f"call_{number}", "name": "mcp__files__read", "input": {}}
        given = {"type": "input_json_delta", "partial_json": '{"path": "/a"}'}
        events = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": call},
            {"type": "content_block_delta", "index": 0, "delta": given},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}},
            {"type": "message_stop"},
        ]
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in events:
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def log_message(self, *_):
        """Log nothing."""


@tool("read", "Read a file.", {"path": str})
async def read(given):
    """Read a file."""
    return {"content": [{"type": "text", "text": f"text of {given['path']}"}]}


def show(event):
    """Print an event of the guard."""
    print({"warning": "warned:", "block": "blocked:"}.get(event.kind, f"{event.kind}:"), event.reason)


async def main(home, url):
    """Run a prompt."""
    guard = Guard(tools=TOOLS, listeners=[show])
    options = ClaudeAgentOptions(
        mcp_servers={"files": create_sdk_mcp_server("files", tools=[read])},
        allowed_tools=["mcp__files__read"],
        setting_sources=[],
        cwd=home,
        env={
            "HOME": home,
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        },
    )
    try:
        async for _ in raising(query(prompt="Read /a.", options=guarded(options, guard)), guard):
            pass
    except ToolLoopError as ended:
        print("ended:", ended)
    print(guard.record())


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
Thread(target=server.serve_forever, daemon=True).start()
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    asyncio.run(main(folder, f"http://127.0.0.1:{server.server_port}"))
