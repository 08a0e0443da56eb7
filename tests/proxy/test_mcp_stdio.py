"""The server that the proxy starts over stdio."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.conftest import ROOT

LEFT = "import signal, time; signal.signal(15, signal.SIG_IGN); x = bytearray(200_000_000); print(1, flush=True)"
SERVER = f"import subprocess, sys; subprocess.Popen([sys.executable, '-S', '-c', '{LEFT}; time.sleep(60)']).wait()"
PROGRAM = f"""
import asyncio, sys
from wheelspin.proxy.mcp_stdio import ServerProcess

async def main():
    async with ServerProcess([sys.executable, "-S", "-c", {SERVER!r}]) as server:
        async for line in server.lines():
            break

asyncio.run(main())
"""


def test_a_process_that_a_server_leaves_is_gone_before_the_event_loop() -> None:
    """It takes the kernel a while to kill a large one, and its pipe must not be closed by a loop that is gone."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(  # noqa: S603 - our own interpreter and program
        [sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True, env=environment
    )

    assert done.stderr == ""
