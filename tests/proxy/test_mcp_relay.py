"""The relay between an MCP client and an MCP server: what it forwards, where it warns, and what it blocks."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from wheelspin import Guard, Settings
from wheelspin.proxy.mcp_relay import RUN_IDLE_TIMEOUT, GuardedSessions, Relay

KEYS = some.sampled_from(
    [
        *("name", "arguments", "content", "structuredContent", "isError", "resultType", "_meta", "text"),
        *("tools", "outputSchema", "type", "properties", "requestState", "task"),
    ]
)
JSON = some.recursive(
    some.none() | some.booleans() | some.integers(-5, 5) | some.sampled_from(["", "object", "string", "complete"]),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


class Session:
    """A client and a server, with a relay between them."""

    def __init__(self, guard: Guard | None = None, session: str = "s1") -> None:
        self.guard = guard or Guard()
        self.time = 0.0
        self.relay = Relay(GuardedSessions(self.guard, lambda: self.time), session)
        self.number = 0
        self.ran = 0

    def call(self, result: Any = None, tool: str = "read", **more: Any) -> dict[str, Any]:
        """Call a tool, and return the message that the client receives."""
        self.number += 1
        params = {"name": tool, "arguments": {"path": "/a"}, **more}
        reply = self.relay.from_client(_line(method="tools/call", id=self.number, params=params))
        if reply is None:
            self.ran += 1
            answer = result if isinstance(result, dict) else {"result": {"content": [_text(result or "text of /a")]}}
            reply = self.relay.from_server(_line(id=self.number, **answer))
        message: dict[str, Any] = json.loads(reply)
        return message

    def calls(self, times: int, result: Any = None) -> list[dict[str, Any]]:
        """Call a tool several times."""
        return [self.call(result) for _ in range(times)]


def _line(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode()


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def test_a_loop_is_warned_about_and_blocked() -> None:
    """Advice is a block of its own; a blocked call is answered with advice, flagged as an error, and never runs."""
    session = Session()
    answers = [answer["result"] for answer in session.calls(22)]

    assert all(answer == {"content": [_text("text of /a")]} for answer in answers[:10])
    first, advice = answers[10]["content"]
    assert first == _text("text of /a")
    assert advice["text"].startswith("Loop detected: `read` was called 10 times")
    assert answers[21]["isError"] is True
    assert answers[20]["content"][0]["text"].startswith("Loop detected: `read` was called 20 times")
    assert session.ran == 20
    record = session.guard.record()
    assert record is not None
    assert (record.session_id, record.warnings, record.blocks) == ("s1", 1, 2)


def test_since_2026_07_28_a_result_has_a_type() -> None:
    """Clients reject a result without one."""
    session = Session()
    for _ in range(21):
        answer = session.call(_meta={"io.modelcontextprotocol/protocolVersion": "2026-07-28"})["result"]

    assert (answer["isError"], answer["resultType"]) == (True, "complete")


def test_every_call_of_a_session_whose_run_has_ended_is_blocked() -> None:
    """MCP cannot end a run, so calls of other tools are answered with the reason as well."""
    session = Session()
    session.calls(35)
    answer = session.call(tool="list")

    assert answer["result"]["isError"] is True
    assert session.ran == 20


def test_a_long_idle_time_starts_a_new_run() -> None:
    """A session lasts as long as the client's process, but a loop does not pause."""
    session = Session()
    session.calls(35)
    session.time += RUN_IDLE_TIMEOUT / 2
    assert session.call()["result"].get("isError") is True
    session.time += RUN_IDLE_TIMEOUT + 1

    assert session.call()["result"].get("isError") is None
    assert [record.calls for record in session.guard.records()] == [1, 36]


def test_the_duration_of_a_call_is_not_idle_time() -> None:
    """Slow calls can loop, too."""
    session = Session()
    for number in range(11):
        session.relay.from_client(_line(method="tools/call", id=number, params={"name": "build", "arguments": {}}))
        session.time += RUN_IDLE_TIMEOUT + 1
        answer = session.relay.from_server(_line(id=number, result={"content": [_text("done")]}))

    assert b"Loop detected" in answer


