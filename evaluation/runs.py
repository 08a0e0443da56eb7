"""
The runs that detectors are measured on: an agent's calls, their results, and the labels that people gave.

A run is sent to a peer as one JSON line, and answered with one JSON line of signals; see `evaluation/peers/README.md`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Call", "Run", "Stretch", "recorded"]

RECORDED = Path(__file__).resolve().parents[2] / "shared" / "traces" / "runs.jsonl.gz"
"""Real runs with labels, in a folder beside the checkout."""

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
"""Sources of good work without loops, where every warning is a false alarm."""


class Call(NamedTuple):
    """A call of a tool and its result."""

    tool: str
    args: Any
    result: Any
    error: bool = False
    message: int | None = None
    """Number of the model's message; calls with the same number ran in parallel."""
    user_before: bool = False
    """Whether the user wrote a message before this call."""
    compaction_before: bool = False
    """Whether the context was compacted before this call."""


class Stretch(NamedTuple):
    """A labelled part of a run; its ends are call numbers from 0, both included."""

    label: str
    """`loop` or `ok`."""
    kind: str
    start: int
    end: int
    waste_from: int = 0
    """In a loop, the first call that brings nothing new."""


class Run(NamedTuple):
    """One task of one agent."""

    id: str
    source: str
    calls: list[Call]
    stretches: list[Stretch]
    is_clean: bool
    """Whether every signal in it is a false alarm."""

    def line(self) -> str:
        """Return the JSON line for a peer, without the labels."""
        return json.dumps({"id": self.id, "calls": [call._asdict() for call in self.calls]})


def recorded(path: Path = RECORDED) -> Iterator[Run]:
    """Yield the recorded runs with a labelled stretch, and the clean runs of coding agents."""
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
