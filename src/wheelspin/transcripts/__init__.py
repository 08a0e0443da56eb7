"""
The readers, in the order in which they are asked whether a file is theirs.

One file, one format. To add one, write its file and name it here.
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


def reader_for(source: TranscriptFile, name: str | None = None) -> Reader:
    """
    Give the reader of a file.

    Args:
        source: The file.
        name: The format, where the user knows it; else it is found out by looking.

    Raises:
        TranscriptError: The file cannot be read, or is of no format that is known.
    """
    head = source.head()
    if name is not None:
        return next(reader for reader in READERS if reader.name == name)
    for reader in READERS:
        if reader.matches(head):
            return reader
    formats = ", ".join(reader.title for reader in READERS)
    raise TranscriptError(
        str(source.path),
        "this is no session that Wheelspin can read",
        f"It reads {formats}; see `--format` to name one.",
    )
