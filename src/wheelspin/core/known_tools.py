"""
The table of known tools: everything that names a tool stands here and nowhere else.

A host makes its own table with `TOOLS.extended(...)`.
"""

from __future__ import annotations

from wheelspin.core.hints import NEVER, ToolHint
from wheelspin.core.identifiers import normalised_key
from wheelspin.core.tools import ResultRule, Tool, ToolTable

__all__ = ["TOOLS"]

_SENDING = (
    "send",
    "broadcast",
    "reply",
    "thread-reply",
    "sendWithEffect",
    "sendAttachment",
    "upload-file",
    "sticker",
    "poll",
)
TOOLS = ToolTable(
    [
        Tool("exec", ResultRule.SHELL),
        Tool("command_status", polls=True),
        Tool(
            "process",
            by_action={
                "poll": Tool("process", ResultRule.POLL, polls=True),
                "log": Tool("process", ResultRule.LOG, polls=True),
            },
        ),
        Tool("sessions_send", ResultRule.MESSAGE),
        Tool(
            "message",
            by_action={str(normalised_key(action)): Tool("message", ResultRule.MESSAGE) for action in _SENDING},
        ),
    ],
    aliases={"bash": "exec", "apply-patch": "apply_patch", "process_manage": "process"},
    hints=[
        ("read_file", ToolHint(volatile=["/read .*× this session/"])),
        ("save_memory", ToolHint(volatile=["/stored as .*/"])),
        ("view_background_agent", ToolHint(poll=True, critical_threshold=NEVER)),
    ],
)
"""
The tools that the documented detection knows (SPEC 3, 4.2 and 6), and what the field has taught since: one more name, a
counter and an id that are ignored, and watching another agent, which has a guard of its own and ends by itself.
"""
