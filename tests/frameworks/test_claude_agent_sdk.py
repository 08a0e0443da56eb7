"""The adapter of the Claude Agent SDK, with the real Claude that it brings along."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from claude_agent_sdk import (
    ClaudeSDKClient,
    HookMatcher,
    Message,
    ResultMessage,
    create_sdk_mcp_server,
    query,
    tool,
)

from tests.agents.scripted_model import Ask, ScriptedModel
from tests.frameworks.pages import run_looping_example, run_page
from tests.frameworks.players.claude_agent_sdk import SERVER, environment, heard_after, options_of, play, played
from wheelspin import Guard
from wheelspin.adapters import claude_agent_sdk
from wheelspin.adapters.claude_agent_sdk import TOOLS, ending_of, guarded, raising
from wheelspin.cli import main
from wheelspin.errors import ToolLoopError
from wheelspin.testing import check_adapter

ECHO: list[Ask] = [("Bash", {"command": "echo hi", "description": "say hi"})]
WARNED = "Loop detected: `Bash` was called 10 times"


def _loop(turn: int) -> list[Ask]:
    return ECHO if turn < 60 else []


def _turns(script: list[list[Ask]]) -> Callable[[int], list[Ask]]:
    return lambda turn: script[turn] if turn < len(script) else []


def _result(messages: list[Message]) -> ResultMessage:
    (result,) = (message for message in messages if isinstance(message, ResultMessage))
    return result


def _run(home: Path, model: ScriptedModel, guard: Guard, **more: Any) -> list[Message]:
    return asyncio.run(played("go", guarded(options_of(home, model, **more), guard), guard))


def test_an_agent_does_what_the_guard_alone_decides() -> None:
    """Claude runs the hooks for all calls of a message before the first result, and sends all advice after the last."""
    check_adapter(play, without=["two parallel calls"])


def test_a_loop_is_ended_with_an_error_and_reported_in_the_result(tmp_path: Path) -> None:
    """The record contains Claude's session and prompt ids; the result has neither text nor error."""
    guard = Guard(tools=TOOLS)
    seen: list[Message] = []
    payloads: list[Any] = []

    async def look(payload: Any, *_: Any) -> Any:
        payloads.append(payload)
        return {}

    async def run(model: ScriptedModel) -> None:
        given: Any = {"UserPromptSubmit": [HookMatcher(hooks=[look])]}
        options = guarded(options_of(tmp_path, model, hooks=given), guard)
        async for message in raising(query(prompt="go", options=options), guard):
            seen.append(message)  # noqa: PERF401 - what came before the exception is to be kept

    with ScriptedModel(_loop) as model, pytest.raises(ToolLoopError) as ended:
        asyncio.run(run(model))

    result = _result(seen)
    assert (result.is_error, result.subtype, result.terminal_reason) == (False, "success", "hook_stopped")
    assert ending_of(result, guard) == ended.value.verdict
    assert ended.value.code == "global_circuit_breaker"
    (record,) = guard.records()
    assert (record.session_id, record.run_id) == (result.session_id, payloads[0]["prompt_id"])
    assert (record.calls, record.warnings, record.blocks) == (31, 1, 11)


def test_calls_of_one_message_each_get_one_result(tmp_path: Path) -> None:
    """They count one by one, including calls of unknown tools."""
    guard = Guard(tools=TOOLS)
    three: list[Ask] = [("Bash", {"command": f"echo {number}"}) for number in range(3)]
    with ScriptedModel(_turns([three] * 4 + [[("Frobnicate", {})]] * 12)) as model:
        _run(tmp_path, model, guard)
        results = list(heard_after(model))

    assert len({result["tool_use_id"] for result, _ in results}) == len(results) == 24
    assert sorted(result["content"] for result, _ in results[:3]) == ["0", "1", "2"]
    assert "`Frobnicate` was called 10 times, but there is no tool of that name" in results[22][1]
    assert [record.calls for record in guard.records()] == [24]


def test_each_prompt_is_a_run_and_a_session_continues_after_an_end(tmp_path: Path) -> None:
    """A client sends several prompts in one session."""
    guard = Guard(tools=TOOLS)

    async def run(model: ScriptedModel) -> ResultMessage:
        async with ClaudeSDKClient(guarded(options_of(tmp_path, model), guard)) as client:
            await client.query("go")
            with pytest.raises(ToolLoopError):
                async for _ in raising(client.receive_response(), guard):
                    pass
            await client.query("go on")
            return _result([message async for message in raising(client.receive_response(), guard)])

    with ScriptedModel(lambda turn: ECHO if turn < 36 else []) as model:
        result = asyncio.run(run(model))

    assert result.terminal_reason == "completed"
    assert [(record.calls, record.warnings) for record in guard.records()] == [(5, 0), (31, 1)]
    assert {record.session_id for record in guard.records()} == {result.session_id}


def test_sessions_of_one_guard_do_not_see_each_other(tmp_path: Path) -> None:
    """The sessions can run at the same time."""
    guard = Guard(tools=TOOLS)
    homes = [tmp_path / name for name in ("one", "two")]
    for home in homes:
        home.mkdir()

    async def run(models: list[ScriptedModel]) -> list[list[Message]]:
        both = zip(homes, models, strict=True)
        options = [guarded(options_of(home, model), guard) for home, model in both]
        return await asyncio.gather(*(played("go", given, guard) for given in options))

    with ScriptedModel(_turns([ECHO] * 9)) as one, ScriptedModel(_turns([ECHO] * 9)) as two:
        sessions = {_result(messages).session_id for messages in asyncio.run(run([one, two]))}

    assert {(record.session_id, record.calls, record.warnings) for record in guard.records()} == {
        (session, 9, 0) for session in sessions
    }
    assert len(sessions) == 2


