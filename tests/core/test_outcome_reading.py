"""Outcome identity: what counts of a result, and what changes without meaning progress (SPEC 4.2)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wheelspin import Outcome, ToolCall
from wheelspin.core.identifiers import without_identifiers
from wheelspin.core.known_tools import TOOLS
from wheelspin.core.outcome_reading import may_be_equal, read_outcome, rough_view
from wheelspin.core.status_reading import status_of
from wheelspin.core.tools import Tool


def _exec(text: str = "", **details: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "details": details}


SENT = {"action": "send", "to": "x", "text": "hi"}
POLL = {"action": "poll", "sessionId": "s"}
LOG = {"action": "log", "sessionId": "s"}

EQUAL = {
    "a command's duration, process, session and folder": (
        "exec",
        {},
        _exec(status="completed", exitCode=0, aggregated="a", durationMs=1, pid=2, sessionId="s", cwd="/a"),
        _exec(status="completed", exitCode=0, aggregated="a", durationMs=9, pid=8, sessionId="t", cwd="/b"),
    ),
    "the text beside a command's aggregated output": (
        "bash",
        {},
        _exec("one", status="failed", exitCode=1, aggregated="a"),
        _exec("two", status="failed", exitCode=1, aggregated="a"),
    ),
    "what a running command is called": (
        "exec",
        {},
        _exec("session s0", status="running", sessionId="s0", pid=1, tail="(none)"),
        _exec("session s1", status="running", sessionId="s1", pid=2, tail="(none)"),
    ),
    "the id and the time limit of an approval": (
        "exec",
        {},
        _exec(status="approval-pending", host="gateway", command="rm", approvalId="a", expiresAtMs=1),
        _exec(status="approval-pending", host="gateway", command="rm", approvalId="b", expiresAtMs=2),
    ),
    "an approval without details": (
        "exec",
        {},
        {"status": "approval-pending", "approvalId": "a", "output": "please"},
        {"status": "approval-pending", "approvalId": "b", "output": "please"},
    ),
    "the duration of a command with any other status": (
        "exec",
        {},
        _exec("a", status="denied", durationMs=1),
        _exec("a", status="denied", durationMs=2),
    ),
    "the duration in a result without details": (
        "exec",
        {},
        {"status": "completed", "output": "a", "duration_ms": 1, "startedAt": 1},
        {"status": "completed", "output": "a", "duration_ms": 2, "startedAt": 2},
    ),
    "the duration of a poll": (
        "process",
        POLL,
        _exec("x", status="running", durationMs=1),
        _exec("x", status="running", durationMs=2),
    ),
    "the start of a log": (
        "process",
        LOG,
        _exec("x", totalLines=5, startedAt=1),
        _exec("x", totalLines=5, startedAt=2),
    ),
    "a poll's process in a result without details": (
        "process",
        POLL,
        {"status": "running", "pid": 1},
        {"status": "running", "pid": 2},
    ),
    "the ids of a sent message": (
        "message",
        SENT,
        {"ok": True, "messageId": "m1", "timestamp": "t1", "receipt": {"id": 1}},
        {"ok": True, "messageId": "m2", "timestamp": "t2", "receipt": {"id": 2}},
    ),
    "the id of a sent message inside its text": (
        "sessions_send",
        {},
        _exec("sent 0", message_id=0),
        _exec("sent 1", message_id=1),
    ),
    "the id of an object that is a message": (
        "message",
        SENT,
        {"ok": True, "message": {"id": 7, "date": "d"}},
        {"ok": True, "message": {"id": 8, "date": "d"}},
    ),
    "ids in a text that is JSON": ("message", SENT, '{"ok":true,"messageId":"m1"}', '{"ok":true,"messageId":"m2"}'),
    "ids that the text names": ("message", SENT, "Sent. Message ID: om_1", "Sent. Message ID: om_2"),
}

UNEQUAL = {
    "a command's output": (
        "exec",
        {},
        _exec(status="completed", exitCode=0, aggregated="a"),
        _exec(status="completed", exitCode=0, aggregated="b"),
    ),
    "its exit code": ("exec", {}, _exec(status="failed", exitCode=1), _exec(status="failed", exitCode=2)),
    "its status": ("exec", {}, _exec(status="failed", exitCode=1), _exec(status="completed", exitCode=1)),
    "whether it ran out of time": ("exec", {}, _exec(status="failed", timedOut=True), _exec(status="failed")),
    "its text, where there is no output": ("exec", {}, _exec("a", status="completed"), _exec("b", status="completed")),
    "the tail of a running command": ("exec", {}, _exec(status="running", tail="1"), _exec(status="running", tail="2")),
    "the reason of a refusal": (
        "exec",
        {},
        _exec(status="approval-unavailable", reason="a"),
        _exec(status="approval-unavailable", reason="b"),
    ),
    "an output without details": (
        "exec",
        {},
        {"status": "completed", "stdout": "a"},
        {"status": "completed", "stdout": "b"},
    ),
    "a command's text alone": ("exec", {}, "a", "b"),
    "the text of a poll": ("process", POLL, _exec("a", status="running"), _exec("b", status="running")),
    "the output of a poll": ("process", POLL, _exec(aggregated="a"), _exec(aggregated="b")),
    "the signal of a poll": ("process", POLL, _exec(exitSignal="TERM"), _exec(exitSignal="KILL")),
    "the length of a log": ("process", LOG, _exec("x", totalLines=5), _exec("x", totalLines=6)),
    "the output of a poll without details": ("process", POLL, {"output": "a"}, {"output": "b"}),
    "a poll's text alone": ("process", POLL, "a", "b"),
    "a duration where no command is run": ("read", {}, {"durationMs": 1}, {"durationMs": 2}),
    "a process action that is no poll": ("process", {"action": "list"}, {"pid": 1}, {"pid": 2}),
    "a refused message": ("message", SENT, {"ok": True, "messageId": "m1"}, {"ok": False, "messageId": "m2"}),
    "the text of a sent message": (
        "message",
        SENT,
        _exec("sent to a", messageId="m1"),
        _exec("sent to b", messageId="m2"),
    ),
    "an id in a message that was read": ("message", {"action": "read"}, {"messageId": "m1"}, {"messageId": "m2"}),
    "an id on an object that is no message": ("message", SENT, {"job": {"id": 1}}, {"job": {"id": 2}}),
    "a screenshot": (
        "screenshot",
        {},
        {"content": [{"type": "image", "data": "a"}]},
        {"content": [{"type": "image", "data": "b"}]},
    ),
    "an image beside a command's text": (
        "exec",
        {},
        {"content": [{"type": "image", "data": "a"}], "details": {"status": "completed"}},
        {"content": [{"type": "image", "data": "b"}], "details": {"status": "completed"}},
    ),
    "blanks": ("read", {}, "same", " same\n"),
}


STUB = "Output too large; saved to /tmp/out-{}.txt. sha256: {}\nFirst lines:\nboot"
TODOS = [{"content": "read", "status": "completed"}, {"content": "write", "status": "pending"}]


@pytest.mark.parametrize("tool", ["read", "exec"])
def test_a_stub_is_its_digest(tool: str) -> None:
    """A host that puts a large result aside names a new file each time; another digest is another result."""
    first, second, other = (STUB.format(*which) for which in ((1, "9f2ab1"), (2, "9F2AB1"), (3, "77aa01")))

    assert _digest(tool, {}, first) == _digest(tool, {}, second) != _digest(tool, {}, other)


def test_a_text_that_quotes_a_stub_is_none() -> None:
    """Only a text that begins as one is taken for one: a tool's own words cannot hide a change."""
    quoted = ["the log says: " + STUB.format(number, "9f2ab1") for number in (1, 2)]

    assert _digest("read", {}, quoted[0]) != _digest("read", {}, quoted[1])


