"""
Calls and results of Claude Code, as it tells them to hooks and as it writes them down.

An image in a result is put into a file, whose name, another each time, stands behind it as a text.
"""

from __future__ import annotations

from wheelspin.core.known_tools import TOOLS
from wheelspin.wire.texts import lone_text, text_in

__all__ = ["CLAUDE_TOOLS", "DENIED", "shown_of"]

CLAUDE_TOOLS = TOOLS.extended(
    ignored={"bash": ["description"]},
    polls=["TaskOutput", "BashOutput", "AgentOutputTool"],
    plans=["TodoWrite"],
)
"""What is known about its tools. The free-text `description` of a `Bash` call is worded anew each time."""
DENIED = ("The user doesn't want to proceed with this tool use", "Permission to use ", "[Request interrupted by user")
"""How begins what it says of a call that the user refused."""
_FILE = "[Image: source: "


def shown_of(content: object) -> object:
    """
    Give what a result shows: blocks without the names of the files that images were put into, a lone text as a text.

    Example:
        >>> image = {"type": "image", "source": {"data": "AA=="}}
        >>> shown_of([image, {"type": "text", "text": "[Image: source: /home/sam/blob-17.png]"}]) == [image]
        True
        >>> shown_of([{"type": "text", "text": "pong"}])
        'pong'
    """
    if type(content) is not list:
        return content
    return lone_text([block for block in content if not _names_a_file(block)])


def _names_a_file(block: object) -> bool:
    text = text_in(block.get("text")) if isinstance(block, dict) else ""
    return text.startswith(_FILE) and text.endswith("]") and "\n" not in text
