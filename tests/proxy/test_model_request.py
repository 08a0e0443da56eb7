"""A request: its conversation is played, and the advice goes to the results in it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.shapes import SHAPES, Call, Shape
from wheelspin import Action, Guard, LoopEvent, Outcome, Settings, ToolCall
from wheelspin.proxy.model_request import Advised, advise

Entries = list[dict[str, Any]]
EVERY = pytest.mark.parametrize("shape", SHAPES, ids=[shape.name for shape in SHAPES])
PLACEHOLDERS = [
    "[Old tool result content cleared]",
    "[Output removed to save context - information superseded or no longer needed]",
    "<masked>",
]


def _loop(shape: Shape, times: int, result: Any = "the same text", begin: int = 0, *, fails: bool = False) -> Entries:
    calls = [Call(f"c{number}", "read", {"path": "/a"}, result, fails) for number in range(begin, begin + times)]
    return [entry for call in calls for entry in shape.step(call)]


def _advise(shape: Shape, entries: Entries, settings: Settings | None = None) -> Advised:
    return advise({"model": "m", shape.key: entries}, settings, session_id="s1")


def _sent(shape: Shape, entries: Entries, settings: Settings | None = None) -> Entries:
    """Give the conversation as it is sent on."""
    return _advise(shape, entries, settings).changed.get(shape.key, entries)


def _advised(shape: Shape, entries: Entries, settings: Settings | None = None) -> list[str]:
    """Give the ids of the calls that have an advice with their results."""
    results = shape.results(_sent(shape, entries, settings))
    return [call_id for call_id, contents in results.items() if "Loop detected" in str(contents)]


@EVERY
def test_a_loop_is_warned_of_then_told_at_every_call_then_ended(shape: Shape) -> None:
    """The result stays, since the agent has run the call; what would be blocked says that the end is near."""
    entries = [*shape.prompt("go"), *_loop(shape, 30)]
    results = shape.results(_sent(shape, entries))

    assert _advised(shape, entries) == ["c10", *(f"c{number}" for number in range(20, 30))]
    assert all(content.startswith("the same text") for (content,) in results.values())
    assert not results["c10"][0].endswith("The run is ended if this goes on.")
    assert results["c20"][0].endswith("The run is ended if this goes on.")
    assert "was not run" not in str(results)
    assert _advise(shape, entries).ending is None
    ending = _advise(shape, [*entries, *_loop(shape, 1, begin=30)]).ending
    assert ending is not None
    assert (ending.action, ending.code) == (Action.ABORT, "global_circuit_breaker")


@EVERY
def test_work_is_left_alone(shape: Shape) -> None:
    """There is nothing to change."""
    calls = [Call(f"c{number}", "read", {"path": f"/{number}"}, f"text {number}") for number in range(60)]
    entries = [*shape.prompt("go"), *(entry for call in calls for entry in shape.step(call))]

    assert _advise(shape, entries) == Advised({}, None, [])


@EVERY
def test_a_poll_whose_state_changes_at_last_goes_on(shape: Shape) -> None:
    """The call that would have been blocked was run, and what it gave counts."""
    entries = [*shape.prompt("go"), *_loop(shape, 28, "pending, 3 jobs are left"), *_loop(shape, 1, "all is done", 28)]
    more = [*entries, *_loop(shape, 5, "all is done, and more came", 29)]
    results = shape.results(_sent(shape, more))

    assert _advise(shape, more).ending is None
    near_the_end = [call_id for call_id, (text,) in results.items() if text.endswith("ended if this goes on.")]
    assert near_the_end == [f"c{number}" for number in range(20, 29)]


@EVERY
def test_a_message_of_the_user_begins_a_run(shape: Shape) -> None:
    """Also after a run that was ended; what was said in it stays where it was."""
    ended = [*shape.prompt("go"), *_loop(shape, 31)]
    assert _advise(shape, ended).ending is not None

    again = [*ended, *shape.prompt("go on"), *_loop(shape, 10, begin=31)]
    assert _advise(shape, again).ending is None
    assert _advised(shape, again) == ["c10", *(f"c{number}" for number in range(20, 30))]


@EVERY
def test_a_run_that_has_ended_stays_ended(shape: Shape) -> None:
    """An agent that sends the request again gets the same answer."""
    entries = [*shape.prompt("go"), *_loop(shape, 31)]
    later = [*entries, *shape.step(Call("other", "list", {"path": "/"}, "a, b, c"))]

    assert _advise(shape, entries) == _advise(shape, entries)
    assert _advise(shape, later).ending == _advise(shape, entries).ending


@EVERY
def test_a_loop_that_survives_a_compaction_ends_the_run(shape: Shape) -> None:
    """Three calls after it, all equal."""
    entries = [*shape.prompt("go"), *_loop(shape, 4), *shape.compaction(), *_loop(shape, 3, begin=4)]
    ending = _advise(shape, entries).ending

    assert ending is not None
    assert ending.code == "compaction_loop_persisted"
    assert _advise(shape, entries[: -len(shape.step(Call("", "", {}, "")))]).ending is None


@EVERY
@pytest.mark.parametrize(
    "summary",
    [
        "This session is being continued from a previous conversation that ran out of context. We read /a.",
        "Another language model started to solve this problem and produced a summary: we read /a.",
    ],
)
def test_summaries_of_known_agents_arm(shape: Shape, summary: str) -> None:
    """They are all that is left of the conversation before."""
    ending = _advise(shape, [*shape.prompt(summary), *_loop(shape, 3)]).ending

    assert ending is not None
    assert ending.code == "compaction_loop_persisted"
    assert _advise(shape, [*shape.prompt("Read /a thrice."), *_loop(shape, 3)]).ending is None


@EVERY
@pytest.mark.parametrize("placeholder", PLACEHOLDERS)
def test_results_that_the_agent_has_left_out_are_no_evidence(shape: Shape, placeholder: str) -> None:
    """Placeholders are equal, what they stand for was not."""
    entries = [*shape.prompt("go"), *_loop(shape, 29, placeholder)]
    entries += [entry for number in range(3) for entry in _loop(shape, 1, f"text {number}", 100 + number)]

    assert _advise(shape, entries).ending is None
    assert not any(event.kind == "block" for event in _told(shape, entries))


def _told(shape: Shape, entries: Entries, settings: Settings | None = None) -> list[LoopEvent]:
    """Give the events of all the requests that led to this one, each made when results had come."""
    events = []
    for size in range(1, len(entries) + 1):
        is_due = size == len(entries) or _by_model(entries[size])
        if is_due and not _by_model(entries[size - 1]):
            events += _advise(shape, entries[:size], settings).events
    return events


def _by_model(entry: dict[str, Any]) -> bool:
    return entry.get("role") == "assistant" or entry.get("type") in {"function_call", "compaction"}


@EVERY
def test_each_event_is_told_once(shape: Shape) -> None:
    """With the request in which it is new; the guard itself says what was done, and what would have been."""
    events = _told(shape, [*shape.prompt("go"), *_loop(shape, 31)])

    assert [event.kind for event in events] == ["warning", *["block"] * 10, "abort"]
    assert [event.call_id for event in events] == ["c10", *(f"c{number}" for number in range(20, 31))]
    assert {event.session_id for event in events} == {"s1"}
    assert [event.observed for event in events] == [False, *[True] * 10, False]
    assert "would be" not in events[0].reason
    assert "this call would be blocked" in events[1].reason


@EVERY
def test_a_compaction_is_told_once(shape: Shape) -> None:
    """As it arms."""
    entries = [*shape.prompt("go"), *_loop(shape, 2), *shape.compaction(), *_loop(shape, 1, "new", begin=2)]

    assert [event.kind for event in _told(shape, entries)] == ["armed"]


@EVERY
def test_observing_changes_nothing_and_tells_all(shape: Shape) -> None:
    """As it would have been."""
    entries, settings = [*shape.prompt("go"), *_loop(shape, 40)], Settings(enabled=True, mode="observe")
    advised = _advise(shape, entries, settings)

    assert (advised.changed, advised.ending) == ({}, None)
    events = _told(shape, entries, settings)
    assert {event.kind for event in events} == {"warning", "block", "abort"}
    assert all(event.observed for event in events)


@EVERY
def test_a_guard_that_is_switched_off_says_nothing(shape: Shape) -> None:
    """Not even after a compaction."""
    entries = [*shape.prompt("go"), *shape.compaction(), *_loop(shape, 40)]

    assert _advise(shape, entries, Settings(enabled=False)) == Advised({}, None, [])


def test_an_unknown_tool_and_a_failure_are_read_from_what_the_agent_says() -> None:
    """Anthropic's messages flag errors; elsewhere the words must do."""
    _, messages, _ = SHAPES
    missing = [
        Call(f"c{number}", "frobnicate", {"n": number}, "Tool 'frobnicate' not found", fails=True)
        for number in range(12)
    ]
    for shape in SHAPES:
        entries = [*shape.prompt("go"), *(entry for call in missing for entry in shape.step(call))]
        assert "unknown_tool_repeat" in {event.code for event in _told(shape, entries)}, shape.name
    failing = [
        Call(f"c{number}", "read", {"path": f"/{chr(97 + number)}"}, "no such file", fails=True) for number in range(20)
    ]
    entries = [*messages.prompt("go"), *(entry for call in failing for entry in messages.step(call))]
    assert "same_failure" in {event.code for event in _told(messages, entries)}