PLANS = TOOLS.extended(plans=["TodoWrite", "update_plan"])


@pytest.mark.parametrize("key", ["todos", "plan", "steps"])
def test_rewording_a_plan_is_no_other_call_and_a_changed_status_is(key: str) -> None:
    """The number of steps and their statuses are what counts of it."""
    tool = PLANS.look_up("TodoWrite", {})
    reworded = [{**step, "content": step["content"] + " it"} for step in TODOS]
    moved = [{**step, "status": "completed"} for step in TODOS]

    assert tool.identify({key: TODOS}) == tool.identify({key: reworded, "explanation": "x"})
    assert tool.identify({key: TODOS}) != tool.identify({key: moved})
    assert tool.identify({key: TODOS}) != tool.identify({key: [*TODOS, TODOS[1]]})


def test_the_words_that_answer_a_plan_do_not_count_and_its_failure_does() -> None:
    """A plan that is echoed is compared by its statuses, too."""
    tool = PLANS.look_up("update_plan", {})
    said, echoed = Outcome.result("Plan updated (3)"), Outcome.result({"todos": TODOS})

    assert _read(tool, said) == _read(tool, Outcome.result("The plan is up to date"))
    assert _read(tool, echoed) == _read(tool, Outcome.result({"todos": [{**step, "content": "x"} for step in TODOS]}))
    assert _read(tool, echoed) != _read(tool, Outcome.result({"todos": TODOS[:1]}))
    assert _read(tool, said) != _read(tool, Outcome.error("Plan updated (3)"))


