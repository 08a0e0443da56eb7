"""
The runs that detectors are measured on: what an agent called, what came back, and what people say of it.

A run goes to a peer as one JSON line and comes back as one JSON line of signals; see `evaluation/peers/README.md`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Call", "Run", "Stretch", "recorded"]

RECORDED = Path(__file__).resolve().parents[2] / "shared" / "traces" / "runs.jsonl.gz"
"""Real runs with labels, which lie beside a developer's checkout."""

CODING_AGENTS = (
    "entire-",
    "kimi-cli-",
    "pi-sessions",
    "mini-swe-agent",
    "native-fixtures",
    "bfcl-multi-turn",
    "pydantic-ai-deepagents",
    "openhands-events",
)
"""Sources whose runs are good work without a loop: warning there is a false alarm."""


class Call(NamedTuple):
    """One call of a tool, and what came back."""

    tool: str
    args: Any
    result: Any
    error: bool = False
    message: int | None = None
    """Calls with the same number came in one message of the model: they ran in parallel."""
    user_before: bool = False
    """The user spoke before this call."""
    compaction_before: bool = False
    """The context was shortened before this call."""


class Stretch(NamedTuple):
    """A part of a run that somebody has judged; places are call numbers, counted from 0, both ends included."""

    label: str
    """`loop` or `ok`."""
    kind: str
    start: int
    end: int
    waste_from: int = 0
    """Of a loop: the first call that brings nothing new."""


class Run(NamedTuple):
    """One task of one agent."""

    id: str
    source: str
    calls: list[Call]
    stretches: list[Stretch]
    is_clean: bool
    """Whether every signal in it is a false alarm."""

    def line(self) -> str:
        """Give the run as a peer reads it: without what people say of it."""
        return json.dumps({"id": self.id, "calls": [call._asdict() for call in self.calls]})


def recorded(path: Path = RECORDED) -> Iterator[Run]:
    """Give the recorded runs that count: those with a judged stretch, and the clean ones of coding agents."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            run = json.loads(line)
            is_clean = run["source"].startswith(CODING_AGENTS)
            stretches = [
                Stretch(label["label"], label["kind"], label["start"], label["end"], label.get("waste_from") or 0)
                for label in run["labels"]
                if label["label"] in {"loop", "ok"}
            ]
            if stretches or is_clean:
                yield Run(run["run"], run["source"], [_call(call) for call in run["calls"]], stretches, is_clean)


def _call(call: dict[str, Any]) -> Call:
    return Call(
        call["tool"],
        call["args"],
        call["result"],
        bool(call["error"]),
        call.get("msg"),
        bool(call.get("user_before")),
        bool(call.get("compaction_before")),
    )
