"""The middleware for FastMCP servers, and the proxy with real MCP servers and clients."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import socket
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client, FastMCP
from fastmcp.client.transports import StdioTransport
from fastmcp.exceptions import ToolError
from fastmcp.server.middleware import Middleware
from mcp import ClientSession
from mcp.client.stdio import stdio_client

from tests.frameworks.guards import crashing_guard
from tests.frameworks.pages import run_example, run_page
from tests.frameworks.players.mcp import PROXY, SERVER, cost, parameters, play, play_through_the_proxy, text_of
from tests.frameworks.players.mcp_server import server_of
from tests.frameworks.players.mcp_tour import WAYS, direct, served, tour, way
from wheelspin import Guard
from wheelspin.adapters.mcp import WheelspinMiddleware
from wheelspin.testing import ScriptedCall, check_adapter

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning", "ignore:The .* capability")
ERAS = ("legacy", "auto")


def test_a_server_does_what_the_guard_alone_decides() -> None:
    """MCP cannot end a run, so every call after the end is blocked."""
    check_adapter(play)


def test_a_server_behind_the_proxy_does_what_the_guard_alone_decides() -> None:
    """With a client of the SDK, over stdio."""
    check_adapter(play_through_the_proxy)


def _served(guard: Guard | None = None, **options: Any) -> FastMCP:
    return server_of([], lambda _: None, middleware=[WheelspinMiddleware(guard, **options)])


async def _calls(client: Any, times: int, tool: str = "read", **given: Any) -> list[Any]:
    given = given or {"path": "/a"} if tool == "read" else given
    return [await client.call_tool(tool, given, raise_on_error=False) for _ in range(times)]


@pytest.mark.parametrize("era", ERAS)
def test_results_with_a_schema_get_the_advice_where_clients_look(era: Any) -> None:
    """Clients validate it; a result without advice is exactly as the server made it."""

    async def run(server: FastMCP) -> list[Any]:
        async with Client(server, mode=era) as client:
            await client.list_tools()
            return [
                [(text_of(one), one.structured_content) for one in await _calls(client, 11, tool, **given)]
                for tool, given in (("add", {"first": 1, "second": 2}), ("rows", {}), ("read", {}))
            ]

    bare = asyncio.run(run(server_of([], lambda _: None)))
    sums, rows, texts = asyncio.run(run(_served()))
    assert [sums[:10], rows[:10], texts[:10]] == [one[:10] for one in bare]
    assert sums[10][1] == {"wheelspin": sums[10][0].splitlines()[-1], "sum": 3}
    assert rows[10][0].startswith(f"{rows[9][0]}\nLoop detected")
    assert (rows[10][1]["result"], texts[10][1]["result"]) == ([1, 2], "text of /a")
    assert "Loop detected" in texts[10][1]["wheelspin"]


def test_each_session_is_its_own_and_the_record_names_it() -> None:
    """One middleware serves all sessions."""
    guard = Guard()
    server = _served(guard)

    async def run() -> list[Any]:
        async with Client(server, mode="legacy") as one, Client(server, mode="legacy") as two:
            return [await _calls(client, 10) for client in (one, two)]

    assert "Loop detected" not in str(asyncio.run(run()))
    records = guard.records()
    assert [(record.calls, record.warnings) for record in records] == [(10, 0), (10, 0)]
    assert len({record.session_id for record in records}) == 2


@pytest.mark.parametrize("era", ERAS)
def test_parallel_calls_are_watched_each(era: Any) -> None:
    """Each call gets its own result."""
    guard = Guard()

    async def run() -> list[str]:
        async with Client(_served(guard), mode=era) as client:
            calls = [client.call_tool("read", {"path": f"/{number}"}) for number in range(20)]
            return [text_of(result) for result in await asyncio.gather(*calls)]

    assert asyncio.run(run()) == [f"text of /{number}" for number in range(20)]
    record = guard.record()
    assert record is not None
    assert (record.calls, record.warnings) == (20, 0)


def test_an_exception_of_a_tool_passes_unchanged() -> None:
    """Other middleware sees the exception; if the call is warned about, FastMCP's result also contains the advice."""
    caught: list[Exception] = []
    guard = Guard()

    class Outer(Middleware):
        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            try:
                return await call_next(context)
            except Exception as error:
                caught.append(error)
                raise

    script = [[ScriptedCall("c1", "read", "/a", "no such file", fails=True)]]
    server = server_of(script, lambda _: None, middleware=[Outer(), WheelspinMiddleware(guard)])

    async def run() -> list[Any]:
        async with Client(server) as client:
            return await _calls(client, 11)

    results = asyncio.run(run())
    first, *_, last = caught
    assert str(first) == "Error calling tool 'read': no such file"
    assert isinstance(last, ToolError)
    assert str(last.__cause__) == str(first)
    assert text_of(results[-1]).startswith(f"{first}\n\nLoop detected")
    record = guard.record()
    assert record is not None
    assert record.calls == 11


