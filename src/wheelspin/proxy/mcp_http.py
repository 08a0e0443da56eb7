"""MCP over HTTP, using the transports of the MCP SDK: a server at a URL, and clients that connect to this process."""

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

from wheelspin.proxy.base import Endpoint

__all__ = ["PATH", "RemoteServer", "SessionHandler", "connect", "serve"]

PATH = "/mcp"
"""URL path of the server that clients connect to."""
_SESSION_HEADER = b"mcp-session-id"
_SESSION_IDLE_TIMEOUT = 3600.0
"""Seconds without a request after which a session is closed."""
_LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})

SessionHandler = Callable[[str, Endpoint], Awaitable[None]]
"""Serves one session; called with the id of the session and its client."""

if "idle_timeout" not in inspect.signature(StreamableHTTPServerTransport).parameters:
    raise ImportError("the installed MCP SDK is older than 2.2", name="mcp")


class RemoteServer:
    """
    A server at a URL.

    Args:
        streams: The receiving and sending streams of the SDK's transport.
    """

    def __init__(self, streams: tuple[Any, Any]) -> None:
        self._received, self._sent = streams
        self._version: str | None = None
        self._schemas: dict[str, Any] = {}

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the messages it sends."""
        with contextlib.suppress(ClosedResourceError):
            async for item in self._received:
                if isinstance(item, Exception):
                    continue
                line = _to_line(item.message)
                self._note_headers(line)
                yield line

    async def send(self, line: bytes) -> None:
        """Send it a message; a line that holds none is dropped."""
        message = _parse(line)
        if message is None:
            return
        metadata = ClientMessageMetadata(headers=self._headers(json.loads(line)))
        try:
            await self._sent.send(SessionMessage(message, metadata))
        except (BrokenResourceError, ClosedResourceError) as gone:
            raise ConnectionResetError from gone

    async def finish(self) -> None:
        """Endpoint the session."""
        await self._sent.aclose()
        await self._received.aclose()

    def _headers(self, message: Mapping[str, Any]) -> dict[str, str]:
        """Return the headers that repeat parts of a message, as the protocol requires."""
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

    def _note_headers(self, line: bytes) -> None:
        """Note what later headers need: the negotiated version, and the arguments that headers repeat."""
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
async def connect(url: str, headers: Mapping[str, str]) -> AsyncIterator[RemoteServer]:
    """
    Connect to a server.

    If it cannot be reached, each request is answered with an error that says so.

    Args:
        url: URL of the server.
        headers: Headers to send with each request.

    Yields:
        The server.
    """
    client = _HttpxClient(headers=dict(headers), timeout=httpx2.Timeout(30.0, read=None))
    async with client, streamable_http_client(url, http_client=client) as streams:
        yield RemoteServer(streams)


class _HttpxClient(httpx2.AsyncClient):
    """An HTTP client that answers with an error if the server cannot be reached; the SDK would end the session."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        try:
            return await super().send(request, **options)
        except httpx2.TransportError as problem:
            message = (
                f"wheelspin: the server at {request.url} cannot be reached: {str(problem) or type(problem).__name__}"
            )
            return httpx2.Response(502, json=_error(-32000, message), request=request)


async def serve(host: str, listener: socket.socket, handle_session: SessionHandler) -> None:
    """
    SessionHandler clients until this task is cancelled.

    Args:
        host: The address to listen on, as the user gave it. On loopback, requests for another host are refused.
        listener: The listening socket.
        handle_session: Serves one session.
    """
    sessions = _SessionApp(host, handle_session)
    try:
        await _Uvicorn(uvicorn.Config(sessions, log_config=None, lifespan="off")).serve(sockets=[listener])
    finally:
        await sessions.close()


