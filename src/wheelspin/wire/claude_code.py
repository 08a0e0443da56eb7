"""
Calls and results of Claude Code, as hooks receive them and as sessions record them.

Claude Code stores an image of a result in a file and adds the file's name, which is always different, as a text.
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
"""What is known about its tools. The free-text `description` of a `Bash` call is ignored, as its wording varies."""
DENIED = ("The user doesn't want to proceed with this tool use", "Permission to use ", "[Request interrupted by user")
"""How the result of a call begins that the user refused."""
_FILE = "[Image: source: "


def shown_of(content: object) -> object:
    """
    Return the content of a result without the names of image files; a single text block becomes its text.

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
