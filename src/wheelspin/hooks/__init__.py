"""The hooks: one file per command-line agent."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.hooks.base import Hook

__all__ = ["HOOKS", "hook_named"]

HOOKS = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini-cli": "gemini_cli",
    "copilot-cli": "copilot_cli",
    "qwen-code": "qwen_code",
    "opencode": "opencode",
}
"""The command-line agents, each with the name of its file."""


def hook_named(name: str) -> Hook:
    """
    Return the hook of a command-line agent.

    Raises:
        ConfigError: There is no such agent.
    """
    module = HOOKS.get(name)
    if module is None:
        from wheelspin.errors import ConfigError, Fault

        raise ConfigError("hook", [Fault("", f"there is no agent {name!r}", f"one of {', '.join(HOOKS)}")])
    hook: Hook = __import__(f"wheelspin.hooks.{module}", fromlist=["HOOK"]).HOOK
    return hook
