"""
Servers of FastMCP: `WheelspinMiddleware` guards the calls that come to a server of one's own.

What stands between any client and any server is the command `wheelspin mcp`.
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
from wheelspin.proxy.mcp_relay import Calls, advice_of
from wheelspin.watch import Watch, fail_open
from wheelspin.wire.mcp import advised, outcome_of, widened

__all__ = ["WheelspinMiddleware"]

_Context = MiddlewareContext[CallToolRequestParams]


class WheelspinMiddleware(Middleware):
    """
    Guard the calls that clients make to a server.

    Args:
        guard: The guard; without one, a guard with its detectors on.
        session: Gives the session that a call belongs to, or `None` for a call that is not to be judged. Without it,
            that is the session of the protocol; where there is none, the user who is logged in; where there is none of
            those over HTTP either, calls are not judged.

    Example:
        ```python
        server = FastMCP("files", middleware=[WheelspinMiddleware()])
        ```
    """

    def __init__(
        self, guard: Guard | None = None, *, session: Callable[[MiddlewareContext[Any]], str | None] | None = None
    ) -> None:
        self.guard = Guard() if guard is None else guard
        self._calls = Calls(self.guard)
        self._alone = uuid4().hex
        self._session = session or self._told

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
            said = _raised(watch, error, context.message.name)
            if said is None:
                raise
            raise ToolError(said) from error
        return _given(self.guard, watch, result)

    async def on_list_tools(
        self, context: MiddlewareContext[ListToolsRequest], call_next: CallNext[ListToolsRequest, Sequence[Tool]]
    ) -> Sequence[Tool]:
        """Make room for an advice in what tools say of their structured results."""
        tools = await call_next(context)
        if not self._calls.speaks:
            return tools
        return [_with_room(tool) for tool in tools]

    def _watch(self, context: _Context) -> Watch | None:
        with fail_open(self.guard):
            session = self._session(context)
            if session is None:
                return None
            message, within = context.message, context.fastmcp_context
            again = message.input_responses is not None or message.request_state is not None
            number = within.request_id if within is not None and within.request_context is not None else None
            call = ToolCall(message.name, message.arguments or {}, id=number, session_id=session)
            return self._calls.ask(call, again=again)
        return None

    def _told(self, context: MiddlewareContext[Any]) -> str | None:
        """Give the session that the protocol tells, or what stands for it."""
        within = context.fastmcp_context
        request = within.request_context if within is not None else None
        if within is None or request is None:
            return None
        if request.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return within.session_id
        # Since 2026-07-28 there are no sessions: each request stands alone.
        who = current_principal()
        if who is None and within.transport not in {"sse", "streamable-http"}:
            return self._alone
        return who


def _raised(watch: Watch, error: BaseException, name: str) -> str | None:
    """Tell of an exception; where FastMCP makes a result of it and there is an advice, give the text of both."""
    try:
        watch.record_exception(error)
        advice = watch.verdict.advice
    except ToolLoopError as ended:
        advice = ended.verdict.advice
    if not advice or not isinstance(error, FastMCPError | NotFoundError | DisabledError):
        return None
    said = str(error) if isinstance(error, FastMCPError) else f"Unknown tool: {name!r}"
    return f"{said}\n\n{advice}"


def _given(guard: Guard, watch: Watch, result: Any) -> Any:
    """Tell of a result, and give it with the advice if there is one; what only asks for input is no outcome yet."""
    with fail_open(guard):
        shown = _shown(result)
        outcome = outcome_of(shown)
        advice = "" if outcome is None else advice_of(watch, lambda: outcome)
        if not advice:
            return result
        given = advised(shown, advice)
        content = [*result.content, TextContent(type="text", text=advice)]
        return result.model_copy(update={"content": content, "structured_content": given.get("structuredContent")})
    return result


def _shown(result: Any) -> dict[str, Any]:
    """Give what a result is on the wire; nothing for what is none."""
    if not isinstance(result, ToolResult) or isinstance(result, InputRequiredToolResult):
        return {}
    content = [block.model_dump(mode="json", by_alias=True, exclude_none=True) for block in result.content]
    shown: dict[str, Any] = {"content": content, "isError": result.is_error}
    structured = result.structured_content
    return shown if structured is None else {**shown, "structuredContent": structured}


def _with_room(tool: Tool) -> Tool:
    schema = tool.output_schema
    wide = widened(schema) if isinstance(schema, dict) else schema
    return tool if wide == schema else tool.model_copy(update={"output_schema": wide})
