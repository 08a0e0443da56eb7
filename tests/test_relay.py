"""What stands between a client and a server of MCP: what passes as it is, what is told, what is stopped."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from wheelspin import Guard, Settings
from wheelspin.proxy.mcp_relay import QUIET, Calls, Relay

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


class Talk:
    """A client and a server with a relay between them."""

    def __init__(self, guard: Guard | None = None, session: str = "s1") -> None:
        self.guard = guard or Guard()
        self.time = 0.0
        self.relay = Relay(Calls(self.guard, lambda: self.time), session)
        self.number = 0
        self.ran = 0

    def call(self, result: Any = None, tool: str = "read", **more: Any) -> dict[str, Any]:
        """Call a tool, and give the message that the client gets."""
        self.number += 1
        params = {"name": tool, "arguments": {"path": "/a"}, **more}
        reply = self.relay.asked(_line(method="tools/call", id=self.number, params=params))
        if reply is None:
            self.ran += 1
            answer = result if isinstance(result, dict) else {"result": {"content": [_text(result or "text of /a")]}}
            reply = self.relay.answered(_line(id=self.number, **answer))
        message: dict[str, Any] = json.loads(reply)
        return message

    def calls(self, times: int, result: Any = None) -> list[dict[str, Any]]:
        """Call it so many times."""
        return [self.call(result) for _ in range(times)]


def _line(**fields: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **fields}).encode()


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def test_a_loop_is_warned_about_and_blocked() -> None:
    """The advice is a block of its own; a blocked call is answered with it as an error, and never runs."""
    talk = Talk()
    answers = [answer["result"] for answer in talk.calls(22)]

    assert all(answer == {"content": [_text("text of /a")]} for answer in answers[:10])
    first, advice = answers[10]["content"]
    assert first == _text("text of /a")
    assert advice["text"].startswith("Loop detected: `read` was called 10 times")
    assert answers[21]["isError"] is True
    assert answers[20]["content"][0]["text"].startswith("Loop detected: `read` was called 20 times")
    assert talk.ran == 20
    record = talk.guard.record()
    assert record is not None
    assert (record.session_id, record.warnings, record.blocks) == ("s1", 1, 2)


def test_since_2026_07_28_a_result_says_its_type() -> None:
    """Clients refuse one that does not."""
    talk = Talk()
    for _ in range(21):
        answer = talk.call(_meta={"io.modelcontextprotocol/protocolVersion": "2026-07-28"})["result"]

    assert (answer["isError"], answer["resultType"]) == (True, "complete")


def test_a_session_whose_run_was_ended_is_refused_all() -> None:
    """MCP cannot end a run; another tool, too, is answered with the reason."""
    talk = Talk()
    talk.calls(35)
    answer = talk.call(tool="list")

    assert answer["result"]["isError"] is True
    assert talk.ran == 20


def test_a_long_quiet_time_begins_a_new_run() -> None:
    """A session lasts as long as the client's program; a loop does not wait."""
    talk = Talk()
    talk.calls(35)
    talk.time += QUIET / 2
    assert talk.call()["result"].get("isError") is True
    talk.time += QUIET + 1

    assert talk.call()["result"].get("isError") is None
    assert [record.calls for record in talk.guard.records()] == [1, 36]


def test_the_time_that_a_call_takes_is_not_quiet() -> None:
    """What takes long may loop, too."""
    talk = Talk()
    for number in range(11):
        talk.relay.asked(_line(method="tools/call", id=number, params={"name": "build", "arguments": {}}))
        talk.time += QUIET + 1
        answer = talk.relay.answered(_line(id=number, result={"content": [_text("done")]}))

    assert b"Loop detected" in answer


def test_structured_content_gets_the_advice_too() -> None:
    """Some clients show nothing else to the model; what does not fit is left out."""
    structured = {"content": [_text("{}")], "structuredContent": {"a": 1}}
    given: dict[str, Any] = {"result": structured}
    assert Talk().calls(11, given)[9]["result"] == structured
    warned = Talk().calls(11, given)[10]["result"]
    assert warned["structuredContent"]["wheelspin"] == warned["content"][1]["text"]
    assert warned["structuredContent"]["a"] == 1

    text = Talk().calls(11, {"result": {"content": [], "structuredContent": "found"}})[10]["result"]
    assert text["structuredContent"].startswith("found\n\nLoop detected")
    rows = Talk().calls(11, {"result": {"content": [], "structuredContent": [1]}})[10]["result"]
    assert "structuredContent" not in rows


def test_structured_content_counts() -> None:
    """A text that stays the same may stand beside news."""
    talk = Talk()
    for number in range(25):
        answer = talk.call({"result": {"content": [_text("ok")], "structuredContent": {"at": number}}})

        assert "isError" not in answer["result"]


def test_what_is_under_meta_does_not_count() -> None:
    """Ids and times are no news."""
    talk = Talk()
    answers = [talk.call({"result": {"content": [_text("ok")], "_meta": {"took": n}}}) for n in range(11)]

    assert "Loop detected" in json.dumps(answers[10])
    assert answers[10]["result"]["_meta"] == {"took": 10}


def test_an_error_of_the_protocol_gets_the_advice_in_its_message() -> None:
    """All else of it stays."""
    error = {"code": -32602, "message": "no", "data": 1}
    *before, told = [answer["error"] for answer in Talk().calls(11, {"error": error})]

    assert before == [error] * 10
    assert told["message"].startswith("no\n\nLoop detected")
    assert (told["code"], told["data"]) == (-32602, 1)