def _digest(tool: str, arguments: Any, result: Any) -> bytes | None:
    return _read(TOOLS.look_up(tool, arguments), Outcome.result(result))


def _read(tool: Tool, outcome: Outcome) -> bytes | None:
    return read_outcome(tool, outcome, None)[0]


@pytest.mark.parametrize(("tool", "arguments", "left", "right"), EQUAL.values(), ids=EQUAL.keys())
def test_what_changes_without_progress_does_not_count(tool: str, arguments: Any, left: Any, right: Any) -> None:
    """Two outcomes that differ in nothing else are equal."""
    assert _digest(tool, arguments, left) == _digest(tool, arguments, right)


@pytest.mark.parametrize(("tool", "arguments", "left", "right"), UNEQUAL.values(), ids=UNEQUAL.keys())
def test_everything_else_counts(tool: str, arguments: Any, left: Any, right: Any) -> None:
    """A change of it is progress."""
    assert _digest(tool, arguments, left) != _digest(tool, arguments, right)


OUTCOMES = [
    Outcome.result("x"),
    Outcome.error("x"),
    Outcome.error("x", "TimeoutError"),
    Outcome.error("y"),
    Outcome.unknown_tool("x"),
    Outcome.denied("x"),
    Outcome.shell("x"),
    Outcome.shell("y"),
    Outcome.shell("x", exit_code=1),
    Outcome.shell("x", status="failed"),
    Outcome.shell("x", timed_out=True),
]


@pytest.mark.parametrize("left", OUTCOMES, ids=range(len(OUTCOMES)))
def test_outcomes_of_every_kind_differ(left: Outcome) -> None:
    """A result, an error, a refusal and a shell's outcome with the same text are four outcomes."""
    tool = TOOLS.look_up("read", {})
    same = [right for right in OUTCOMES if _read(tool, left) == _read(tool, right)]

    assert same == [left]


def test_a_shell_outcome_is_that_of_the_documented_shell_tool() -> None:
    """What a host maps is what the documented rule sees."""
    mapped = _read(TOOLS.look_up("Shell", {}), Outcome.shell("a", exit_code=0))
    documented = _read(TOOLS.look_up("exec", {}), Outcome.result(_exec(status="completed", exitCode=0, aggregated="a")))

    assert mapped == documented


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        (" Read ", "read"),
        ("BASH", "exec"),
        ("apply-patch", "apply_patch"),
        ("", "tool"),
        ("   ", "tool"),
        (None, "tool"),
        (7, "tool"),
    ],
)
def test_names_are_compared_trimmed_and_lower_cased(given: Any, canonical: str) -> None:
    """`bash` is `exec`, an empty name is `tool`, and nothing that is no name fails (SPEC 3)."""
    assert TOOLS.look_up(given, {}).name == canonical


def test_a_name_of_any_length_is_kept_short() -> None:
    """A model may write anything for a name; two long ones are still told apart."""
    left, right = (TOOLS.look_up("x" * 100_000 + end, {}).name for end in "ab")

    assert len(left) < 200
    assert left != right


def test_a_table_forgets_names_rather_than_grow() -> None:
    """A model that invents names does not fill it."""
    table = TOOLS.extended()
    for number in range(5000):
        table.look_up(f"tool{number}", {})

    assert len(table._found) <= 1024


