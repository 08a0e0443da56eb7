"""
The Claude Agent SDK.

`guarded` gives options with which each session is guarded by hooks in this process: those of the command-line hook of
Claude Code, with one guard in memory in place of its store. A run is a prompt, from the user's message to the answer.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import replace
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, HookMatcher, Message, ResultMessage

from wheelspin.core.events import Verdict
from wheelspin.core.guard import Guard
from wheelspin.errors import ToolLoopError
from wheelspin.hooks.base import act
from wheelspin.hooks.claude_code import HOOK
from wheelspin.watch import fail_open

__all__ = ["TOOLS", "ending_of", "guarded", "raising"]

TOOLS = HOOK.tools
"""What is known about Claude Code's tools, for a guard of your own: `Guard(settings, tools=TOOLS)`."""
_EVENTS = ("UserPromptSubmit", "PreToolUse", "PostToolBatch", "PostCompact")


def guarded(options: ClaudeAgentOptions | None = None, guard: Guard | None = None) -> ClaudeAgentOptions:
    """
    Give options with which sessions are guarded against loops of tool calls.

    Args:
        options: Your options; they are left as they are, and their hooks run, too.
        guard: The guard; without one, a guard with its detectors on. Many sessions may share it.

    Returns:
        The options for `query` or a `ClaudeSDKClient`.

    Example:
        ```python
        async for message in query(prompt="…", options=guarded()):
            ...
        ```
    """
    given = ClaudeAgentOptions() if options is None else options
    watch = HookMatcher(hooks=[_Watch(Guard(tools=TOOLS) if guard is None else guard)])
    hooks: dict[Any, list[HookMatcher]] = dict(given.hooks or {})
    for event in _EVENTS:
        hooks[event] = [*hooks.get(event, ()), watch]
    return replace(given, hooks=hooks)


async def raising(messages: AsyncIterable[Message], guard: Guard) -> AsyncIterator[Message]:
    """
    Give the messages of a session, and raise when they are over where the guard has ended a run.

    Args:
        messages: What `query` or a client's `receive_response` gives.
        guard: The guard that `guarded` was given.

    Raises:
        ToolLoopError: A run was ended.

    Example:
        ```python
        async for message in raising(query(prompt="…", options=guarded(guard=guard)), guard):
            ...
        ```
    """
    ending = None
    async for message in messages:
        ending = ending or ending_of(message, guard)
        yield message
    if ending is not None:
        raise ToolLoopError(ending)


def ending_of(message: Message, guard: Guard) -> Verdict | None:
    """
    Give the verdict that ended a run.

    Args:
        message: A message of a session.
        guard: The guard that `guarded` was given.

    Returns:
        The verdict, where the message is the result of a run that the guard has ended.
    """
    if not isinstance(message, ResultMessage) or message.terminal_reason != "hook_stopped":
        return None
    of_session = (record for record in guard.records() if record.session_id == message.session_id)
    newest = next((record for record in of_session if record.agent_id is None), None)
    return None if newest is None else guard.ending(newest.run_id, newest.session_id)


class _Watch:
    """The hook of all events."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def __call__(self, payload: Any, tool_use_id: str | None, context: Any) -> Any:
        reply = None
        with fail_open(self._guard):
            event = HOOK.event(payload)
            reply = None if event is None else HOOK.reply(event, act(event, self._guard))
        return {} if reply is None else {_PYTHON.get(key, key): value for key, value in reply.items()}


_PYTHON = {"continue": "continue_"}
"""How a key of a reply is spelled in Python."""
