"""The adapter for LiteLLM's proxy, with the real proxy."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import litellm
import orjson
import pytest
from litellm.proxy._types import ProxyException
from litellm.proxy.types_utils.utils import get_instance_fn

import wheelspin.adapters.litellm as adapter
from tests.agents.scripted_model import ScriptedModel
from tests.frameworks.pages import run_example, run_page
from tests.frameworks.players.litellm import CALL_TYPES, hooked, play, play_in
from tests.shapes import SHAPES, Call, Shape
from wheelspin import Guard, LoopEvent, Outcome, Settings, ToolCall
from wheelspin.adapters.litellm import WheelspinCallback
from wheelspin.errors import ConfigError, ToolLoopError
from wheelspin.testing import check_adapter
from wheelspin.testing.adapters import SCRIPTS

pytestmark = pytest.mark.filterwarnings("ignore:.* using the `ReadOnly` qualifier:UserWarning")
"""LiteLLM's own types, as it loads them."""
EVERY = pytest.mark.parametrize("shape", SHAPES, ids=[shape.name for shape in SHAPES])
WITH_BLOCKS = [
    "a blocked loop",
    "an aborted loop",
    "a blocked loop, then another call",
    "two alternating calls",
    "two parallel calls",
    "an unknown tool",
]
ARGUMENT, RESULT = "/home/sam/secret-argument", "secret-result"
SECONDS = 180


def test_an_agent_behind_the_proxy_gets_the_advice_of_the_guard_alone() -> None:
    """This covers scripts without a block, because the agent runs a call before the proxy sees its result."""
    check_adapter(play, without=WITH_BLOCKS)


@EVERY
@pytest.mark.parametrize("name", SCRIPTS)
def test_each_script_gives_what_a_guard_that_observes_says(shape: Shape, name: str) -> None:
    """Calls it would have blocked get advice with their result, and the run ends at the same call."""
    guard = Guard(Settings(enabled=True, mode="observe"))
    due, ended, script = {}, None, SCRIPTS[name]
    for number, message in enumerate(script if ended is None else []):
        calls = [
            ToolCall(call.tool, {"path": call.path}, id=call.id, turn_id=f"m{number}", run_id="run") for call in message
        ]
        verdicts = {call.id: guard.before(tool_call) for call, tool_call in zip(message, calls, strict=True)}
        for call, tool_call in zip(message, calls, strict=True):
            is_error = shape.marks_errors and call.fails
            result = Outcome.error(call.result) if is_error else Outcome.result(call.result)
            guard.after(tool_call, result if call.exists else Outcome.unknown_tool("none"))
        ended = ended or next((verdict.code for verdict in verdicts.values() if verdict.due == "abort"), None)
        if ended is None:
            due |= {call_id: verdict for call_id, verdict in verdicts.items() if verdict.due != "allow"}
    run = play_in(shape, script, Guard())

    assert run.ended == ended
    assert {call_id for call_id, texts in run.shown.items() if "Loop detected" in texts[0]} == due.keys()
    assert all(len(texts) == 1 for texts in run.shown.values())


def _loop(shape: Shape, times: int) -> dict[str, Any]:
    steps = [shape.step(Call(f"c{number}", "read", {"path": ARGUMENT}, RESULT)) for number in range(times)]
    return {"model": "m", shape.key: [*shape.prompt("go"), *(entry for step in steps for entry in step)]}


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[LoopEvent]:
    """Register a callback in LiteLLM, and return the events it reports."""
    seen: list[LoopEvent] = []
    monkeypatch.setattr(litellm, "callbacks", [WheelspinCallback(listeners=[seen.append])])
    return seen


@EVERY
def test_the_end_of_a_run_is_an_error_with_the_reason(shape: Shape, events: list[LoopEvent]) -> None:
    """Its cause is the error that other adapters raise."""
    with pytest.raises(ProxyException, match="A new user message starts a new run") as refused:
        asyncio.run(hooked(_loop(shape, 31), CALL_TYPES[shape.name]))

    assert (refused.value.code, refused.value.type) == ("400", "tool_loop")
    assert isinstance(refused.value.__cause__, ToolLoopError)
    assert refused.value.__cause__.code == "global_circuit_breaker"
    assert [event.kind for event in events] == ["abort"]