@EVERY
def test_calls_of_one_message_have_their_own_advice(shape: Shape) -> None:
    """Each in its own result."""
    entries = shape.prompt("go")
    for number in range(12):
        entries += shape.step(
            Call(f"a{number}", "read", {"path": "/a"}, "text of /a"),
            Call(f"b{number}", "list", {"path": "/b"}, "text of /b"),
        )
    results = shape.results(_sent(shape, entries))

    advised = {call_id: contents[0] for call_id, contents in results.items() if "Loop detected" in contents[0]}
    assert set(advised) == {"b4", "b9", "a10", "a11"}
    assert all(
        text.startswith("text of /a" if call_id[0] == "a" else "text of /b") for call_id, text in advised.items()
    )


@pytest.mark.parametrize(
    ("shape", "block", "note"),
    [
        (SHAPES[0], {"type": "text", "text": "text"}, "text"),
        (SHAPES[1], {"type": "text", "text": "text", "cache_control": {"type": "ephemeral"}}, "text"),
        (SHAPES[1], {"type": "image", "source": {"type": "base64", "data": "aGk="}}, "text"),
        (SHAPES[2], {"type": "input_text", "text": "text"}, "input_text"),
    ],
)
def test_a_result_of_blocks_gets_the_advice_as_a_block(shape: Shape, block: dict[str, Any], note: str) -> None:
    """Images, and marks for a cache, stay as they are."""
    (content,) = shape.results(_sent(shape, [*shape.prompt("go"), *_loop(shape, 11, [block])]))["c10"]

    assert content[0] == block
    assert content[1]["type"] == note
    assert content[1]["text"].startswith("Loop detected")