def test_structured_content_gets_the_advice_too() -> None:
    """Some clients show the model nothing else; content that cannot hold advice is left out."""
    structured = {"content": [_text("{}")], "structuredContent": {"a": 1}}
    given: dict[str, Any] = {"result": structured}
    assert Session().calls(11, given)[9]["result"] == structured
    warned = Session().calls(11, given)[10]["result"]
    assert warned["structuredContent"]["wheelspin"] == warned["content"][1]["text"]
    assert warned["structuredContent"]["a"] == 1

    text = Session().calls(11, {"result": {"content": [], "structuredContent": "found"}})[10]["result"]
    assert text["structuredContent"].startswith("found\n\nLoop detected")
    rows = Session().calls(11, {"result": {"content": [], "structuredContent": [1]}})[10]["result"]
    assert "structuredContent" not in rows


def test_structured_content_is_part_of_the_outcome() -> None:
    """A result with the same text but other structured content is a new outcome."""
    session = Session()
    for number in range(25):
        answer = session.call({"result": {"content": [_text("ok")], "structuredContent": {"at": number}}})

        assert "isError" not in answer["result"]


def test_meta_is_not_part_of_the_outcome() -> None:
    """Ids and times in `_meta` do not make an outcome new."""
    session = Session()
    answers = [session.call({"result": {"content": [_text("ok")], "_meta": {"took": n}}}) for n in range(11)]

    assert "Loop detected" in json.dumps(answers[10])
    assert answers[10]["result"]["_meta"] == {"took": 10}


def test_advice_is_added_to_the_message_of_a_protocol_error() -> None:
    """The rest of the error is unchanged."""
    error = {"code": -32602, "message": "no", "data": 1}
    *before, warned = [answer["error"] for answer in Session().calls(11, {"error": error})]

    assert before == [error] * 10
    assert warned["message"].startswith("no\n\nLoop detected")
    assert (warned["code"], warned["data"]) == (-32602, 1)


def test_an_unknown_tool_is_recognised() -> None:
    """Servers report it as an error or in a result."""
    missing: list[dict[str, Any]] = [
        {"error": {"code": -32602, "message": "Tool read not found"}},
        {"result": {"content": [_text("Unknown tool: 'read'")], "isError": True}},
    ]
    for answer in missing:
        warned = Session().calls(11, answer)[10]["result"]["content"][0]["text"]

        assert "but there is no tool of that name" in warned


def test_a_call_that_is_cancelled_or_continues_as_a_task_has_no_outcome() -> None:
    """The call stays open."""
    session = Session()
    for number in range(25):
        call = {"name": "read", "arguments": {"at": number % 2}}
        session.relay.from_client(_line(method="tools/call", id=number, params=call))
        session.relay.from_client(_line(method="notifications/cancelled", params={"requestId": number}))
        late = _line(id=number, result={"content": [_text("same")]})
        assert session.relay.from_server(late) == late
    assert all("content" not in answer["result"] for answer in session.calls(25, {"result": {"task": {"taskId": "t"}}}))


def test_a_call_that_is_repeated_with_input_counts_once() -> None:
    """The first answer asks for the input and is not an outcome."""
    session = Session()
    for number in range(11):
        asks = {"result": {"resultType": "input_required", "inputRequests": {}, "requestState": f"s{number}"}}
        assert session.call(asks) == {"jsonrpc": "2.0", "id": session.number, **asks}
        answer = session.call(inputResponses={}, requestState=f"s{number}")
    record = session.guard.record()

    assert record is not None
    assert (record.calls, record.warnings) == (11, 1)
    assert "Loop detected" in json.dumps(answer)


def test_request_ids_of_different_types_are_different() -> None:
    """1 is not "1"."""
    session = Session()
    session.relay.from_client(_line(method="tools/call", id=1, params={"name": "read"}))
    session.relay.from_client(_line(method="tools/call", id="1", params={"name": "list"}))
    session.relay.from_server(_line(id="1", result={"content": []}))

    assert len(session.relay._open) == 1