def test_a_call_that_asks_the_user_first_counts_once() -> None:
    """The client repeats the call with the user's answer."""
    guard = Guard()

    async def agreed(*_: Any) -> dict[str, str]:
        return {"name": "Ada"}

    async def run() -> list[Any]:
        async with Client(_served(guard), mode="auto", elicitation_handler=agreed) as client:
            return await _calls(client, 11, "confirm")

    texts = [text_of(result) for result in asyncio.run(run())]
    record = guard.record()
    assert record is not None
    assert (record.calls, record.warnings) == (11, 1)
    assert texts[:10] == ["confirmed"] * 10
    assert "Loop detected" in texts[10]


def test_a_cancelled_call_has_no_outcome() -> None:
    """The cancellation passes through unchanged."""
    guard = Guard()

    async def run() -> None:
        async with Client(_served(guard), mode="legacy") as client:
            for _ in range(3):
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(client.call_tool("wait"), 0.2)

    asyncio.run(run())
    record = guard.record()
    assert record is not None
    assert (record.calls, record.warnings, record.blocks) == (3, 0, 0)


@pytest.mark.parametrize("era", ERAS)
def test_a_guard_that_crashes_breaks_no_server(era: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """All calls still run, even if the `session` function crashes."""
    guard = crashing_guard(monkeypatch)

    async def run(server: FastMCP) -> list[Any]:
        async with Client(server, mode=era) as client:
            return await _calls(client, 25)

    for server in (_served(guard), _served(session=lambda _: 1 / 0)):
        assert [text_of(result) for result in asyncio.run(run(server))] == ["text of /a"] * 25


@pytest.mark.parametrize(
    ("era", "session", "user", "warned"),
    [("legacy", None, None, 1), ("auto", None, None, 0), ("auto", "s1", None, 1), ("auto", None, "ada", 1)],
)
def test_over_http_calls_without_a_session_are_guarded_if_one_is_given(
    era: Any, session: Any, user: Any, warned: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Since 2026-07-28 the protocol has no sessions, and anonymous clients cannot be distinguished."""
    monkeypatch.setattr("wheelspin.adapters.mcp.current_principal", lambda: user)
    guard = Guard()
    server = _served(guard, session=(lambda _: session) if session else None)

    async def run() -> list[Any]:
        task = asyncio.create_task(server.run_async("http", show_banner=False, port=0, sockets=[listener]))
        async with Client(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", mode=era) as client:
            results = await _calls(client, 11)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return results

    with socket.create_server(("127.0.0.1", 0)) as listener:
        results = asyncio.run(run())
    assert sum("Loop detected" in text_of(result) for result in results) == warned
    names = [record.session_id for record in guard.records()]
    assert len(names) == warned
    assert era == "legacy" or names == [name for name in (session, user) if name]


@pytest.mark.parametrize("name", WAYS)
def test_all_else_passes_through_the_proxy_as_it_is(name: str, tmp_path: Path) -> None:
    """Resources, prompts, sampling, elicitation, progress, logs, notifications, cancellation and all results."""
    ran = tmp_path / "script.ran"

    async def run(opened: Any) -> dict[str, Any]:
        async with opened as streams:
            return await tour(streams, ran)

    bare = asyncio.run(run(direct(name, tmp_path)))
    ran.unlink()
    through = asyncio.run(run(way(name, tmp_path)))
    assert through.pop("tools") == _with_room(bare.pop("tools"))
    assert through == bare
    assert len(bare["seen"]) == 5


def _with_room(tools: dict[str, Any]) -> dict[str, Any]:
    """Return the tools as the proxy lists them, with output schemas that allow for advice."""
    given = copy.deepcopy(tools)
    for tool in given["tools"]:
        if "outputSchema" in tool:
            properties = tool["outputSchema"].setdefault("properties", {})
            properties["wheelspin"] = {"type": "string"}
    return given


def test_the_servers_environment_is_that_of_the_proxy(tmp_path: Path) -> None:
    """Clients pass API keys in it."""

    async def run() -> str:
        async with way("stdio to a program", tmp_path) as streams, ClientSession(*streams) as client:
            await client.initialize()
            return text_of(await client.call_tool("variable", {"name": "KEY"}))

    assert asyncio.run(run()) == "given"


@pytest.mark.parametrize("era", ERAS)
def test_clients_of_fastmcp_are_guarded_in_either_era(era: Any) -> None:
    """This is through the proxy, over stdio; results with advice pass the client's own validation."""
    words = parameters([*PROXY, "--", *SERVER])
    transport = StdioTransport(words.command, words.args, env=words.env, cwd=str(words.cwd), keep_alive=False)

    async def run() -> list[Any]:
        async with Client(transport, mode=era) as client:
            await client.list_tools()
            return await _calls(client, 21, "add", first=1, second=2)

    results = asyncio.run(run())
    assert results[0].structured_content == {"sum": 3}
    assert "Loop detected" in results[10].structured_content["wheelspin"]
    assert results[20].is_error


@pytest.mark.parametrize("era", ERAS)
def test_over_http_each_session_has_a_server_of_its_own(era: Any, tmp_path: Path) -> None:
    """Clients negotiate a version that has sessions; after a crash of the server, the next session works."""
    with served([*PROXY, "--http", "0", "--", *SERVER], tmp_path) as url:

        async def run() -> list[Any]:
            async with Client(url, mode=era) as one, Client(url, mode=era) as two:
                results = [await _calls(client, 10) for client in (one, two)]
                with pytest.raises(Exception, match=r"ended|closed|terminated"):
                    await two.call_tool("crash")
                results.append(await _calls(one, 2))
            async with Client(url, mode=era) as three:
                return [*results, await _calls(three, 1)]

        one, two, more, three = asyncio.run(run())
    assert "Loop detected" not in str([one, two, three])
    assert "Loop detected" in text_of(more[0])
    assert "exited with code 7" in (tmp_path / "proxy.log").read_text()


def test_a_url_that_cannot_be_reached_is_reported() -> None:
    """The client receives an error for each request."""

    async def run() -> None:
        command = [*PROXY, "--url", "http://127.0.0.1:1/mcp"]
        async with stdio_client(parameters(command)) as streams, ClientSession(*streams) as client:
            await client.initialize()

    with pytest.raises(Exception, match=r"wheelspin: the server at http://127.0.0.1:1/mcp cannot be reached") as failed:
        _unwrapped(lambda: asyncio.run(run()))
    assert "Traceback" not in str(failed.value)


def _unwrapped(work: Callable[[], Any]) -> None:
    """Raise the first exception of a group."""
    try:
        work()
    except BaseException as error:
        inner: BaseException = error
        while isinstance(inner, BaseExceptionGroup):
            inner = inner.exceptions[0]
        raise inner from None


def test_pages_of_other_origins_are_refused(tmp_path: Path) -> None:
    """A web page must not reach a server on loopback."""
    import httpx2

    with served([*PROXY, "--http", "0", "--", *SERVER], tmp_path) as url:
        given = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
        for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
            kinds = {"Accept": "application/json, text/event-stream"}
            assert httpx2.post(url, json=given, headers={**kinds, **headers}).status_code in {403, 421}
        assert httpx2.post(url.replace("/mcp", "/other"), json=given).status_code == 404
        assert httpx2.post(url, json=given, headers={"Mcp-Session-Id": "none"}).status_code == 404


def test_what_the_proxy_adds_to_a_call_is_little() -> None:
    """This compares medians, with both servers running at once."""
    assert cost().added <= 6


def test_the_page_and_the_example_work() -> None:
    """The example shows a warning, a block and the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run_page("mcp")["server"]
    out = run_example("mcp_server")
    assert [word for word in ("warned", "blocked", "ended") if word in out] == ["warned", "blocked", "ended"]