def test_a_result_without_content_gets_the_advice_alone() -> None:
    """Anthropic leaves it out where a tool says nothing."""
    _, messages, _ = SHAPES
    entries = [*messages.prompt("go"), *_loop(messages, 11, None)]
    for entry in entries:
        for block in entry["content"] if isinstance(entry["content"], list) else ():
            if block["type"] == "tool_result":
                del block["content"]
    sent = _sent(messages, entries)

    assert sent[-1]["content"][0]["content"].startswith("Loop detected")
    assert sent[:-1] == entries[:-1]


def test_calls_without_ids_are_told_apart_by_their_place() -> None:
    """The older form of OpenAI's chat has none."""
    entries: Entries = [{"role": "user", "content": "go"}]
    for _ in range(11):
        entries.append({"role": "assistant", "function_call": {"name": "read", "arguments": '{"path": "/a"}'}})
        entries.append({"role": "function", "name": "read", "content": "the same text"})

    assert "Loop detected" in _sent(SHAPES[0], entries)[-1]["content"]
    assert _sent(SHAPES[0], entries)[:-1] == entries[:-1]


def test_tools_that_the_provider_runs_are_counted_and_left_as_they_are() -> None:
    """An advice in its own items would be a change of what it said."""
    _, messages, responses = SHAPES
    item = {"type": "mcp_call", "name": "search", "arguments": '{"q": "a"}', "output": "nothing was found for a"}
    items = [*responses.prompt("go"), *({**item, "id": f"m{number}"} for number in range(31))]
    use = {"type": "server_tool_use", "name": "web_search", "input": {"query": "a"}}
    result = {"type": "web_search_tool_result", "content": [{"type": "web_search_result", "title": "a"}]}
    said = [
        {"role": "assistant", "content": [{**use, "id": f"s{number}"}, {**result, "tool_use_id": f"s{number}"}]}
        for number in range(31)
    ]
    for shape, entries in ((responses, items), (messages, [*messages.prompt("go"), *said])):
        advised = _advise(shape, entries)
        assert advised.changed.get(shape.key, entries) == entries, shape.name
        assert advised.ending is not None, shape.name