def test_the_number_of_unanswered_calls_is_bounded() -> None:
    """A server that never answers does not use ever more memory."""
    session = Session()
    for number in range(2100):
        session.relay.from_client(_line(method="tools/call", id=number, params={"name": "read", "arguments": number}))

    assert len(session.relay._open) == 2000


def test_sessions_that_share_a_guard_are_independent() -> None:
    """A loop in one session does not cause a warning in another."""
    guard = Guard()
    for session in ("s1", "s2"):
        assert "Loop detected" not in json.dumps(Session(guard, session).calls(10))


def _listed(*schemas: Any, guard: Guard | None = None) -> list[dict[str, Any]]:
    tools = [{"name": "t", **({} if schema is None else {"outputSchema": schema})} for schema in schemas]
    session = Session(guard)
    session.relay.from_client(_line(method="tools/list", id=1))
    answer = json.loads(session.relay.from_server(_line(id=1, result={"tools": tools})))
    listed: list[dict[str, Any]] = answer["result"]["tools"]
    return listed


def test_output_schemas_allow_for_advice() -> None:
    """Clients reject results that do not match; a schema that cannot allow for advice is removed."""
    closed = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
    text, measured = {"type": "string"}, {"type": "string", "maxLength": 3}
    plain, wide, as_it_is, *without = _listed(None, closed, text, measured, {"type": "array"}, {"$ref": "#/$defs/a"})

    assert plain == {"name": "t"}
    assert wide["outputSchema"] == {**closed, "properties": {"wheelspin": {"type": "string"}, "a": {}}}
    assert as_it_is["outputSchema"] == text
    assert without == [{"name": "t"}] * 3


@pytest.mark.parametrize(
    "settings", [Settings(enabled=True, mode="observe"), Settings(enabled=False)], ids=["o", "off"]
)
def test_a_guard_that_only_observes_or_is_off_changes_nothing(settings: Settings) -> None:
    """Schemas and results are forwarded as they are."""
    schema = {"type": "array"}
    assert _listed(schema, guard=Guard(settings)) == [{"name": "t", "outputSchema": schema}]
    assert {len(answer["result"]["content"]) for answer in Session(Guard(settings)).calls(25)} == {1}


@pytest.mark.parametrize(
    "line",
    [
        b"not JSON, but tools",
        b'[{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read"}}]',
        b'{"jsonrpc": "2.0",  "id": 1, "method": "tools/call"}',
        b'{"jsonrpc": "2.0", "id": [], "method": "tools/call", "params": {"name": "read"}}',
        b'{"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "read"}}',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 7}',
        b'"tools"',
    ],
)
def test_a_line_that_is_not_understood_is_forwarded(line: bytes) -> None:
    """It is unchanged, byte for byte."""
    relay = Session().relay
    relay.from_client(_line(method="tools/call", id=2, params={"name": "read"}))

    assert relay.from_client(line) is None
    assert relay.from_server(line) is line


@given(JSON, JSON)
def test_no_message_makes_the_relay_raise(params: Any, result: Any) -> None:
    """Whatever a message holds, and answers without a loop are forwarded as they were sent."""
    relay = Session().relay
    for method in ("tools/call", "tools/list", "notifications/cancelled"):
        assert relay.from_client(_line(method=method, id=method, params=params)) is None
        answer = _line(id=method, result=result)
        forwarded = relay.from_server(answer)
        assert method == "tools/list" or forwarded == answer


def test_a_guard_that_crashes_lets_every_call_through(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeated calls with input go through as well."""
    session = Session()
    monkeypatch.setattr(Guard, "strict", False)
    for name in ("_before", "_after", "_asked"):
        monkeypatch.setattr(session.guard, name, lambda *_: 1 / 0)

    assert "Loop detected" not in json.dumps(session.calls(40))
    assert "Loop detected" not in json.dumps([session.call(requestState="s") for _ in range(40)])
    assert session.ran == 80
