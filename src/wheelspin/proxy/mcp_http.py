"""MCP over HTTP, by the transports of its SDK: a server at a URL, and clients that come to this process."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import httpx2
import mcp_types
import uvicorn
from anyio import BrokenResourceError, ClosedResourceError
from mcp.client.streamable_http import streamable_http_client
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp.shared.message import ClientMessageMetadata, ServerMessageMetadata, SessionMessage
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.responses import JSONResponse

from wheelspin.proxy.base import End

__all__ = ["PATH", "Remote", "Serve", "remote", "serve"]

PATH = "/mcp"
"""Where clients find the server."""
_SESSION = b"mcp-session-id"
_IDLE = 3600.0
"""Seconds after which a session that its client left without a word is closed."""
_OURS = frozenset({"127.0.0.1", "::1", "localhost"})

Serve = Callable[[str, End], Awaitable[None]]
"""Serves one session, given by its id and its client."""

if "idle_timeout" not in inspect.signature(StreamableHTTPServerTransport).parameters:
    raise ImportError("the SDK of MCP is older than 2.2", name="mcp")


class Remote:
    """
    A server at a URL.

    Args:
        streams: What the SDK's transport gives.
    """

    def __init__(self, streams: tuple[Any, Any]) -> None:
        self._received, self._sent = streams
        self._version: str | None = None
        self._schemas: dict[str, Any] = {}

    async def lines(self) -> AsyncIterator[bytes]:
        """Give what it sends."""
        with contextlib.suppress(ClosedResourceError):
            async for item in self._received:
                if isinstance(item, Exception):
                    continue
                line = _written(item.message)
                self._learn(line)
                yield line

    async def send(self, line: bytes) -> None:
        """Send it a message."""
        message = _read(line)
        if message is None:
            return
        metadata = ClientMessageMetadata(headers=self._headers(json.loads(line)))
        try:
            await self._sent.send(SessionMessage(message, metadata))
        except (BrokenResourceError, ClosedResourceError) as gone:
            raise ConnectionResetError from gone

    async def finish(self) -> None:
        """End the session."""
        await self._sent.aclose()
        await self._received.aclose()

    def _headers(self, message: Mapping[str, Any]) -> dict[str, str]:
        """Give the headers that repeat what stands in a message, as the protocol asks for."""
        given = message.get("params")
        params: dict[str, Any] = given if isinstance(given, dict) else {}
        meta = params.get("_meta")
        version = meta.get(mcp_types.PROTOCOL_VERSION_META_KEY) if isinstance(meta, dict) else None
        if not isinstance(version, str):
            known = self._version if message.get("method") != "initialize" else None
            return {} if known is None else {MCP_PROTOCOL_VERSION_HEADER: known}
        method = str(message.get("method"))
        headers = {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: method}
        name = params.get(NAME_BEARING_METHODS.get(method, ""))
        if isinstance(name, str):
            headers[MCP_NAME_HEADER] = encode_header_value(name)
            arguments = params.get("arguments")
            if method == "tools/call" and name in self._schemas and isinstance(arguments, dict):
                headers.update(mcp_param_headers(x_mcp_header_map(self._schemas[name]), arguments))
        return headers

    def _learn(self, line: bytes) -> None:
        """Take note of what later headers need: the version that was agreed on, and which arguments they repeat."""
        if b"protocolVersion" not in line and b"x-mcp-header" not in line:
            return
        result = json.loads(line).get("result")
        if not isinstance(result, dict):
            return
        version, tools = result.get("protocolVersion"), result.get("tools")
        if isinstance(version, str):
            self._version = version
        for tool in tools if isinstance(tools, list) else ():
            self._schemas[str(tool.get("name"))] = tool.get("inputSchema")


@asynccontextmanager
async def remote(url: str, headers: Mapping[str, str]) -> AsyncIterator[Remote]:
    """Connect to a server; where it cannot be reached, each request is answered with an error that says so."""
    client = _Reaching(headers=dict(headers), timeout=httpx2.Timeout(30.0, read=None))
    async with client, streamable_http_client(url, http_client=client) as streams:
        yield Remote(streams)


class _Reaching(httpx2.AsyncClient):
    """A client of HTTP for which a server that is not there answers with an error: the SDK would end the session."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        try:
            return await super().send(request, **options)
        except httpx2.TransportError as problem:
            said = f"wheelspin: the server at {request.url} cannot be reached: {str(problem) or type(problem).__name__}"
            return httpx2.Response(502, json=_error(-32000, said), request=request)


async def serve(host: str, listener: socket.socket, session: Serve) -> None:
    """
    Serve clients until this task is cancelled.

    Args:
        host: The address that was asked for; on loopback, requests that name another host are refused.
        listener: Where they come in.
        session: Serves one of them.
    """
    sessions = _Sessions(host, session)
    try:
        await _Uvicorn(uvicorn.Config(sessions, log_config=None, lifespan="off")).serve(sockets=[listener])
    finally:
        await sessions.close()