def test_a_conversation_of_an_ended_run_may_be_shortened(events: list[LoopEvent]) -> None:
    """A request to compact does not belong to the run."""
    body = _loop(SHAPES[2], 31)

    assert "Loop detected" in str(asyncio.run(hooked(body, "acompact_responses")))


def test_events_name_the_session_of_litellm(events: list[LoopEvent]) -> None:
    """They also contain the call."""
    asyncio.run(hooked({**_loop(SHAPES[0], 11), "litellm_session_id": "s1"}))

    assert [(event.kind, event.session_id, event.call_id) for event in events] == [("warning", "s1", "c10")]


def test_requests_without_a_conversation_are_left_alone(events: list[LoopEvent]) -> None:
    """Requests for embeddings, for example, have an input but no conversation."""
    body = {"model": "m", "input": ["a", "b"]}

    assert asyncio.run(hooked(dict(body), "aembedding")) == body


def test_a_subclass_is_called_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """LiteLLM itself does not call inherited hooks."""

    class Mine(WheelspinCallback):
        """A subclass with a method of its own."""

    monkeypatch.setattr(litellm, "callbacks", [Mine()])

    assert "Loop detected" in str(asyncio.run(hooked(_loop(SHAPES[0], 11))))


def test_a_crash_breaks_no_request_and_tells_no_text(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, events: list[LoopEvent]
) -> None:
    """The request is forwarded unchanged."""

    def crash(*_: object, **__: object) -> None:
        raise RuntimeError(RESULT)

    monkeypatch.setattr(adapter, "advise", crash)
    body = _loop(SHAPES[0], 31)
    with caplog.at_level(logging.INFO, "wheelspin"):
        assert asyncio.run(hooked(dict(body))) == body

    assert [event.kind for event in events] == ["crash"]
    assert "RuntimeError" in caplog.text
    assert RESULT not in caplog.text


def test_a_listener_that_crashes_breaks_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """The advice is added regardless."""
    monkeypatch.setattr(litellm, "callbacks", [WheelspinCallback(listeners=[lambda _: 1 / 0])])

    assert "Loop detected" in str(asyncio.run(hooked(_loop(SHAPES[0], 11))))


def test_logs_hold_no_arguments_and_no_results(caplog: pytest.LogCaptureFixture, events: list[LoopEvent]) -> None:
    """Each event is logged once, with the request in which it is new."""
    with caplog.at_level(logging.DEBUG, "wheelspin"):
        for times in range(1, 31):
            asyncio.run(hooked(_loop(SHAPES[0], times)))

    ours = [record.getMessage() for record in caplog.records if record.name.startswith("wheelspin")]
    assert len(ours) == 11
    assert ARGUMENT not in "".join(ours)
    assert RESULT not in "".join(ours)


