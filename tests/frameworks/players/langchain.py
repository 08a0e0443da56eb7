"""Play a script in a LangChain agent, with LangChain's own scripted model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from wheelspin import Guard
from wheelspin.adapters.langchain import WheelspinMiddleware, guard_tools
from wheelspin.errors import ToolLoopError
from wheelspin.testing import AdapterRun, Script, ScriptedTool

__all__ = ["Model", "messages_of", "play", "play_in_a_graph", "tools_of"]


class Model(GenericFakeChatModel):
    """LangChain's scripted model, accepting any tools."""

    def bind_tools(self, tools: Any, **_: Any) -> Model:
        return self


def messages_of(script: Script) -> Iterator[BaseMessage]:
    """Yield the model's messages."""
    for number, message in enumerate(script):
        calls = [{"name": call.tool, "args": {"path": call.path}, "id": call.id} for call in message]
        yield AIMessage("", tool_calls=calls, id=f"m{number}")
    yield AIMessage("done")


def tools_of(script: Script, ran: list[str]) -> list[Any]:
    """Return the tools of a script."""
    run = ScriptedTool(script, ran)

    @tool
    def read(path: str) -> str:
        """Read a file."""
        return run(path)

    @tool("list")
    def list_(path: str) -> str:
        """List a folder."""
        return run(path)

    return [read, list_]


def play(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script in an agent made with `create_agent`."""
    ran: list[str] = []
    seen: list[Sequence[Any]] = []
    middleware = [] if guard is None else [WheelspinMiddleware(guard)]
    agent = create_agent(Model(messages=messages_of(script)), tools_of(script, ran), middleware=middleware)
    return _run(agent, ran, seen)


def play_in_a_graph(script: Script, guard: Guard | None) -> AdapterRun:
    """Play a script in a graph with a plain `ToolNode` that turns all errors into results."""
    ran: list[str] = []
    model = Model(messages=messages_of(script))
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    wrappers: dict[str, Callable[..., Any]] = {} if guard is None else guard_tools(guard)
    graph.add_node("tools", ToolNode(tools_of(script, ran), handle_tool_errors=True, **wrappers))
    graph.set_entry_point("model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return _run(graph.compile(), ran, [])


def _run(agent: Any, ran: list[str], seen: list[Sequence[Any]]) -> AdapterRun:
    ended = None
    # One at a time, else it is chance which of the calls of a message is asked about first.
    config = {"recursion_limit": 400, "max_concurrency": 1}
    steps = agent.stream({"messages": [("user", "go")]}, config, stream_mode="values")
    try:
        seen.extend(state["messages"] for state in steps)
    except ToolLoopError as error:
        ended = error.code
    shown: dict[str, list[str]] = {}
    for message in seen[-1]:
        if isinstance(message, ToolMessage):
            shown.setdefault(message.tool_call_id, []).append(str(message.content))
    return AdapterRun(ran, shown, ended)
