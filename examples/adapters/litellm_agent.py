"""An agent behind LiteLLM that loops on purpose, with LiteLLM's mocked model: it is warned and ended."""

import asyncio

import litellm
from litellm.caching.caching import DualCache
from litellm.proxy._types import ProxyException, UserAPIKeyAuth
from litellm.proxy.utils import ProxyLogging

from wheelspin.adapters.litellm import WheelspinCallback

CALL = {"type": "function", "function": {"name": "read", "arguments": '{"path": "/a"}'}}


def show(event):
    """Print an event of the guard; the agent has already run the call."""
    if event.kind != "abort":
        print("warned:" if event.kind == "warning" else "would be blocked:", event.reason)


async def agent():
    """Call a model that asks for the same file forever; the callback sees each request as it does in a proxy."""
    litellm.callbacks = [WheelspinCallback(listeners=[show])]
    proxy = ProxyLogging(user_api_key_cache=DualCache())
    messages = [{"role": "user", "content": "Read /a."}]
    for number in range(1, 50):
        body = {"model": "openai/any", "messages": list(messages)}
        body = await proxy.pre_call_hook(user_api_key_dict=UserAPIKeyAuth(), data=body, call_type="acompletion")
        call = {**CALL, "id": f"call_{number}"}
        answer = await litellm.acompletion(**body, mock_response="reading", mock_tool_calls=[call])
        messages.append(answer.choices[0].message.model_dump())
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": "text of /a"})


try:
    asyncio.run(agent())
except ProxyException as ended:
    print("ended:", ended.message)
    print(ended.to_dict())