def _config(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "wheelspin.json5"
    path.write_text(text)
    monkeypatch.setenv("WHEELSPIN_CONFIG", str(path))
    monkeypatch.setenv("XDG_STATE_HOME", str(folder))
    monkeypatch.delitem(vars(adapter), "guard", raising=False)


def test_the_guard_that_is_named_in_the_configuration_has_the_users_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is enabled by default, and the block of the agent `litellm` applies to it."""
    block = "tools: { loopDetection: { warningThreshold: 4 } }"
    _config(tmp_path, f"{{ agents: {{ entries: {{ litellm: {{ {block} }} }} }} }}", monkeypatch)
    guard = get_instance_fn("wheelspin.adapters.litellm.guard", str(tmp_path / "config.yaml"))

    assert isinstance(guard, WheelspinCallback)
    assert (guard.settings.enabled, guard.settings.warning_threshold) == (True, 4)
    assert get_instance_fn("wheelspin.adapters.litellm.guard") is guard


def test_faults_of_the_users_settings_show_as_the_proxy_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A callback with its own settings does not read them."""
    _config(tmp_path, "{ tools: { loopDetection: { warningThreshold: 'many' } } }", monkeypatch)

    with pytest.raises(ConfigError, match="warningThreshold"):
        get_instance_fn("wheelspin.adapters.litellm.guard")
    assert WheelspinCallback().settings.warning_threshold == 10
    with pytest.raises(AttributeError, match="no attribute 'guards'"):
        _ = adapter.guards


class Proxy(NamedTuple):
    """A running proxy."""

    client: httpx.Client
    model: ScriptedModel
    log: Path

    def ask(self, shape: Shape, path: str, entries: list[dict[str, Any]], *, stream: bool) -> httpx.Response:
        """Send a request as an agent does."""
        schema = {"type": "object", "properties": {"path": {"type": "string"}}}
        tool: dict[str, Any] = {"name": "read", "description": "Read a file."}
        body: dict[str, Any] = {"model": "chat", "stream": stream, shape.key: entries}
        if shape.marks_errors:
            body |= {"model": "claude-scripted", "max_tokens": 100, "tools": [{**tool, "input_schema": schema}]}
        elif shape.key == "input":
            body["tools"] = [{"type": "function", **tool, "parameters": schema}]
        else:
            body["tools"] = [{"type": "function", "function": {**tool, "parameters": schema}}]
        return self.client.post(path, json=body, headers={"anthropic-version": "2023-06-01"})


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    """Run a proxy in front of a scripted model that asks for one file forever; it takes a while to start."""
    home, key = tmp_path_factory.mktemp("proxy"), f"sk-{secrets.token_hex(16)}"
    settings = "{ warningThreshold: 3, criticalThreshold: 5, globalCircuitBreakerThreshold: 7 }"
    (home / "wheelspin.json5").write_text(f"{{ tools: {{ loopDetection: {settings} }} }}")
    with ScriptedModel(lambda _: [("read", {"path": ARGUMENT})]) as model:
        ways = {
            "chat": {"model": "openai/scripted", "api_base": f"{model.url}/v1", "api_key": "none"},
            "claude-scripted": {"model": "anthropic/claude-scripted", "api_base": model.url, "api_key": "none"},
        }
        models = [{"model_name": name, "litellm_params": params} for name, params in ways.items()]
        config = {"model_list": models, "litellm_settings": {"callbacks": "wheelspin.adapters.litellm.guard"}}
        (home / "config.yaml").write_bytes(orjson.dumps(config))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        ours = {
            "HOME": str(home),
            "LITELLM_MASTER_KEY": key,
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
            "NO_PROXY": "127.0.0.1",
            "ANTHROPIC_API_BASE": model.url,
            "ANTHROPIC_API_KEY": "none",
            "WHEELSPIN_CONFIG": str(home / "wheelspin.json5"),
        }
        command = [str(Path(sys.executable).parent / "litellm"), "--config", "config.yaml"]
        command += ["--host", "127.0.0.1", "--port", str(port)]
        log = home / "log"
        with log.open("w") as out:
            process = subprocess.Popen(  # noqa: S603 - the proxy under test
                command, env={**os.environ, **ours}, cwd=home, stdout=out, stderr=subprocess.STDOUT
            )
        try:
            address, headers = f"http://127.0.0.1:{port}", {"Authorization": f"Bearer {key}", "x-api-key": key}
            with httpx.Client(base_url=address, headers=headers, timeout=SECONDS, trust_env=False) as client:
                _wait(client, process, log)
                yield Proxy(client, model, log)
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(client: httpx.Client, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            if client.get("/health/liveliness", timeout=5).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.2)
    pytest.fail(f"the proxy did not start:\n{log.read_text()[-2000:]}")


def _calls(shape: Shape, answer: httpx.Response, *, stream: bool) -> list[Call]:
    """Return the calls in an answer."""
    found: list[tuple[str, str]] = []
    if not stream:
        whole = answer.json()
        items = (
            whole["choices"][0]["message"]["tool_calls"]
            if "choices" in whole
            else whole.get("content", whole.get("output"))
        )
        found = [(part.get("call_id") or part["id"], part.get("name") or part["function"]["name"]) for part in items]
        return [Call(call_id, name, {"path": ARGUMENT}, RESULT) for call_id, name in found]
    for line in answer.text.splitlines():
        event = orjson.loads(line[6:]) if line.startswith("data: {") else {}
        deltas = [choice["delta"] for choice in event.get("choices", ())]
        found += [(call["id"], call["function"]["name"]) for delta in deltas for call in delta.get("tool_calls") or ()]
        if event.get("type") == "content_block_start":
            found.append((event["content_block"]["id"], event["content_block"]["name"]))
        if event.get("type") == "response.completed":
            found += [(item["call_id"], item["name"]) for item in event["response"]["output"]]
    return [Call(call_id, name, {"path": ARGUMENT}, RESULT) for call_id, name in found]


ROUTES = [
    (SHAPES[0], "/v1/chat/completions"),
    (SHAPES[1], "/v1/messages"),
    (SHAPES[1], "/anthropic/v1/messages"),
    (SHAPES[2], "/v1/responses"),
]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize(("shape", "path"), ROUTES, ids=[path for _, path in ROUTES])
def test_a_looping_agent_is_warned_then_advised_then_ended(proxy: Proxy, shape: Shape, path: str, stream: bool) -> None:
    """Each request that reaches the provider extends the previous one."""
    proxy.model.requests.clear()
    entries = shape.prompt("go")
    answer = proxy.ask(shape, path, entries, stream=stream)
    for _ in range(20):
        if not answer.is_success:
            break
        calls = _calls(shape, answer, stream=stream)
        assert len(calls) == 1
        entries += shape.step(*calls)
        answer = proxy.ask(shape, path, entries, stream=stream)

    error = answer.json()["error"]
    assert answer.status_code == 400
    assert error["message"].startswith("wheelspin: `read` was called 7 times with the same arguments")
    assert error["provider_specific_fields"]["wheelspin"]["code"] == "global_circuit_breaker"
    advised = ["Loop detected" in shown.text for shown in proxy.model.shown()]
    assert advised == [False] * 3 + [True, False, True, True]
    assert all(shown.text.startswith(RESULT) for shown in proxy.model.shown())
    sent = [request[shape.key] for request in proxy.model.requests]
    assert len(sent) == 8
    assert all(later[: len(earlier)] == earlier for earlier, later in itertools.pairwise(sent))
    again = proxy.ask(shape, path, [*entries, *shape.prompt("go on")], stream=stream)
    assert again.is_success


def test_conversations_do_not_see_each_other(proxy: Proxy) -> None:
    """No state is kept between requests."""
    shape, path = ROUTES[0]
    for number in range(10):
        entries = [*shape.prompt("go"), *shape.step(Call(f"c{number}", "read", {"path": ARGUMENT}, RESULT))]
        assert proxy.ask(shape, path, entries, stream=False).is_success
        assert "Loop detected" not in proxy.model.heard()


def test_the_log_of_the_proxy_holds_no_arguments_and_no_results(proxy: Proxy) -> None:
    """It holds only the findings."""
    shape, path = ROUTES[0]
    entries = _loop(shape, 9)[shape.key]
    assert proxy.ask(shape, path, entries, stream=False).status_code == 400
    log = proxy.log.read_text()

    assert "`read` was called" in log
    assert ARGUMENT not in log
    assert RESULT not in log


def test_the_page_and_the_example_work() -> None:
    """The example shows a warning, a call that would be blocked, and the end."""
    assert run_page("litellm")["mine"]
    out = run_example("litellm_agent")
    assert [word for word in ("warned", "blocked", "ended") if word in out] == ["warned", "blocked", "ended"]