def test_a_tool_that_is_not_there_is_seen() -> None:
    """Servers say so in an error, or in a result."""
    missing: list[dict[str, Any]] = [
        {"error": {"code": -32602, "message": "Tool read not found"}},
        {"result": {"content": [_text("Unknown tool: 'read'")], "isError": True}},
    ]
    for answer in missing:
        told = Talk().calls(11, answer)[10]["result"]["content"][0]["text"]

        assert "but there is no tool of that name" in told


def test_a_call_that_is_cancelled_or_goes_on_as_a_task_has_no_outcome() -> None:
    """It stays open."""
    talk = Talk()
    for number in range(25):
        call = {"name": "read", "arguments": {"at": number % 2}}
        talk.relay.asked(_line(method="tools/call", id=number, params=call))
        talk.relay.asked(_line(method="notifications/cancelled", params={"requestId": number}))
        late = _line(id=number, result={"content": [_text("same")]})
        assert talk.relay.answered(late) == late
    assert all("content" not in answer["result"] for answer in talk.calls(25, {"result": {"task": {"taskId": "t"}}}))


def test_a_call_that_is_made_again_with_input_counts_once() -> None:
    """The first answer asks for the input, and is no outcome."""
    talk = Talk()
    for number in range(11):
        asks = {"result": {"resultType": "input_required", "inputRequests": {}, "requestState": f"s{number}"}}
        assert talk.call(asks) == {"jsonrpc": "2.0", "id": talk.number, **asks}
        answer = talk.call(inputResponses={}, requestState=f"s{number}")
    record = talk.guard.record()

    assert record is not None
    assert (record.calls, record.warnings) == (11, 1)
    assert "Loop detected" in json.dumps(answer)


def test_ids_are_told_apart_by_their_kind() -> None:
    """The number is not the text."""
    talk = Talk()
    talk.relay.asked(_line(method="tools/call", id=1, params={"name": "read"}))
    talk.relay.asked(_line(method="tools/call", id="1", params={"name": "list"}))
    talk.relay.answered(_line(id="1", result={"content": []}))

    assert len(talk.relay._open) == 1


def test_calls_without_an_answer_are_forgotten_at_last() -> None:
    """A server that never answers costs no memory without end."""
    talk = Talk()
    for number in range(2100):
        talk.relay.asked(_line(method="tools/call", id=number, params={"name": "read", "arguments": number}))

    assert len(talk.relay._open) == 2000


def test_sessions_do_not_see_each_other() -> None:
    """Although they share a guard."""
    guard = Guard()
    for session in ("s1", "s2"):
        assert "Loop detected" not in json.dumps(Talk(guard, session).calls(10))


def _listed(*schemas: Any, guard: Guard | None = None) -> list[dict[str, Any]]:
    tools = [{"name": "t", **({} if schema is None else {"outputSchema": schema})} for schema in schemas]
    talk = Talk(guard)
    talk.relay.asked(_line(method="tools/list", id=1))
    listed: list[dict[str, Any]] = json.loads(talk.relay.answered(_line(id=1, result={"tools": tools})))["result"][
        "tools"
    ]
    return listed


def test_the_schemas_of_tools_get_room_for_an_advice() -> None:
    """Clients refuse what does not fit; a schema that may have none is taken out."""
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
def test_where_nothing_is_told_nothing_is_changed(settings: Settings) -> None:
    """Neither schemas nor results."""
    schema = {"type": "array"}
    assert _listed(schema, guard=Guard(settings)) == [{"name": "t", "outputSchema": schema}]
    assert {len(answer["result"]["content"]) for answer in Talk(Guard(settings)).calls(25)} == {1}


@pytest.mark.parametrize(
    "line",
    [
        b"no json, but tools",
        b'[{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "read"}}]',
        b'{"jsonrpc": "2.0",  "id": 1, "method": "tools/call"}',
        b'{"jsonrpc": "2.0", "id": [], "method": "tools/call", "params": {"name": "read"}}',
        b'{"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "read"}}',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 7}',
        b'"tools"',
    ],
)
def test_what_is_not_understood_passes(line: bytes) -> None:
    """To the byte."""
    relay = Talk().relay
    relay.asked(_line(method="tools/call", id=2, params={"name": "read"}))

    assert relay.asked(line) is None
    assert relay.answered(line) is line


@given(JSON, JSON)
def test_no_message_makes_it_raise(params: Any, result: Any) -> None:
    """Whatever stands in it; what is no loop comes as it was sent."""
    relay = Talk().relay
    for method in ("tools/call", "tools/list", "notifications/cancelled"):
        assert relay.asked(_line(method=method, id=method, params=params)) is None
        answer = _line(id=method, result=result)
        shown = relay.answered(answer)
        assert method == "tools/list" or shown == answer


def test_a_guard_that_crashes_lets_everything_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it is asked for what it said before."""
    talk = Talk()
    monkeypatch.setattr(Guard, "strict", False)
    for name in ("_before", "_after", "_asked"):
        monkeypatch.setattr(talk.guard, name, lambda *_: 1 / 0)

    assert "Loop detected" not in json.dumps(talk.calls(40))
    assert "Loop detected" not in json.dumps([talk.call(requestState="s") for _ in range(40)])
    assert talk.ran == 80
