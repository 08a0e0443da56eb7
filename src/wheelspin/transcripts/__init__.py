"""
The readers of recorded sessions, in the order in which they are asked whether they recognise a file.

Each format has one file. To add a format, write its file and list the reader in `READERS`.
"""

from __future__ import annotations

from wheelspin.errors import TranscriptError
from wheelspin.transcripts.anthropic_messages import AnthropicMessages
from wheelspin.transcripts.base import Reader
from wheelspin.transcripts.claude_code import ClaudeCode
from wheelspin.transcripts.codex import Codex
from wheelspin.transcripts.copilot_cli import CopilotCli
from wheelspin.transcripts.events import Events
from wheelspin.transcripts.files import TranscriptFile
from wheelspin.transcripts.gemini_cli import GeminiCli
from wheelspin.transcripts.openai_chat import OpenAIChat
from wheelspin.transcripts.openclaw import OpenClaw
from wheelspin.transcripts.opencode import OpenCode
from wheelspin.transcripts.qwen_code import QwenCode

__all__ = ["READERS", "reader_for"]

READERS: tuple[Reader, ...] = (
    QwenCode(),
    ClaudeCode(),
    Codex(),
    GeminiCli(),
    CopilotCli(),
    OpenClaw(),
    OpenCode(),
    Events(),
    AnthropicMessages(),
    OpenAIChat(),
)


def reader_for(file: TranscriptFile, name: str | None = None) -> Reader:
    """
    Return the reader for a file.

    Args:
        file: The file.
        name: Name of the format, if it is known; by default the first reader that recognises the file is used.

    Raises:
        TranscriptError: The file cannot be read, or no reader recognises it.
    """
    head = file.head()
    if name is not None:
        return next(reader for reader in READERS if reader.name == name)
    for reader in READERS:
        if reader.matches(head):
            return reader
    formats = ", ".join(reader.title for reader in READERS)
    raise TranscriptError(
        str(file.path),
        "this is not a session that Wheelspin can read",
        f"It reads {formats}; use `--format` to name the format.",
    )
