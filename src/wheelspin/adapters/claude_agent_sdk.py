"""
The adapter for the Claude Agent SDK.

`guarded` returns options that guard every session by hooks in this process. They work like the command-line hook of
Claude Code, with a guard in memory instead of a store. A run is a prompt, from the user's message to the answer.
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
"""What is known about Claude Code's tools; pass it to a guard of your own: `Guard(settings, tools=TOOLS)`."""
_EVENTS = ("UserPromptSubmit", "PreToolUse", "PostToolBatch", "PostCompact")


def guarded(options: ClaudeAgentOptions | None = None, guard: Guard | None = None) -> ClaudeAgentOptions:
    """
    Return options that guard sessions against tool-call loops.

    Args:
        options: Your options. They are not changed, and their hooks still run.
        guard: The guard; by default one with its detectors on. Sessions can share it.

    Returns:
        The options for `query` or a `ClaudeSDKClient`.

    Example:
        ```python
        async for message in query(prompt="…", options=guarded()):
            ...
        ```
    """
    user_options = ClaudeAgentOptions() if options is None else options
    hook = HookMatcher(hooks=[_Hook(Guard(tools=TOOLS) if guard is None else guard)])
    hooks: dict[Any, list[HookMatcher]] = dict(user_options.hooks or {})
    for event in _EVENTS:
        hooks[event] = [*hooks.get(event, ()), hook]
    return replace(user_options, hooks=hooks)


async def raising(messages: AsyncIterable[Message], guard: Guard) -> AsyncIterator[Message]:
    """
    Yield the messages of a session, and raise at the end if the guard ended a run.

    Args:
        messages: The messages from `query` or a client's `receive_response`.
        guard: The guard that was passed to `guarded`.

    Yields:
        Each message, unchanged.

    Raises:
        ToolLoopError: The guard ended a run. Raised after the last message.

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
    Return the verdict that ended a run.

    Args:
        message: A message of a session.
        guard: The guard that was passed to `guarded`.

    Returns:
        The verdict if the message is the result of a run that the guard ended, else `None`.
    """
    if not isinstance(message, ResultMessage) or message.terminal_reason != "hook_stopped":
        return None
    of_session = (record for record in guard.records() if record.session_id == message.session_id)
    newest = next((record for record in of_session if record.agent_id is None), None)
    return None if newest is None else guard.ending(newest.run_id, newest.session_id)


class _Hook:
    """The hook for all events."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def __call__(self, payload: Any, tool_use_id: str | None, context: Any) -> Any:
        reply = None
        with fail_open(self._guard):
            event = HOOK.event(payload)
            reply = None if event is None else HOOK.reply(event, act(event, self._guard))
        return {} if reply is None else {_PYTHON_KEYS.get(key, key): value for key, value in reply.items()}


_PYTHON_KEYS = {"continue": "continue_"}
"""Keys of a reply that have another name in Python."""