class _Uvicorn(uvicorn.Server):
    """Uvicorn without signal handlers: the caller handles signals, because it must terminate servers first."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class _SessionApp:
    """The ASGI application that holds the open sessions."""

    def __init__(self, host: str, handle_session: SessionHandler) -> None:
        hosts = [name for local in ("127.0.0.1", "localhost", "[::1]") for name in (local, f"{local}:*")]
        origins = [f"{scheme}://{name}" for scheme in ("http", "https") for name in hosts]
        is_local = host in _LOOPBACK_HOSTS
        self._security = TransportSecuritySettings(
            enable_dns_rebinding_protection=is_local, allowed_hosts=hosts, allowed_origins=origins
        )
        self._handle_session = handle_session
        self._open: dict[str, StreamableHTTPServerTransport] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        headers = dict(scope["headers"])
        version = headers.get(MCP_PROTOCOL_VERSION_HEADER.encode(), b"").decode("latin-1")
        name = headers.get(_SESSION_HEADER, b"").decode("latin-1")
        if scope["path"].rstrip("/") != PATH:
            await JSONResponse(_error(-32600, f"MCP is served at {PATH}"), 404)(scope, receive, send)
        elif version and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            # Versions without sessions do not distinguish clients. Clients fall back to a version that has sessions.
            data = {"supported": list(HANDSHAKE_PROTOCOL_VERSIONS), "requested": version}
            error = _error(mcp_types.UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", data)
            await JSONResponse(error, 400)(scope, receive, send)
        elif name and name not in self._open:
            await JSONResponse(_error(-32600, "Session not found"), 404)(scope, receive, send)
        else:
            transport = self._open[name] if name else await self._start_session()
            await _handle_request(transport, scope, receive, send)

    async def close(self) -> None:
        """Endpoint all sessions."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _start_session(self) -> StreamableHTTPServerTransport:
        name = uuid4().hex
        transport = StreamableHTTPServerTransport(
            name, security_settings=self._security, idle_timeout=_SESSION_IDLE_TIMEOUT
        )
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
                client = _HttpClient(streams)
                is_ready.set()
                with transport.idle_scope or contextlib.nullcontext():
                    # Start a server only for a client that sends a valid first message, not for a stray request.
                    if await client.wait_for_start():
                        await self._handle_session(name, client)
                await transport.terminate()
        finally:
            self._open.pop(name, None)
            is_ready.set()


async def _handle_request(transport: StreamableHTTPServerTransport, scope: Any, receive: Any, send: Any) -> None:
    """Let the session's transport answer a request, and close the session if its first request is refused."""
    is_first = not any(name == _SESSION_HEADER for name, _ in scope["headers"])
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


class _HttpClient:
    """A client that connected over HTTP."""

    def __init__(self, streams: tuple[Any, Any]) -> None:
        self._received, self._sent = streams
        self._first: SessionMessage | None = None
        self._open: dict[str, Any] = {}
        """Progress tokens of the unanswered requests, by request id."""

    async def wait_for_start(self) -> bool:
        """Wait for the client's first message, and return whether there was one."""
        async for item in self._received:
            if isinstance(item, SessionMessage):
                self._first = item
                return True
        return False

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the messages it sends."""
        if self._first is not None:
            yield self._receive(self._first)
        async for item in self._received:
            if isinstance(item, SessionMessage):
                yield self._receive(item)

    async def send(self, line: bytes) -> None:
        """Send it a message: an answer on the stream of its request, anything else on that of a related request."""
        message = _parse(line)
        if message is None:
            return
        related = None
        if isinstance(message, mcp_types.JSONRPCResponse | mcp_types.JSONRPCError):
            self._open.pop(str(message.id), None)
        else:
            related = self._related_request(message)
        try:
            await self._sent.send(SessionMessage(message, ServerMessageMetadata(related_request_id=related)))
        except (BrokenResourceError, ClosedResourceError) as gone:
            raise ConnectionResetError from gone

    async def finish(self) -> None:
        """Endpoint the session."""
        await self._sent.aclose()

    def _receive(self, item: SessionMessage) -> bytes:
        message = item.message
        if isinstance(message, mcp_types.JSONRPCRequest):
            meta = (message.params or {}).get("_meta")
            self._open[str(message.id)] = meta.get("progressToken") if isinstance(meta, dict) else None
        elif isinstance(message, mcp_types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self._open.pop(str((message.params or {}).get("requestId")), None)
        return _to_line(message)

    def _related_request(self, message: Any) -> str | None:
        """
        Return the id of the request on whose stream to send a message.

        It is the request with the message's progress token, else the newest open one; `None` if no request is open.
        """
        token = (message.params or {}).get("progressToken")
        matching = [number for number, known in self._open.items() if token is not None and known == token]
        return next(iter(matching or reversed(list(self._open))), None)


def _parse(line: bytes) -> Any:
    """Return the message in a line as an object of the SDK, or `None` if it holds none."""
    try:
        return mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValueError:
        return None


def _to_line(message: Any) -> bytes:
    text: str = message.model_dump_json(by_alias=True, exclude_unset=True)
    return text.encode()


def _error(code: int, message: str, data: Any = None) -> dict[str, Any]:
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    return {"jsonrpc": "2.0", "id": None, "error": error}
