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

__all__ = ["Program", "Standard"]

_CHUNK = 1 << 16
_POLL = 0.02
_GRACE = 2.0
"""Seconds that a server has to end after its stdin was closed: as long as clients wait before they send a signal."""
_LAST = 1.5
"""Seconds from the signal that asks it to end to the one that ends it: shorter than clients wait before the latter."""


class Standard:
    """The client at the other end of this process's stdin and stdout."""

    def __init__(self) -> None:
        self._out = sys.stdout.buffer

    async def lines(self) -> AsyncIterator[bytes]:
        """Give the lines of stdin."""
        loop = asyncio.get_running_loop()
        chunks: asyncio.Queue[bytes] = asyncio.Queue()

        def read() -> None:
            # Not through `sys.stdin`: a thread that waits in it keeps the interpreter from ending.
            while True:
                try:
                    chunk = os.read(0, _CHUNK)
                except OSError:
                    chunk = b""
                with contextlib.suppress(RuntimeError):
                    loop.call_soon_threadsafe(chunks.put_nowait, chunk)
                if not chunk:
                    return

        threading.Thread(target=read, name="wheelspin-stdin", daemon=True).start()
        lines = _Lines()
        while chunk := await chunks.get():
            for line in lines.of(chunk):
                yield line
        for line in lines.rest():
            yield line

    async def send(self, line: bytes) -> None:
        """Write a line to stdout."""
        self._out.write(line + b"\n")
        self._out.flush()

    async def finish(self) -> None:
        """Do nothing: the process ends, and stdout with it."""


class Program:
    """
    A server that runs as a process of its own, with this process's environment and stderr.

    Args:
        words: The command.
    """

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._process: asyncio.subprocess.Process | None = None
        self._ending: asyncio.Task[None] | None = None
        self.spoke = False
        """Whether it ever said anything."""

    @property
    def running(self) -> asyncio.subprocess.Process:
        """The process."""
        assert self._process is not None, "it is used as a context"  # noqa: S101 - a slip of ours
        return self._process

    @property
    def is_told_to_end(self) -> bool:
        """Whether its stdin was closed."""
        return self._ending is not None

    @property
    def code(self) -> int | None:
        """Its exit code, once it has ended: as a shell gives it."""
        code = self.running.returncode
        return code if code is None or code >= 0 else 128 - code

    async def __aenter__(self) -> Self:
        """
        Start it.

        Raises:
            OSError: It cannot be started.
        """
        self._process = await asyncio.create_subprocess_exec(
            *self._words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        """Leave nothing of it behind: not what it started, either."""
        if self._ending is not None:
            self._ending.cancel()
        await asyncio.shield(self._end())

    async def lines(self) -> AsyncIterator[bytes]:
        """Give the lines of its stdout."""
        stdout, lines = self.running.stdout, _Lines()
        while stdout is not None and (chunk := await stdout.read(_CHUNK)):
            self.spoke = True
            for line in lines.of(chunk):
                yield line
        for line in lines.rest():
            yield line
        await self._gone(_GRACE)

    async def send(self, line: bytes) -> None:
        """Write a line to its stdin."""
        stdin = self.running.stdin
        if stdin is not None:
            stdin.write(line + b"\n")
            await stdin.drain()

    async def finish(self) -> None:
        """Close its stdin, which tells a server to end; where it does not, it is ended."""
        if self.running.stdin is not None:
            self.running.stdin.close()
        self._ending = asyncio.create_task(self._end(_GRACE))

    async def _end(self, grace: float = 0.0) -> None:
        if await self._gone(grace):
            self._signal(signal.SIGTERM)
            return
        self._signal(signal.SIGTERM)
        await self._gone(_LAST)
        self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        await self._gone(_LAST)

    async def _gone(self, seconds: float) -> bool:
        """Wait for its end; not with `wait`, which also waits for what it started and left its pipes to."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while self.running.returncode is None and loop.time() < until:  # noqa: ASYNC110 - there is no event for it
            await asyncio.sleep(_POLL)
        return self.running.returncode is not None

    def _signal(self, number: signal.Signals) -> None:
        """Send a signal to it and all that it started."""
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self.running.pid, number)
            elif self.running.returncode is None:
                self.running.send_signal(number)


class _Lines:
    """Lines out of chunks."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def of(self, chunk: bytes) -> list[bytes]:
        """Give the lines that a chunk completes, without their ends and without empty ones."""
        *whole, last = chunk.split(b"\n")
        if not whole:
            self._parts.append(last)
            return []
        whole[0] = b"".join([*self._parts, whole[0]])
        self._parts = [last]
        return [line for line in (line.rstrip(b"\r") for line in whole) if line]

    def rest(self) -> list[bytes]:
        """Give what was not ended."""
        return self.of(b"\n")
