"""
The adapter for FastMCP: `WheelspinMiddleware` guards the calls that clients make to your own server.

To guard any other server, use the command `wheelspin mcp`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from fastmcp.exceptions import DisabledError, FastMCPError, NotFoundError, ToolError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.server.sessions import current_principal
from fastmcp.tools import Tool
from fastmcp.tools.base import InputRequiredToolResult, ToolResult
from mcp_types import CallToolRequestParams, ListToolsRequest, TextContent
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from wheelspin.core.events import ToolCall
from wheelspin.core.guard import Guard
from wheelspin.errors import ToolLoopError
from wheelspin.proxy.mcp_relay import GuardedSessions, advice_for
from wheelspin.watch import Watch, fail_open
from wheelspin.wire.mcp import advised, outcome_of, widened

__all__ = ["WheelspinMiddleware"]

_Context = MiddlewareContext[CallToolRequestParams]


class WheelspinMiddleware(Middleware):
    """
    Guard the calls that clients make to a server.

    Args:
        guard: The guard; by default one with its detectors on.
        session: Returns the id of the session that a call belongs to, or `None` for a call that must not be guarded.
            By default this is the session of the protocol, or if there is none, the authenticated user. Over HTTP,
            calls with neither are not guarded.

    Example:
        ```python
        server = FastMCP("files", middleware=[WheelspinMiddleware()])
        ```
    """

    def __init__(
        self, guard: Guard | None = None, *, session: Callable[[MiddlewareContext[Any]], str | None] | None = None
    ) -> None:
        self.guard = Guard() if guard is None else guard
        self._sessions = GuardedSessions(self.guard)
        self._own_session = uuid4().hex
        self._session = session or self._protocol_session

    async def on_call_tool(self, context: _Context, call_next: CallNext[CallToolRequestParams, ToolResult]) -> Any:
        """Watch a call."""
        watch = self._watch(context)
        if watch is None:
            return await call_next(context)
        if watch.verdict.stops:
            return ToolResult(content=watch.verdict.advice, is_error=True)
        try:
            result = await call_next(context)
        except BaseException as error:
            text = _record_error(watch, error, context.message.name)
            if text is None:
                raise
            raise ToolError(text) from error
        return _record_result(self.guard, watch, result)

    async def on_list_tools(
        self, context: MiddlewareContext[ListToolsRequest], call_next: CallNext[ListToolsRequest, Sequence[Tool]]
    ) -> Sequence[Tool]:
        """Allow for advice in the tools' output schemas."""
        tools = await call_next(context)
        if not self._sessions.can_advise:
            return tools
        return [_with_advice_property(tool) for tool in tools]

    def _watch(self, context: _Context) -> Watch | None:
        with fail_open(self.guard):
            session = self._session(context)
            if session is None:
                return None
            message, ctx = context.message, context.fastmcp_context
            is_retry = message.input_responses is not None or message.request_state is not None
            request_id = ctx.request_id if ctx is not None and ctx.request_context is not None else None
            call = ToolCall(message.name, message.arguments or {}, id=request_id, session_id=session)
            return self._sessions.watch(call, is_retry=is_retry)
        return None

    def _protocol_session(self, context: MiddlewareContext[Any]) -> str | None:
        """Return the id of the protocol's session, or of what replaces it."""
        ctx = context.fastmcp_context
        request = ctx.request_context if ctx is not None else None
        if ctx is None or request is None:
            return None
        if request.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return ctx.session_id
        # Since 2026-07-28 the protocol has no sessions.
        user = current_principal()
        if user is None and ctx.transport not in {"sse", "streamable-http"}:
            return self._own_session
        return user


def _record_error(watch: Watch, error: BaseException, name: str) -> str | None:
    """Record an exception. If FastMCP makes a result of it and there is advice, return the text of both."""
    try:
        watch.record_exception(error)
        advice = watch.verdict.advice
    except ToolLoopError as ended:
        advice = ended.verdict.advice
    if not advice or not isinstance(error, FastMCPError | NotFoundError | DisabledError):
        return None
    text = str(error) if isinstance(error, FastMCPError) else f"Unknown tool: {name!r}"
    return f"{text}\n\n{advice}"


def _record_result(guard: Guard, watch: Watch, result: Any) -> Any:
    """Record a result and return it, with advice if there is any. A result that only asks for input is no outcome."""
    with fail_open(guard):
        wire = _wire_result(result)
        outcome = outcome_of(wire)
        advice = "" if outcome is None else advice_for(watch, lambda: outcome)
        if not advice:
            return result
        structured = advised(wire, advice).get("structuredContent")
        content = [*result.content, TextContent(type="text", text=advice)]
        return result.model_copy(update={"content": content, "structured_content": structured})
    return result


def _wire_result(result: Any) -> dict[str, Any]:
    """Return a result in its wire format, or an empty dict if it is not the result of a tool."""
    if not isinstance(result, ToolResult) or isinstance(result, InputRequiredToolResult):
        return {}
    content = [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]
    wire: dict[str, Any] = {"content": content, "isError": result.is_error}
    structured = result.structured_content
    return wire if structured is None else {**wire, "structuredContent": structured}


def _with_advice_property(tool: Tool) -> Tool:
    schema = tool.output_schema
    wide = widened(schema) if isinstance(schema, dict) else schema
    return tool if wide == schema else tool.model_copy(update={"output_schema": wide})
