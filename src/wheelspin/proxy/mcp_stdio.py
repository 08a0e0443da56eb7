"""MCP over stdin and stdout: the client that started this process, and a server that this process starts."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Sequence
from typing import Self

__all__ = ["ServerProcess", "StdioClient"]

_CHUNK_SIZE = 1 << 16
_POLL_INTERVAL = 0.02
_EXIT_TIMEOUT = 2.0
"""Seconds a server has to exit after its stdin is closed: as long as clients wait before they send a signal."""
_TERM_TIMEOUT = 1.5
"""Seconds between SIGTERM and SIGKILL: less than clients wait before they send SIGKILL."""


class StdioClient:
    """The client at the other end of this process's stdin and stdout."""

    def __init__(self) -> None:
        self._out = sys.stdout.buffer

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the lines of stdin."""
        loop = asyncio.get_running_loop()
        chunks: asyncio.Queue[bytes] = asyncio.Queue()

        def read() -> None:
            # Not through `sys.stdin`: a thread blocked in it keeps the interpreter from exiting.
            while True:
                try:
                    chunk = os.read(0, _CHUNK_SIZE)
                except OSError:
                    chunk = b""
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(chunks.put_nowait, chunk)
                if not chunk:
                    return

        threading.Thread(target=read, name="wheelspin-stdin", daemon=True).start()
        lines = _LineSplitter()
        while chunk := await chunks.get():
            for line in lines.feed(chunk):
                yield line
        for line in lines.flush():
            yield line

    async def send(self, line: bytes) -> None:
        """Write a line to stdout."""
        self._out.write(line + b"\n")
        self._out.flush()

    async def finish(self) -> None:
        """Do nothing: stdout closes when this process exits."""


class ServerProcess:
    """
    A server that runs as a child process, with the environment and stderr of this process.

    Use it as an asynchronous context manager.

    Args:
        command: The program and its arguments.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process: asyncio.subprocess.Process | None = None
        self._ending: asyncio.Task[None] | None = None
        self.has_written = False
        """Whether the server has written anything to its stdout."""

    @property
    def process(self) -> asyncio.subprocess.Process:
        """The child process."""
        assert self._process is not None, "not entered as a context manager"  # noqa: S101 - a programming error
        return self._process

    @property
    def is_closing(self) -> bool:
        """Whether its stdin has been closed, which asks it to exit."""
        return self._ending is not None

    @property
    def exit_code(self) -> int | None:
        """Exit code as a shell reports it, or `None` while the server runs."""
        code = self.process.returncode
        return code if code is None or code >= 0 else 128 - code

    async def __aenter__(self) -> Self:
        """
        Start the server.

        Raises:
            OSError: It cannot be started.
        """
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        """Terminate the server and every process it started."""
        if self._ending is not None:
            self._ending.cancel()
        await asyncio.shield(self._end())

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the lines of its stdout."""
        stdout, lines = self.process.stdout, _LineSplitter()
        while stdout is not None and (chunk := await stdout.read(_CHUNK_SIZE)):
            self.has_written = True
            for line in lines.feed(chunk):
                yield line
        for line in lines.flush():
            yield line
        await self._has_exited(_EXIT_TIMEOUT)

    async def send(self, line: bytes) -> None:
        """Write a line to its stdin."""
        stdin = self.process.stdin
        if stdin is not None:
            stdin.write(line + b"\n")
            await stdin.drain()

    async def finish(self) -> None:
        """Close its stdin, which asks a server to exit; terminate it if it does not."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self._ending = asyncio.create_task(self._terminate(_EXIT_TIMEOUT))

    async def _end(self) -> None:
        await self._terminate()
        # A pipe that is still open when the event loop closes would complain about that on stderr.
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._has_closed(), _TERM_TIMEOUT)

    async def _has_closed(self) -> None:
        stdout = self.process.stdout
        while stdout is not None and await stdout.read(_CHUNK_SIZE):
            pass

    async def _terminate(self, grace: float = 0.0) -> None:
        if await self._has_exited(grace):
            self._signal(signal.SIGTERM)
            return
        self._signal(signal.SIGTERM)
        await self._has_exited(_TERM_TIMEOUT)
        self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        await self._has_exited(_TERM_TIMEOUT)

    async def _has_exited(self, seconds: float) -> bool:
        """
        Wait for the server to exit, and return whether it did.

        `Process.wait` would also wait for its child processes that inherited the pipes.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while self.process.returncode is None and loop.time() < until:  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(_POLL_INTERVAL)
        return self.process.returncode is not None

    def _signal(self, number: signal.Signals) -> None:
        """Send a signal to the server and every process it started."""
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, number)
            elif self.process.returncode is None:
                self.process.send_signal(number)


class _LineSplitter:
    """Splits chunks of bytes into lines."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that a chunk completes, without line ends and without empty lines."""
        *whole, last = chunk.split(b"\n")
        if not whole:
            self._parts.append(last)
            return []
        whole[0] = b"".join([*self._parts, whole[0]])
        self._parts = [last]
        return [line for line in (line.rstrip(b"\r") for line in whole) if line]

    def flush(self) -> list[bytes]:
        """Return the last line if it has no line end."""
        return self.feed(b"\n")