@pytest.mark.parametrize("action", ["poll", "LOG", " poll "])
def test_a_process_is_polled_by_its_action(action: str) -> None:
    """`process` polls with two of its actions only."""
    assert TOOLS.look_up("process", {"action": action}).polls
    assert not TOOLS.look_up("process", {"action": "list"}).polls
    assert not TOOLS.look_up("process", None).polls
    assert TOOLS.look_up("command_status", {}).polls


@pytest.mark.parametrize("action", ["send", "thread-reply", "sendWithEffect", "upload-file", "poll"])
def test_a_message_is_sent_by_its_action(action: str) -> None:
    """`message` sends with some of its actions only."""
    assert TOOLS.look_up("message", {"action": action}).rule == "message"
    assert TOOLS.look_up("message", {"action": "read"}).rule == "result"


def test_a_table_is_extended_without_changing_the_one_it_came_from() -> None:
    """An adapter's tools are its own."""
    table = TOOLS.extended(
        aliases={"Terminal": "bash"},
        shells=["Run"],
        polls=["Wait"],
        sends=["Telegram"],
        ignored={"bash": ["description"], "note": ["id"]},
    )

    assert table.look_up("terminal", {}).name == "exec"
    assert table.look_up("run", {}).rule == "shell"
    assert table.look_up("wait", {}).polls
    assert table.look_up("telegram", {}).rule == "message"
    assert table.look_up("Bash", {}).identify({"command": "ls", "description": "x"}) == {"command": "ls"}
    assert table.look_up("note", {}).identify(["id"]) == ["id"]
    assert TOOLS.look_up("telegram", {}).rule == "result"
    assert TOOLS.look_up("bash", {}).identify({"description": "x"}) == {"description": "x"}


def test_identifiers_are_taken_out_at_every_depth() -> None:
    """Ids, receipts and times go, also in the texts that quote them; everything else stays."""
    result = {
        "ok": True,
        "messages": [{"id": 4, "text": "4 apples"}],
        "data": [{"file_id": "F9", "note": "stored as F9", "deep": {"sentAt": 1, "to": "me"}}],
    }

    assert without_identifiers(result) == {
        "ok": True,
        "messages": [{"text": "# apples"}],
        "data": [{"note": "stored as #", "deep": {"to": "me"}}],
    }


@pytest.mark.parametrize("result", [None, 7, [], "[not json", "{" * 2000, b"x", {"receipt": [True, 2**300, ""]}])
def test_any_result_of_a_sending_tool_can_be_looked_at(result: Any) -> None:
    """A messenger may answer with anything."""
    without_identifiers(result)


def test_a_result_that_is_nested_without_end_is_left_alone_at_some_depth() -> None:
    """Neither deep nor cyclic results stop the walk."""
    cyclic: dict[str, Any] = {"messageId": "m"}
    cyclic["again"] = cyclic
    receipt: list[Any] = []
    receipt.append(receipt)
    cyclic["receipt"] = receipt

    without_identifiers(cyclic)
    without_identifiers([[[cyclic]]])


def test_a_tool_is_known_by_its_call() -> None:
    """What the table knows is of the tool's name and, for some tools, of their action."""
    assert isinstance(TOOLS.look_up(ToolCall("read").tool, None), Tool)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, 1.0, 2.5, "", "pending", "error: no", "1"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "status", "ok", "pid", "details", "aggregated"]), inner, max_size=2)
    ),
    max_leaves=4,
)
ANY_OUTCOME = st.builds(Outcome.result, VALUES) | st.builds(Outcome.error, VALUES) | st.builds(Outcome.shell, VALUES)


@given(st.sampled_from(["read", "exec", "process", "message", "todo"]), st.sampled_from([{}, SENT, POLL]), st.data())
def test_outcomes_with_equal_digests_may_be_equal_by_a_rough_view(
    tool: str, arguments: Any, data: st.DataObject
) -> None:
    """A scan compares them by that, and must not miss that two are equal."""
    known = TOOLS.extended(plans=["todo"]).look_up(tool, arguments)
    left, right = data.draw(ANY_OUTCOME), data.draw(ANY_OUTCOME)
    (one, *_), (other, *_) = (read_outcome(known, outcome, arguments) for outcome in (left, right))
    views = [rough_view(known, outcome, status_of(known, outcome)) for outcome in (left, right)]

    assert one is None or one != other or may_be_equal(*views)
