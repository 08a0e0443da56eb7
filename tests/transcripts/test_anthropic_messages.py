"""The details of Anthropic messages."""

from __future__ import annotations

import json
from pathlib import Path

from wheelspin.transcripts import reader_for
from wheelspin.transcripts.base import (
    Compacted,
    ToolCalled,
    ToolReturned,
    UserMessage,
)
from wheelspin.transcripts.files import TranscriptFile


def test_anthropic_messages_are_told_from_openai_messages(tmp_path: Path) -> None:
    """Their blocks identify them; server tools are calls, and a compaction block is a compaction."""
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {
            "role": "assistant",
            "content": [
                {"type": "compaction", "content": "summary"},
                {"type": "server_tool_use", "id": "t1", "name": "web_search", "input": {"query": "x"}},
                {"type": "web_search_tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "y"}]},
            ],
        },
    ]
    path = tmp_path / "messages.json"
    path.write_text(json.dumps(messages))
    source = TranscriptFile(path)
    reader = reader_for(source)
    events = list(reader.read(source))

    assert reader.name == "anthropic_messages"
    assert [type(event) for event in events] == [UserMessage, Compacted, ToolCalled, ToolReturned]
