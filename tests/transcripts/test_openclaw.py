"""The details of the sessions of OpenClaw and pi."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.transcripts.reading import outcomes, read, write
from wheelspin import Outcome
from wheelspin.transcripts.base import (
    Compacted,
    TokensUsed,
    ToolCalled,
    UserMessage,
)


@pytest.mark.parametrize(
    ("tool", "message", "outcome"),
    [
        ("read", {"content": "x"}, Outcome.result({"content": "x", "details": None})),
        ("read", {"content": "x", "isError": True}, Outcome.error("x")),
        ("bash", {"content": "x", "details": {}, "isError": True}, Outcome.shell("x", status="failed")),
        (
            "exec",
            {"content": "x", "details": {"status": "failed", "exitCode": 1}, "isError": True},
            Outcome.result({"content": "x", "details": {"status": "failed", "exitCode": 1}}),
        ),
    ],
)
def test_outcomes_are_told_apart(tool: str, message: dict[str, Any], outcome: Outcome, tmp_path: Path) -> None:
    """The details of a command are used if there are any; otherwise its text and its error flag."""
    wanted = {"type": "toolCall", "id": "c1", "name": tool, "arguments": {}}
    path = write(
        tmp_path,
        {"type": "session", "id": "s"},
        {"type": "message", "message": {"role": "assistant", "content": [wanted]}},
        {"type": "message", "message": {"role": "toolResult", "toolCallId": "c1", **message}},
    )

    assert outcomes(read(path)[0]) == [outcome]


def test_compactions_resets_and_all_branches_are_read(tmp_path: Path) -> None:
    """The calls of an abandoned branch were made as well."""

    def call(number: int, parent: str) -> dict[str, Any]:
        wanted = {"type": "toolCall", "id": f"c{number}", "name": "read", "arguments": {}}
        message = {"role": "assistant", "content": [wanted], "usage": {"input": 3, "output": 4}}
        return {"type": "message", "id": f"e{number}", "parentId": parent, "message": message}

    user = {"type": "message", "id": "u", "parentId": "h", "message": {"role": "user", "content": "go"}}
    path = write(
        tmp_path,
        user,
        call(1, "u"),
        user | {"id": "u2", "parentId": "u"},
        call(2, "u2"),
        {"type": "compaction", "id": "k", "summary": "…"},
        {"type": "reset"},
        {"type": "model_change"},
    )
    kinds = [type(event) for event in read(path)[0]]

    assert kinds == [
        UserMessage,
        ToolCalled,
        TokensUsed,
        UserMessage,
        ToolCalled,
        TokensUsed,
        Compacted,
        UserMessage,
    ]