def test_a_loop_that_survives_a_compaction_ends_the_run(tmp_path: Path) -> None:
    """A compaction arms the guard."""
    guard = Guard(tools=TOOLS)
    tokens = {4: 990_000}
    with ScriptedModel(_loop, lambda turn: tokens.get(turn, 100)) as model, pytest.raises(ToolLoopError) as ended:
        _run(tmp_path, model, guard)

    assert model.shortened == 1
    assert ended.value.code == "compaction_loop_persisted"
    assert guard.records()[0].calls == 8


def test_a_subagent_that_loops_is_ended_and_the_agent_above_it_continues(tmp_path: Path) -> None:
    """Each has a run of its own, and the record names the sub-agent."""
    guard = Guard(tools=TOOLS)
    task = {"description": "d", "prompt": "p", "subagent_type": "general-purpose", "run_in_background": False}
    start: list[Ask] = [("Agent", task)]
    with ScriptedModel(lambda turn: start if turn == 0 else ECHO if turn <= 31 else []) as model:
        result = _result(_run(tmp_path, model, guard))

    assert result.terminal_reason == "completed"
    above, below = sorted(guard.records(), key=lambda record: record.calls)
    assert (above.agent_id, above.calls, above.ended) == (None, 1, False)
    assert (below.calls, below.code, below.session_id) == (31, "global_circuit_breaker", result.session_id)
    assert below.agent_id


def test_hooks_of_the_user_run_too_and_the_options_stay_as_they_are(tmp_path: Path) -> None:
    """This holds even for hooks of the same events."""
    guard = Guard(tools=TOOLS)
    seen: list[str] = []

    async def look(payload: Any, *_: Any) -> Any:
        seen.append(payload["hook_event_name"])
        return {}

    with ScriptedModel(_turns([ECHO] * 11)) as model:
        hooks: Any = {name: [HookMatcher(matcher="Bash", hooks=[look])] for name in ("PreToolUse", "PostToolUse")}
        given = options_of(tmp_path, model, hooks=hooks)
        asyncio.run(played("go", guarded(given, guard), guard))
        assert WARNED in model.heard()

    assert seen == ["PreToolUse", "PostToolUse"] * 11
    assert given.hooks is hooks
    assert [len(matchers) for matchers in hooks.values()] == [1, 1]


def test_options_are_not_needed() -> None:
    """Without options, only the hooks are set."""
    hooks = guarded().hooks
    assert hooks is not None
    assert set(hooks) == {"UserPromptSubmit", "PreToolUse", "PostToolBatch", "PostCompact"}


@pytest.mark.parametrize("sources", [None, []], ids=["with the user's settings", "without"])
def test_the_installed_hook_judges_by_itself_where_settings_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sources: Any
) -> None:
    """Both give the same advice at the same calls, so the model reads it twice; without settings only one runs."""
    guard = Guard(tools=TOOLS)
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "WHEELSPIN_STORE", "WHEELSPIN_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    with ScriptedModel(_loop) as model:
        for name, value in environment(tmp_path, model).items():
            monkeypatch.setenv(name, value)
        assert main(["install", "claude-code"]) == 0
        with pytest.raises(ToolLoopError):
            _run(tmp_path, model, guard, setting_sources=sources)
        heard = model.heard()

    assert heard.count(WARNED) == (2 if sources is None else 1)
    (record,) = guard.records()
    assert (record.calls, record.warnings, record.blocks) == (31, 1, 11)


def test_a_result_of_blocks_is_compared_too(tmp_path: Path) -> None:
    """Blocks are compared, not only texts."""
    guard = Guard(tools=TOOLS)

    @tool("look", "look at a path", {"path": str})
    async def look(given: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": "one"}, {"type": "text", "text": given["path"]}]}

    ask: list[Ask] = [(f"mcp__{SERVER}__look", {"path": "/a"})]
    with ScriptedModel(_turns([ask] * 21)) as model:
        _run(tmp_path, model, guard, mcp_servers={SERVER: create_sdk_mcp_server(SERVER, tools=[look])})
        results = [result for result, _ in heard_after(model)]

    assert [len(result["content"]) for result in results[:20]] == [2] * 20
    assert [result.get("is_error", False) for result in results] == [False] * 20 + [True]


def test_a_guard_that_crashes_breaks_no_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All calls still run."""
    guard = Guard(tools=TOOLS)
    monkeypatch.setattr(Guard, "strict", False)
    monkeypatch.setattr(guard, "_before", lambda _: 1 / 0)
    monkeypatch.setattr(guard, "_after", lambda *_: 1 / 0)
    with ScriptedModel(_turns([ECHO] * 12)) as model:
        assert _result(_run(tmp_path, model, guard)).terminal_reason == "completed"
        assert [result["content"] for result, _ in heard_after(model)] == ["hi"] * 12


def test_a_payload_of_another_shape_breaks_no_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The call is not guarded."""
    guard = Guard(tools=TOOLS)
    monkeypatch.setattr(claude_agent_sdk, "HOOK", None)
    with ScriptedModel(_turns([ECHO] * 3)) as model:
        assert _result(_run(tmp_path, model, guard)).terminal_reason == "completed"
        assert [result["content"] for result, _ in heard_after(model)] == ["hi"] * 3

    assert guard.records() == []


def test_the_page_and_the_example_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page's program runs with a scripted model; the example shows a warning, a block and the end."""
    with ScriptedModel(_loop) as model:
        for name, value in environment(tmp_path, model).items():
            monkeypatch.setenv(name, value)
        scope: Any = run_page("claude_agent_sdk")
        ended = asyncio.run(scope["main"]())

    assert isinstance(ended, ToolLoopError)
    run_looping_example("claude_agent_sdk_agent")