def test_an_item_of_mcp_that_failed_is_a_failure() -> None:
    """The error stands in the item."""
    item = {"type": "mcp_call", "name": "search", "output": None, "error": "no route to it"}
    items = [{**item, "id": f"m{number}", "arguments": f'{{"q": "{chr(97 + number)}"}}'} for number in range(20)]

    assert "same_failure" in {event.code for event in _advise(SHAPES[2], [*SHAPES[2].prompt("go"), *items]).events}


def test_what_codex_says_in_the_name_of_the_user_begins_no_run() -> None:
    """Nor does what it adds to an output count."""
    _, _, responses = SHAPES
    items = responses.prompt("go")
    for number in range(31):
        output = f"Chunk ID: {number:06x}\nWall time: 0.{number} seconds\nProcess exited with code 0\nOutput:\nthe same"
        items += responses.step(Call(f"c{number}", "exec_command", {"cmd": "cat a"}, output))
        text = f"<environment_context><n>{number}</n></environment_context>"
        items.append({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})

    assert _advise(responses, items).ending is not None


def test_a_refusal_of_another_guard_is_no_result_of_the_tool() -> None:
    """A hook of ours in the agent itself has answered the call."""
    refusal = "Loop detected: `read` was called 20 times with the same arguments. This call was not run."
    for shape in SHAPES:
        assert _advise(shape, [*shape.prompt("go"), *_loop(shape, 40, refusal)]).ending is None


ENDS = ("one", "two", "the same text that says something", PLACEHOLDERS[0], [{"type": "text", "text": "a block"}], "")


