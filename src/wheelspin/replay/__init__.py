"""Recorded sessions through a guard, as if it had been there: one session, many, and under several settings."""

from __future__ import annotations

from wheelspin.replay.engine import Judged, Replay, RunReport, Sighting

__all__ = ["Judged", "Replay", "RunReport", "Sighting"]
