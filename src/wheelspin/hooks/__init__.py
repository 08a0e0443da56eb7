"""The hooks: one file, one host."""

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
"""The hosts, each with its file."""


def hook_named(name: str) -> Hook:
    """
    Give the hook of a host.

    Raises:
        ConfigError: There is none.
    """
    module = HOOKS.get(name)
    if module is None:
        from wheelspin.errors import ConfigError, Fault

        raise ConfigError("the hook", [Fault("", f"there is no host {name!r}", f"one of {', '.join(HOOKS)}")])
    from importlib import import_module

    hook: Hook = import_module(f"wheelspin.hooks.{module}").HOOK
    return hook
