"""`wheelspin mcp`: proxy an MCP server and guard its tool calls."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import uuid4

from wheelspin.cli._options import add_config_to, config_of
from wheelspin.core.guard import Guard
from wheelspin.core.loop_events import LoopEvent
from wheelspin.core.settings import Settings, settings_from
from wheelspin.errors import ConfigError, Fault
from wheelspin.proxy.base import Endpoint, forward
from wheelspin.proxy.mcp_relay import GuardedSessions, Relay
from wheelspin.proxy.mcp_stdio import ServerProcess, StdioClient
from wheelspin.userfiles.paths import config_path
from wheelspin.userfiles.settings_cache import settings_for

__all__ = ["add_to"]

_AGENT = "mcp"
"""Id of the block in the user's configuration that applies if no agent is named."""
_PRESET = "standard"
_LOOPBACK = "127.0.0.1"
_PORTS = range(1 << 16)

Server = Callable[[], AbstractAsyncContextManager[Endpoint]]
"""Opens the connection to the server for one session."""


def add_to(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = verbs.add_parser(
        "mcp",
        help="proxy an MCP server and guard its tool calls",
        description=(
            "Proxy an MCP server and guard its tool calls; everything else passes through unchanged. In the client's "
            "configuration, put this command in front of the server's own. Everything that the guard does is logged to "
            "stderr, one line each."
        ),
        usage="wheelspin mcp [OPTION …] (-- COMMAND … | --url URL)",
    )
    add_config_to(parser, default="your own configuration, with the detectors enabled")
    parser.add_argument("--url", help="URL of a remote server (streamable HTTP)")
    parser.add_argument(
        "--header",
        action="append",
        default=[],
        metavar="NAME:VALUE",
        help="header to send with each request to the URL; $NAME stands for an environment variable",
    )
    parser.add_argument(
        "--http", metavar="[HOST:]PORT", help=f"serve clients over HTTP instead of stdio (default host: {_LOOPBACK})"
    )
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND", help="command that starts the server")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    words = options.words[1:] if options.words[:1] == ["--"] else options.words
    if bool(words) == bool(options.url):
        found = "both a command and `--url` were given" if words else "neither a command nor `--url` was given"
        fault = Fault("", found, "one of them", hint="see `wheelspin mcp --help`")
        raise ConfigError("mcp", [fault])
    sessions = GuardedSessions(Guard(_settings(options), clock=time.time, listeners=[_report]))
    server = _at(options.url, options.header) if options.url else _started(words)
    if options.http is None:
        return asyncio.run(_until_signal(_over_stdio(sessions, server)))
    return asyncio.run(_until_signal(_over_http(sessions, server, *_address(options.http))))


def _settings(options: argparse.Namespace) -> Settings:
    if options.agent is not None and options.config is None and Path(config_path()).exists():
        options.config = Path(config_path())
    config, agent = config_of(options)
    if config is None:
        return settings_for(_AGENT, _PRESET)
    return settings_from({"enabled": True, "preset": _PRESET, **config.given(agent or _AGENT)})


def _report(event: LoopEvent) -> None:
    where = f"session {event.session_id}, call {event.call_id}" if event.call_id else f"session {event.session_id}"
    what = f"would {event.action}" if event.observed else event.action or event.kind
    _log(f"{what}: {event.reason or event.cause} [{event.code}, {where}]")


def _log(text: str) -> None:
    print(f"wheelspin: {text}", file=sys.stderr, flush=True)


def _started(words: list[str]) -> Server:
    program = shutil.which(words[0])
    if program is None:
        hint = "use a command on the PATH, or a full path"
        raise ConfigError("mcp", [Fault("", f"there is no program {words[0]!r}", hint=hint)])

    @asynccontextmanager
    async def server() -> AsyncIterator[Endpoint]:
        async with contextlib.AsyncExitStack() as stack:
            try:
                started = await stack.enter_async_context(ServerProcess([program, *words[1:]]))
            except OSError as problem:
                fault = Fault("", f"{program}: {problem.strerror}", hint="run the command by itself to see why")
                raise ConfigError("mcp", [fault]) from None
            yield started
            if started.exit_code and not started.is_closing:
                when = "" if started.has_written else " before it sent anything; run the command by itself to see why"
                _log(f"{words[0]} exited with code {started.exit_code}{when}")

    return server


def _at(url: str, headers: list[str]) -> Server:
    if not url.startswith(("http://", "https://")):
        raise ConfigError("--url", [Fault("", f"{url!r} is not a URL", "one such as https://example.com/mcp")])
    pairs = [header.partition(":") for header in headers]
    for name, colon, _ in pairs:
        if not colon or not name.strip():
            # The value may be a secret, so the message does not repeat it.
            raise ConfigError("--header", [Fault("", "the value is not a header", "NAME:VALUE")])
    http = _http()
    return lambda: http.connect(url, {name.strip(): os.path.expandvars(value.strip()) for name, _, value in pairs})


class _Brief(logging.Handler):
    """A handler that writes each log record of the SDK as one line."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record."""
        _log(" ".join(record.getMessage().split()))


def _http() -> Any:
    for name in ("mcp", "uvicorn"):
        logging.getLogger(name).addHandler(_Brief(logging.WARNING))
    try:
        return import_module("wheelspin.proxy.mcp_http")
    except ImportError as missing:
        if (missing.name or "").startswith("wheelspin"):
            raise
        fault = Fault("", "HTTP needs the MCP SDK, version 2.2 or newer", hint='run `pip install "wheelspin[mcp]"`')
        raise ConfigError("mcp", [fault]) from None


def _address(given: str) -> tuple[str, int]:
    host, _, port = given.rpartition(":")
    if not port.isdecimal() or int(port) not in _PORTS:
        raise ConfigError("--http", [Fault("", repr(given), "[HOST:]PORT, such as 8000 or 127.0.0.1:8000")])
    return host.strip("[]") or _LOOPBACK, int(port)


async def _over_stdio(sessions: GuardedSessions, server: Server) -> int:
    """Serve the client that started this process, until the client or the server ends."""
    async with server() as opened:
        await forward(StdioClient(), opened, Relay(sessions, uuid4().hex))
    return (opened.exit_code or 0) if isinstance(opened, ServerProcess) else 0


async def _over_http(sessions: GuardedSessions, server: Server, host: str, port: int) -> int:
    """Serve clients over HTTP, each with a connection of its own to the server."""
    http = _http()
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as problem:
        why = os.strerror(problem.errno) if problem.errno else str(problem)
        hint = "choose another port, or 0 for any free port"
        raise ConfigError("--http", [Fault("", f"{host}:{port}: {why}", hint=hint)]) from None
    printable = f"[{host}]" if ":" in host else host
    _log(f"the guarded server is at http://{printable}:{listener.getsockname()[1]}{http.PATH}")

    async def session(name: str, client: Endpoint) -> None:
        try:
            async with server() as opened:
                await forward(client, opened, Relay(sessions, name))
        except ConfigError as problem:
            _log(problem.diagnostics())

    await http.serve(host, listener, session)
    return 0


async def _until_signal(work: Coroutine[Any, Any, int]) -> int:
    """Run until the work is done or a signal arrives, which ends the servers and sets the exit code."""
    loop, task = asyncio.get_running_loop(), asyncio.ensure_future(work)
    got: list[int] = []

    def end(number: int) -> None:
        got.append(number)
        if len(got) == 1:
            task.cancel()

    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        with contextlib.suppress(NotImplementedError, AttributeError):
            loop.add_signal_handler(getattr(signal, name), end, getattr(signal, name))
    try:
        return await task
    except asyncio.CancelledError:
        if not got:
            raise
        return 128 + got[0]