class _Uvicorn(uvicorn.Server):
    """Uvicorn, which leaves signals to whoever started it: servers are to be ended first."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _Sessions:
    """The sessions, as an ASGI application."""

    def __init__(self, host: str, session: Serve) -> None:
        names = [name for ours in ("127.0.0.1", "localhost", "[::1]") for name in (ours, f"{ours}:*")]
        origins = [f"{scheme}://{name}" for scheme in ("http", "https") for name in names]
        is_local = host in _OURS
        self._security = TransportSecuritySettings(
            enable_dns_rebinding_protection=is_local, allowed_hosts=names, allowed_origins=origins
        )
        self._session = session
        self._open: dict[str, StreamableHTTPServerTransport] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        headers = dict(scope["headers"])
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER.encode(), b"").decode("latin-1")
        name = headers.get(_SESSION, b"").decode("latin-1")
        if scope["path"].rstrip("/") != PATH:
            await JSONResponse(_error(-32600, f"MCP is at {PATH}"), 404)(scope, receive, send)
        elif version and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            # Without sessions one client cannot be told from another: clients fall back to a version with them.
            data = {"supported": list(HANDSHAKE_PROTOCOL_VERSIONS), "requested": version}
            error = _error(mcp_types.UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", data)
            await JSONResponse(error, 400)(scope, receive, send)
        elif name and name not in self._open:
            await JSONResponse(_error(-32600, "Session not found"), 404)(scope, receive, send)
        else:
            transport = self._open[name] if name else await self._begun()
            await _handled(transport, scope, receive, send)

    async def close(self) -> None:
        """End all sessions."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _begun(self) -> StreamableHTTPServerTransport:
        name = uuid4().hex
        transport = StreamableHTTPServerTransport(name, security_settings=self._security, idle_timeout=_IDLE)
        self._open[name] = transport
        is_ready = asyncio.Event()
        task = asyncio.create_task(self._run(name, transport, is_ready))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await is_ready.wait()
        return transport

    async def _run(self, name: str, transport: StreamableHTTPServerTransport, is_ready: asyncio.Event) -> None:
        try:
            async with transport.connect() as streams:
                client = _Visitor(streams)
                is_ready.set()
                with transport.idle_scope or contextlib.nullcontext():
                    # A server is started for a client that begins as it should, and not for a stray request.
                    if await client.begins():
                        await self._session(name, client)
                await transport.terminate()
        finally:
            self._open.pop(name, None)
            is_ready.set()


async def _handled(transport: StreamableHTTPServerTransport, scope: Any, receive: Any, send: Any) -> None:
    """Let a session's transport answer a request; a session whose first request is refused is none."""
    is_first = not any(name == _SESSION for name, _ in scope["headers"])
    status = 0

    async def watched(message: Any) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
        await send(message)

    try:
        await transport.handle_request(scope, receive, watched)
    finally:
        if is_first and not 0 < status < 400:  # noqa: PLR2004 - an HTTP error
            await transport.terminate()


class _Visitor:
    """A client that came over HTTP."""

    def __init__(self, streams: tuple[Any, Any]) -> None:
        self._received, self._sent = streams
        self._first: SessionMessage | None = None
        self._open: dict[str, Any] = {}
        """The requests that wait for an answer, and what their progress is told by."""

    async def begins(self) -> bool:
        """Wait for its first message."""
        async for item in self._received:
            if isinstance(item, SessionMessage):
                self._first = item
                return True
        return False

    async def lines(self) -> AsyncIterator[bytes]:
        """Give what it sends."""
        if self._first is not None:
            yield self._taken(self._first)
        async for item in self._received:
            if isinstance(item, SessionMessage):
                yield self._taken(item)

    async def send(self, line: bytes) -> None:
        """Send it a message: an answer to where it is waited for, all else to a request that it may belong to."""
        message = _read(line)
        if message is None:
            return
        related = None
        if isinstance(message, mcp_types.JSONRPCResponse | mcp_types.JSONRPCError):
            self._open.pop(str(message.id), None)
        else:
            related = self._related(message)
        try:
            await self._sent.send(SessionMessage(message, ServerMessageMetadata(related_request_id=related)))
        except (BrokenResourceError, ClosedResourceError) as gone:
            raise ConnectionResetError from gone

    async def finish(self) -> None:
        """End the session."""
        await self._sent.aclose()

    def _taken(self, item: SessionMessage) -> bytes:
        message = item.message
        if isinstance(message, mcp_types.JSONRPCRequest):
            meta = (message.params or {}).get("_meta")
            self._open[str(message.id)] = meta.get("progressToken") if isinstance(meta, dict) else None
        elif isinstance(message, mcp_types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._open.pop(str((message.params or {}).get("requestId")), None)
        return _written(message)

    def _related(self, message: Any) -> str | None:
        """Give the request whose stream a message goes to: the newest, where nothing tells; `None` where none waits."""
        token = (message.params or {}).get("progressToken")
        told = [number for number, known in self._open.items() if token is not None and known == token]
        return next(iter(told or reversed(list(self._open))), None)


def _read(line: bytes) -> Any:
    """Give the SDK's message; `None` for a line that is none."""
    try:
        return mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return None


def _written(message: Any) -> bytes:
    text: str = message.model_dump_json(by_alias=True, exclude_unset=True)
    return text.encode()


def _error(code: int, message: str, data: Any = None) -> dict[str, Any]:
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return {"jsonrpc": "2.0", "id": None, "error": error}
