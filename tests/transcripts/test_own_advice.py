"""Wheelspin's own advice in a recorded result is recognised and never part of the outcome."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wheelspin import Action, Guard, Outcome, ToolCall
from wheelspin.core.advice import Advisor
from wheelspin.core.detectors import DETECTORS
from wheelspin.core.events import Finding, Level
from wheelspin.replay.recording import Recording
from wheelspin.watch import with_advice
from wheelspin.wire import mcp
from wheelspin.wire.advice import OPENING, is_blocked_result, is_refusal, without_advice

WARNING = "Loop detected: `x` was called 10 times. Another call will not change that. Use the result that you have."
REFUSAL = "Loop detected: `x` was called 20 times. This call was not run. Use the result that you have."
TEXT = "the same text"
BLOCK = {"type": "text", "text": TEXT}


@pytest.mark.parametrize("action", [Action.WARN, Action.BLOCK, Action.ABORT])
def test_the_advice_of_every_detector_is_recognised(action: Action) -> None:
    """The first and the second advice of a run, and whether it says that the call was not run."""
    for detector in DETECTORS:
        for given in (0, 1):
            finding = Finding(detector.id, Level.CRITICAL, 20, 20, (b"a",))
            advice = Advisor(DETECTORS).advice(action, finding, "read", given)
            assert advice.startswith(OPENING)
            assert is_refusal(advice) is is_blocked_result(advice) is (action is not Action.WARN)
            assert is_refusal(f"hi\n\n{advice}") is (action is not Action.WARN)
            assert without_advice(f"hi\n\n\n{advice}") == "hi\n"


@pytest.mark.parametrize(
    ("result", "bare"),
    [
        (WARNING, ""),
        (f"{WARNING}\n\na", "a"),
        (f"{WARNING}\n\n\na", "\na"),
        (f"a\n\n{WARNING}", "a"),
        (f"\n\n{WARNING}", ""),
        (f"a\n\n{WARNING}\n\nb", "a\n\nb"),
        (f"{WARNING}\n\na\n\n{REFUSAL}", "a"),
        (f"a\n\n{WARNING}\n{REFUSAL}", "a"),
        (f"{WARNING}\n\n{REFUSAL}\n\na", "a"),
        ([BLOCK, {"type": "text", "text": WARNING}], [BLOCK]),
        ([{"type": "text", "text": WARNING}, BLOCK], [BLOCK]),
        ([{"type": "text", "text": f"a\n\n{WARNING}"}], [{"type": "text", "text": "a"}]),
        ([{"type": "text", "text": ""}, {"text": WARNING}], [{"type": "text", "text": ""}]),
        ({"content": [{"type": "text", "text": WARNING}], "details": None}, {"content": [], "details": None}),
        *((with_advice(result, WARNING), result) for result in ("a", {"a": 1}, {}, [1, "a"], [])),
        *(
            (json.dumps(with_advice(result, WARNING), indent=indent), json.dumps(result, indent=indent))
            for result in ({"a": 1}, {}, [1, "a"], [])
            for indent in (None, 2)
        ),
        *((str(with_advice(result, WARNING)), str(result)) for result in ({"a": 1}, {}, [1, "a"], [])),
        (
            mcp.advised({"content": [BLOCK], "structuredContent": {"a": 1}}, WARNING),
            {"content": [BLOCK], "structuredContent": {"a": 1}},
        ),
        (json.dumps({"wheelspin": WARNING, "a": 1}, indent=2), json.dumps({"a": 1}, indent=2)),
        (f'Output:\n{{"wheelspin":"{WARNING}","a":1}}', 'Output:\n{"a":1}'),
    ],
)
def test_advice_is_removed_wherever_it_stands(result: Any, bare: Any) -> None:
    """In a text, a block, an item, a key, and a JSON text or Python text of such a result."""
    before = json.dumps(result)

    assert without_advice(result) == bare
    assert json.dumps(result) == before


@pytest.mark.parametrize(
    "result",
    [
        "",
        "This call was not run",
        "x This call was not run.\n\nLoop detected: y",
        "the log:\n\nLoop detected: in the graph",
        "the log:\n\nLoop detected: in the graph. Aborting.",
        f"hi\n{WARNING}",
        f"hi\n\n{WARNING}\nand on",
        f"12:00 INFO {WARNING}",
        f'{{"message": "{WARNING}"}}',
        f'{{"a": {{"wheelspin": "{WARNING}"}}}}',
        '["12:00 started", "Loop detected: in the graph"]',
        {"wheelspin": "a"},
        {"wheelspin": "", "a": [1, None, {"text": ""}]},
        None,
        7,
    ],
)
def test_what_a_tool_printed_itself_stays(result: Any) -> None:
    """A line of a log that quotes advice, and a text that only begins like it."""
    assert without_advice(result) is result
    assert not is_blocked_result(result)


def test_advice_deep_inside_a_result_belongs_to_the_tool() -> None:
    """Nobody adds advice ten levels down, and a search without bounds would fail on deeply nested values."""
    deep: Any = WARNING
    for _ in range(2000):
        deep = [deep]

    assert without_advice(deep) is deep


@pytest.mark.parametrize(
    ("result", "is_blocked"),
    [
        (REFUSAL, True),
        ([{"type": "text", "text": REFUSAL}], True),
        ({"content": REFUSAL}, True),
        ({"error": REFUSAL}, True),
        ([{"functionResponse": {"response": {"error": REFUSAL}}}], True),
        (WARNING, False),
        (f"a\n\n{REFUSAL}", False),
        ([BLOCK, {"type": "text", "text": REFUSAL}], False),
        ([], False),
        (None, False),
    ],
)
def test_a_blocked_call_is_recognised_by_its_result(result: Any, is_blocked: bool) -> None:
    """Its result is the advice and nothing else."""
    assert is_blocked_result(result) is is_blocked


@pytest.mark.parametrize(
    "add",
    [
        lambda content, advice: f"{content}\n\n{advice}",
        lambda content, advice: f"{advice}\n\n{content}",
        lambda content, advice: [{"type": "text", "text": content}, {"type": "text", "text": advice}],
    ],
    ids=["after", "before", "block"],
)
def test_a_chat_log_of_a_guarded_session_replays_as_it_was(add: Callable[[str, str], Any], tmp_path: Path) -> None:
    """The replay warns and blocks at the same calls as the guard did, wherever the host put its advice."""
    guard = Guard()
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    live = []
    for number in range(26):
        call = ToolCall("read", {"path": "/a"}, id=f"c{number}", run_id="r")
        verdict = guard.before(call)
        live += [verdict.action] if verdict.action is not Action.ALLOW else []
        content: Any = [BLOCK] if add("", "") != "\n\n" else TEXT
        if verdict.stops:
            content = verdict.advice
        else:
            guard.after(call, Outcome.result(content))
            content = add(TEXT, verdict.advice) if verdict.advice else content
        function = {"name": "read", "arguments": '{"path": "/a"}'}
        asked = {"role": "assistant", "tool_calls": [{"id": call.id, "type": "function", "function": function}]}
        messages += [asked, {"role": "tool", "tool_call_id": call.id, "content": content}]
    path = tmp_path / "session.json"
    path.write_text(json.dumps({"messages": messages}))
    recording = Recording(path)
    replay = recording.replay()

    replayed = [played.verdict.action for played in recording.play(replay)]
    assert [action for action in replayed if action is not Action.ALLOW] == live
    assert live == [Action.WARN, *[Action.BLOCK] * 6]
