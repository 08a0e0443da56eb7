"""Comparing two configurations, and replaying a recorded session under several guards."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.sessions import claude, events
from wheelspin.config import Config, config_from
from wheelspin.errors import TranscriptError
from wheelspin.replay.compare import Comparison, Side
from wheelspin.replay.recording import Recording


def _config(**block: int) -> Config:
    return config_from({"tools": {"loopDetection": {"enabled": True, **block}}})


LEFT = Side("left")
RIGHT = Side("right", _config(warningThreshold=3, criticalThreshold=5))


def test_files_come_without_their_runs(tmp_path: Path) -> None:
    """The comparison keeps only the runs that differ, so that it can read any number of files."""
    comparison = Comparison((LEFT, RIGHT))
    file = comparison.play(Recording(claude(tmp_path / "s.jsonl", "/".join(["." * 9] * 20 + ["a" * 9]))))

    assert file.runs == []
    assert [difference.left.run for difference in comparison.differences] == ["#21"]
    assert [totals.runs for totals in comparison.totals] == [21, 21]


@pytest.mark.parametrize("steps", ["a" * 40, "/".join(["." * 9, "a" * 9, "ab" * 20])])
def test_a_file_that_is_too_large_to_be_held_is_read_for_each_guard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: str
) -> None:
    """The result is the same, and the progress goes from start to end once."""
    path = claude(tmp_path / "s.jsonl", steps)
    held = Comparison((LEFT, RIGHT))
    held.play(Recording(path))
    monkeypatch.setattr("wheelspin.replay.recording._LARGEST_KEPT", 0)
    monkeypatch.setattr("wheelspin.transcripts.files._LINES_PER_REPORT", 1)
    read = Comparison((LEFT, RIGHT))
    moved: list[int] = []
    read.play(Recording(path, None, moved.append))

    assert held.differences
    assert (read.differences, read.totals) == (held.differences, held.totals)
    assert moved[moved.index(path.stat().st_size // 2) :] == sorted(moved[moved.index(path.stat().st_size // 2) :])
    assert moved[-1] == path.stat().st_size


def test_a_place_that_cannot_be_read_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A problem is counted once, however often the file is read."""
    path = claude(tmp_path / "s.jsonl", "a" * 9)
    path.write_text(path.read_text() + "{broken\n")
    monkeypatch.setattr("wheelspin.replay.recording._LARGEST_KEPT", 0)

    assert Comparison((LEFT, RIGHT)).play(Recording(path)).problem_count == 1


def test_sides_with_equal_settings_never_differ(tmp_path: Path) -> None:
    """Two guards with equal settings find no difference."""
    comparison = Comparison((RIGHT, RIGHT))
    comparison.play(Recording(claude(tmp_path / "s.jsonl", "/".join(["a" * 40, "ab" * 20, "." * 9]))))

    assert comparison.differences == []
    assert comparison.totals[0] == comparison.totals[1]
    assert comparison.totals[0].ended_runs


def test_a_wrong_configuration_in_the_file_is_an_error_of_the_file(tmp_path: Path) -> None:
    """The configuration in a file applies only on a side without one of its own."""
    wrong = {"type": "config", "tools": {"loopDetection": {"enabled": 1}}}
    path = events(tmp_path / "e.jsonl", "aaa", wrong)

    with pytest.raises(TranscriptError, match="its configuration is wrong: line 1"):
        Comparison((LEFT, RIGHT)).play(Recording(path))
    assert Comparison((RIGHT, RIGHT)).play(Recording(path)).path == path


def test_a_run_that_only_one_side_counts_stands_for_itself(tmp_path: Path) -> None:
    """A configuration in the file restarts the numbering of runs on the side where it applies."""
    config = {"type": "config", "tools": {"loopDetection": {"enabled": True, "warningThreshold": 2}}}
    path = events(tmp_path / "e.jsonl", "aaaa", {"type": "call", "tool": "look"}, {"type": "user_message"}, config)
    comparison = Comparison((LEFT, RIGHT))
    comparison.play(Recording(path))
    sides = [(difference.left, difference.right) for difference in comparison.differences]

    assert [(left.run, left.warnings, right.warnings) for left, right in sides] == [("#1", 1, 0), ("#2", 0, 1)]
