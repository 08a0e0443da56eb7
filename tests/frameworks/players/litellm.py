"""Play a script in a plain agent behind LiteLLM, using the proxy's callback path and the mocked model."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import litellm
from litellm.caching.caching import DualCache
from litellm.proxy._types import ProxyException, UserAPIKeyAuth
from litellm.proxy.utils import ProxyLogging

from tests.shapes import SHAPES, Call, Shape
from wheelspin import Guard
from wheelspin.adapters.litellm import WheelspinCallback
from wheelspin.testing import AdapterRun, Script, ScriptedCall

__all__ = ["CALL_TYPES", "hooked", "play", "play_in"]

CALL_TYPES = {"chat": "acompletion", "messages": "anthropic_messages", "responses": "aresponses"}
"""What LiteLLM calls a request, by its shape."""


async def hooked(body: dict[str, Any], call_type: str = "acompletion") -> dict[str, Any]:
    """Send a request through the proxy's callbacks."""
    proxy = ProxyLogging(user_api_key_cache=DualCache())
    sent: dict[str, Any] = await proxy.pre_call_hook(
        user_api_key_dict=UserAPIKeyAuth(),
        data=body,
        call_type=call_type,  # type: ignore[call-overload]
    )
    return sent


def play(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script in the chat completions format, answered by LiteLLM's mocked model."""
    return asyncio.run(_play(SHAPES[0], script, guard, mocked=True))


def play_in(shape: Shape, script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script in any format; the model's messages come directly from the script."""
    return asyncio.run(_play(shape, script, guard, mocked=False))


async def _play(shape: Shape, script: Script, guard: Guard | None, *, mocked: bool) -> AdapterRun:
    before = litellm.callbacks
    litellm.callbacks = [] if guard is None else [WheelspinCallback(guard.settings, tools=guard.tools)]
    ran: list[str] = []
    sent: list[dict[str, Any]] = []
    history, ended = shape.prompt("go"), None
    try:
        for message in [*script, []]:
            body = {"model": "openai/scripted", shape.key: list(history)}
            sent = (await hooked(body, CALL_TYPES[shape.name]))[shape.key]
            asked = await _asked(message, sent) if mocked else shape.asked(_run(call) for call in message)
            ran += [call.path for call in message if call.exists]
            history += [*asked, *shape.answered(_run(call) for call in message)]
    except ProxyException as error:
        ended = (error.provider_specific_fields or {})["wheelspin"]["code"]
    finally:
        litellm.callbacks = before
    shown = {call_id: [str(content) for content in contents] for call_id, contents in shape.results(sent).items()}
    return AdapterRun(ran, shown, ended)


async def _asked(message: list[ScriptedCall], sent: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a message from LiteLLM's mocked model."""
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.tool, "arguments": json.dumps({"path": call.path})},
        }
        for call in message
    ]
    answer: Any = await litellm.acompletion(
        "openai/scripted", messages=sent, mock_response="done", mock_tool_calls=calls
    )
    reply = answer.choices[0].message
    made = [{"id": call.id, "type": "function", "function": dict(call.function)} for call in reply.tool_calls or ()]
    return [{"role": "assistant", "content": reply.content, "tool_calls": made}]


def _run(call: ScriptedCall) -> Call:
    """Run a scripted call."""
    result = call.result if call.exists else f"Tool '{call.tool}' not found"
    return Call(call.id, call.tool, {"path": call.path}, result, call.fails or not call.exists)
