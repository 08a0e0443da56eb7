"""
A small MCP server over stdio that needs only the standard library.

`python tests/mcp_server.py [MODE]`: `dies` exits before it answers anything, `crashes` exits at the first tool call,
`stays` ignores both the end of stdin and SIGTERM, `leaves` starts another process and exits without it. Process ids
are written to stderr.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
TOOLS = [
    {"name": "read", "inputSchema": {"type": "object"}, "outputSchema": SCHEMA, "annotations": {"readOnlyHint": True}},
    {"name": "list", "inputSchema": {"type": "object"}},
    {"name": "look", "inputSchema": {"type": "object"}},
]
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def _result(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        info = {"name": "files", "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call" and params["name"] == "read":
        text = f"text of {params.get('arguments', {}).get('path')}"
        structured = {"text": text}
        return {"content": [{"type": "text", "text": json.dumps(structured)}], "structuredContent": structured}
    if method == "tools/call" and params["name"] == "look":
        return {"content": [{"type": "image", "data": PICTURE, "mimeType": "image/png"}]}
    return {"content": [{"type": "text", "text": "found"}]}


def main(mode: str) -> None:
    """Answer requests until stdin ends."""
    if mode == "dies":
        sys.exit(3)
    if mode == "stays":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if mode in {"stays", "leaves"}:
        other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        print(f"processes {os.getpid()} {other.pid}", file=sys.stderr, flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        if mode == "crashes" and message["method"] == "tools/call":
            sys.exit(7)
        answer = {
            "jsonrpc": "2.0",
            "id": message["id"],
            "result": _result(message["method"], message.get("params", {})),
        }
        print(json.dumps(answer), flush=True)
    if mode == "stays":
        time.sleep(60)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
