"""Replay recorded sessions through a guard: one session or many, under one or several configurations."""

from __future__ import annotations

from wheelspin.replay.engine import Intervention, Replay, ReplayedEvent, RunReport

__all__ = ["Intervention", "Replay", "ReplayedEvent", "RunReport"]