FEW = settings(max_examples=settings().max_examples // 4)
"""A conversation is played once for each request in it."""
Move = str | list[Call]
"""A step of the model with its calls, a `prompt`, or a `compaction`."""


@st.composite
def _moves(draw: st.DrawFn) -> list[Move]:
    """Give what happens in a conversation, with loops in it."""
    moves: list[Move] = ["prompt"]
    calls = st.tuples(st.sampled_from(["read", "list"]), st.sampled_from(ENDS))
    for _ in range(draw(st.integers(1, 4))):
        what = draw(st.sampled_from(["loop", "loop", "loop", "prompt", "compaction"]))
        if what != "loop":
            moves.append(what)
            continue
        together, fails = draw(st.lists(calls, min_size=1, max_size=2)), draw(st.booleans())
        for _ in range(draw(st.integers(1, 33))):
            step = len(moves)
            moves.append(
                [
                    Call(f"c{step}_{place}", tool, {"path": "/a"}, result, fails)
                    for place, (tool, result) in enumerate(together)
                ]
            )
    return moves


def _written(shape: Shape, moves: list[Move]) -> tuple[Entries, list[int]]:
    """Give a conversation, and the sizes that it had when requests were made."""
    entries: Entries = []
    sizes = []
    for move in moves:
        if isinstance(move, list):
            entries += shape.step(*move)
            sizes.append(len(entries))
        else:
            entries += shape.prompt("go") if move == "prompt" else shape.compaction()
    return entries, sizes


@EVERY
@FEW
@given(moves=_moves())
def test_each_request_is_an_extension_of_the_one_before(shape: Shape, moves: list[Move]) -> None:
    """So that what a provider keeps of it stays good; and nothing changes but results, which only get longer."""
    entries, sizes = _written(shape, moves)
    before = copy.deepcopy(entries)
    whole = _sent(shape, entries)
    for size in sizes:
        assert _sent(shape, entries[:size]) == whole[:size]

    assert entries == before
    changed, results = shape.results(whole), shape.results(entries)
    assert changed.keys() == results.keys()
    for call_id, (content,) in results.items():
        assert changed[call_id][0][: len(content)] == content
    assert _without_results(whole) == _without_results(entries)


def _without_results(entries: Entries) -> Entries:
    def cut(value: Any) -> Any:
        if isinstance(value, list):
            return [cut(item) for item in value]
        if not isinstance(value, dict):
            return value
        is_result = value.get("role") == "tool" or value.get("type") in {"tool_result", "function_call_output"}
        return {key: cut(item) for key, item in value.items() if not (is_result and key in {"content", "output"})}

    return [cut(entry) for entry in entries]


@EVERY
@FEW
@given(moves=_moves())
def test_a_second_guard_on_the_way_adds_nothing(shape: Shape, moves: list[Move]) -> None:
    """It sees through the advice of the first, and says the same."""
    entries, _ = _written(shape, moves)
    once = _sent(shape, entries)

    assert _sent(shape, once) == once
    assert _advise(shape, once).ending == _advise(shape, entries).ending


@EVERY
@FEW
@given(moves=_moves())
def test_the_verdicts_are_those_of_a_guard_that_was_there(shape: Shape, moves: list[Move]) -> None:
    """One that observes, and sees each call as it is made."""
    guard = Guard(Settings(enabled=True, mode="observe"))
    due: dict[str, Action] = {}
    ended = False
    for move in moves:
        if move == "prompt":
            guard.user_message()
            ended = False
        elif isinstance(move, str):
            guard.compacted()
        else:
            turn = move[0].id
            made = [(call, ToolCall(call.tool, call.arguments, id=call.id, turn_id=turn)) for call in move]
            due |= {call.id: guard.before(tool_call).due for call, tool_call in made}
            after = [guard.after(tool_call, _outcome(shape, call)) for call, tool_call in made]
            ended = ended or Action.ABORT in {*(due[call.id] for call in move), *(verdict.due for verdict in after)}
    entries, _ = _written(shape, moves)

    assert _advised(shape, entries) == [call_id for call_id, action in due.items() if action in {"warn", "block"}]
    assert (_advise(shape, entries).ending is not None) == ended


def _outcome(shape: Shape, call: Call) -> Outcome:
    if call.result in PLACEHOLDERS:
        return Outcome.result(object())
    return Outcome.error(call.result) if call.fails and shape.marks_errors else Outcome.result(call.result)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(
                    ["role", "type", "content", "tool_calls", "id", "call_id", "tool_call_id", "output", "function"]
                ),
                inner
                | st.sampled_from(
                    ["user", "assistant", "tool", "tool_use", "tool_result", "function_call", "mcp_call"]
                ),
                max_size=5,
            )
        ),
        max_leaves=30,
    ),
    st.sampled_from(["messages", "input"]),
)
def test_a_body_of_any_shape_is_borne(value: Any, key: str) -> None:
    """What is not understood is left as it is."""
    entries = value if isinstance(value, list) else [value]

    assert advise({key: entries}) == Advised({}, None, [])
    assert advise({key: value, "other": value}) == Advised({}, None, [])
