"""Tuning: the candidates, the borderline runs, the labels and the recommendation."""

from __future__ import annotations

import json
from pathlib import Path

import pyjson5
import pytest

from tests.cli.sessions import claude
from wheelspin.config import config_from
from wheelspin.core.detectors.stagnation import Stagnation
from wheelspin.core.events import Action
from wheelspin.errors import ConfigError
from wheelspin.replay.recording import Recording
from wheelspin.replay.tuning import Candidate, Labels, Score, Trial, Tuning, grid, recommend

LAX = Candidate("lax", {"warningThreshold": 12, "criticalThreshold": 25})
STANDARD = Candidate("standard", {})
STRICT = Candidate("strict", {"warningThreshold": 3, "criticalThreshold": 5})
THREE = (LAX, STANDARD, STRICT)


def _tuned(path: Path, labels: Path | None = None) -> Tuning:
    tuning = Tuning(THREE, Labels(labels) if labels else None)
    tuning.play(Recording(path))
    return tuning


class TestGrid:
    def test_it_is_small_and_every_name_is_its_own(self) -> None:
        """The presets are among the candidates, and names are unique."""
        names = [candidate.name for candidate in grid()]

        assert {"standard", "early"} <= set(names)
        assert len(names) == len(set(names)) <= 10

    @pytest.mark.parametrize("candidate", grid(), ids=lambda candidate: candidate.name)
    def test_each_setting_is_right_and_written_as_it_is(self, candidate: Candidate) -> None:
        """A candidate is valid, switched on, and equal to the file that is written for it."""
        resolution = candidate.config().resolve()
        written = config_from(pyjson5.decode(candidate.text(["why"])))

        assert resolution.settings.enabled
        assert resolution.notices == ()
        assert written.for_agent() == resolution.settings
        assert candidate.text(["why"]).startswith("// why\n{\n  tools: {\n    loopDetection: {\n      enabled: true,\n")

    def test_each_setting_differs_from_the_others(self) -> None:
        """No settings are tried twice."""
        found = [candidate.config().for_agent() for candidate in grid()]

        assert len(set(found)) == len(found)

    def test_a_step_that_would_fall_below_one_is_left_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A preset may already have the lowest thresholds."""
        monkeypatch.setattr(Stagnation, "default_thresholds", {"early": (1, 2)})
        names = [candidate.name for candidate in grid()]

        assert "early-strict" not in names
        assert "early-lax" in names


class TestBorderline:
    def test_a_run_on_which_the_settings_disagree_is_borderline(self, tmp_path: Path) -> None:
        """Runs that all candidates leave alone, or that all stop, are not."""
        tuning = _tuned(claude(tmp_path / "s.jsonl", "/".join(["." * 9, "a" * 9, "a" * 35, "a" * 11])))

        assert [(line.run.run, line.levels) for line in tuning.borderline] == [
            ("#2", (Action.ALLOW, Action.ALLOW, Action.BLOCK)),
            ("#4", (Action.ALLOW, Action.WARN, Action.BLOCK)),
        ]
        assert [line.intervention.count for line in tuning.borderline] == [3, 10]
        assert [(trial.warned, trial.stopped, trial.beyond) for trial in tuning.trials] == [
            (1, 1, 0),
            (2, 1, 0),
            (3, 3, 2),
        ]

    def test_its_id_is_that_of_the_run_wherever_the_file_is(self, tmp_path: Path) -> None:
        """The id stays the same when the session continues."""
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        before = _tuned(claude(tmp_path / "s.jsonl", "a" * 9 + "/" + "b" * 9))
        after = _tuned(claude(elsewhere / "s.jsonl", "a" * 9 + "/" + "b" * 12 + "/" + "c" * 9))
        other = _tuned(claude(tmp_path / "t.jsonl", "a" * 9))
        ids = [line.id for line in after.borderline]

        assert [line.id for line in before.borderline] == ids[:2]
        assert len({*ids, *(line.id for line in other.borderline)}) == 4

    def test_two_files_that_are_alike_have_two_ids(self, tmp_path: Path) -> None:
        """A label belongs to one run."""
        path = claude(tmp_path / "s.jsonl", "a" * 9)
        tuning = _tuned(path)
        tuning.play(Recording(path))
        first, second = (line.id for line in tuning.borderline)

        assert second == f"{first}-2"


class TestLabels:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "it is not valid JSON: expecting value at line 1, column 1"),
            ('{"a": "loop"', "it is not valid JSON: expecting ',' delimiter at line 1, column 13"),
            ("[" * 100_000, "it is not valid JSON"),
            ('["loop"]', "it is not a JSON object"),
            ("null", "it is not a JSON object"),
            ('{"a": "lop"}', '`a`: found "lop", expected "loop", "ok" or null'),
            ('{"a": 3}', "`a`: found 3, expected"),
            ('{"a": {"loop": "ok"}}', "`a`: found an object, expected"),
            ('{"a": ["loop"]}', '`a`: found ["loop"], expected'),
            ('{"a": "loop", "a": "ok"}', "`a`: found the id twice, expected it once; keep the correct one"),
            ('{"a": "x", "b": "y"}', "2 faults"),
            (b"\xff\xfe", "it is not valid JSON"),
        ],
    )
    def test_a_fault_is_named_with_its_place_and_the_next_step(
        self, tmp_path: Path, text: str | bytes, said: str
    ) -> None:
        """The file stays unchanged."""
        path = tmp_path / "labels.json"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        before = path.read_bytes()

        with pytest.raises(ConfigError) as fault:
            Labels(path)
        assert fault.value.diagnostics().startswith(f"{path}: ")
        assert said in fault.value.diagnostics()
        assert path.read_bytes() == before

    def test_new_runs_are_added_and_the_rest_is_kept(self, tmp_path: Path) -> None:
        """Labels that the user added in the meantime are kept, and so are the file's permissions."""
        path = tmp_path / "labels.json"
        path.write_text('\ufeff{"b": "loop", "gone": "ok"}')
        path.chmod(0o600)
        labels = Labels(path)
        path.write_text('{"b": "ok", "gone": "ok"}')
        labels.add(["a", "b"])

        assert json.loads(path.read_text()) == {"b": "ok", "gone": "ok", "a": None}
        assert labels.added == 1
        assert path.stat().st_mode & 0o777 == 0o600
        assert [file.name for file in tmp_path.iterdir()] == ["labels.json"]

    def test_where_no_run_is_new_nothing_is_written(self, tmp_path: Path) -> None:
        """The file stays identical to the byte."""
        path = tmp_path / "labels.json"
        path.write_text('{"a":"ok"}')
        Labels(path).add(["a"])

        assert path.read_text() == '{"a":"ok"}'

    def test_a_link_stays_a_link(self, tmp_path: Path) -> None:
        """The target of a symbolic link is written."""
        (tmp_path / "real").mkdir()
        path, real = tmp_path / "labels.json", tmp_path / "real" / "labels.json"
        real.write_text("{}")
        path.symlink_to(real)
        Labels(path).add(["a"])

        assert path.is_symlink()
        assert json.loads(real.read_text()) == {"a": None}

    def test_a_file_that_cannot_be_written_is_one_fault(self, tmp_path: Path) -> None:
        """Its folder may have disappeared by then."""
        folder = tmp_path / "folder"
        folder.mkdir()
        labels = Labels(folder / "labels.json")
        folder.rmdir()

        with pytest.raises(ConfigError, match=r"it cannot be written \(No such file or directory\); check that"):
            labels.add(["a"])

    def test_labels_of_other_runs_are_a_notice(self, tmp_path: Path) -> None:
        """They may belong to sessions that are not read this time."""
        labels = tmp_path / "labels.json"
        labels.write_text(json.dumps(dict.fromkeys("123456", "ok")))
        tuning = _tuned(claude(tmp_path / "s.jsonl", "a" * 9), labels)
        tuning.judge()

        assert tuning.summary.notices == (
            f"{labels}: 6 ids belong to no borderline run in these sessions: 1, 2, 3, 4, 5, …",
        )
        assert all(trial.score is None for trial in tuning.trials)


def _trials(*rows: tuple[str, int, int, Score | None]) -> list[Trial]:
    return [
        Trial(Candidate(name, {}), stopped=saved > 0, beyond=beyond, saved_calls=saved, score=score)
        for name, saved, beyond, score in rows
    ]


class TestRecommendation:
    @pytest.mark.parametrize(
        ("rows", "name", "reason"),
        [
            pytest.param(
                [("lax", 2, 0), ("standard", 5, 0), ("mid", 7, 0), ("strict", 9, 1)],
                "mid",
                "it saves 7 calls, `standard` 5, and it stops no run that `standard` does not",
                id="the most calls, but for a setting that stops other runs",
            ),
            pytest.param(
                [("lax", 1, 0), ("standard", 1, 0), ("strict", 1, 0)],
                "standard",
                "it saves 1 call, and no setting saves more without stopping further runs",
                id="of equal ones the standard",
            ),
            pytest.param(
                [("laxest", 9, 0), ("lax", 9, 0), ("standard", 5, 0), ("strict", 9, 0)],
                "lax",
                "it saves 9 calls, `standard` 5",
                id="of two as near the laxer",
            ),
            pytest.param(
                [("lax", 0, 0), ("standard", 0, 0), ("strict", 9, 2)],
                "standard",
                "it saves nothing in these runs, and the runs that other settings stop are not labelled",
                id="what only others stop is left alone",
            ),
            pytest.param(
                [("standard", 0, 0), ("strict", 0, 0)],
                "standard",
                "no setting stops anything in these runs",
                id="nothing to choose by",
            ),
        ],
    )
    def test_without_labels_it_stops_no_run_that_the_standard_does_not(
        self, rows: list[tuple[str, int, int]], name: str, reason: str
    ) -> None:
        """Among such candidates, the one that saves the most calls is recommended."""
        choice = recommend(_trials(*((*row, None) for row in rows)))

        assert choice.candidate.name == name
        assert choice.reason.startswith(reason)
        assert choice.rule.startswith("without labels")

    @pytest.mark.parametrize(
        ("rows", "name", "reason"),
        [
            pytest.param(
                [
                    ("standard", Score(4, 1, 1, 2, 0, 0)),
                    ("mid", Score(4, 3, 2, 2, 0, 0)),
                    ("strict", (4, 4, 4, 2, 1, 0)),
                ],
                "mid",
                "it stops 2 of 4 labelled loop and warns in 1 more, and it touches none of 2 labelled ok",
                id="the most loops of those that touch no good run",
            ),
            pytest.param(
                [("lax", (1, 1, 1, 0, 0, 0)), ("standard", (1, 1, 1, 0, 0, 0)), ("strict", (1, 1, 1, 0, 0, 0))],
                "standard",
                "it stops 1 of 1 labelled loop, and no run is labelled ok",
                id="of equal ones the standard",
            ),
            pytest.param(
                [("standard", (2, 1, 1, 0, 0, 0)), ("strict", (2, 2, 1, 0, 0, 0))],
                "strict",
                "it stops 1 of 2 labelled loop and warns in 1 more",
                id="a warning is better than nothing",
            ),
            pytest.param(
                [("lax", (0, 0, 0, 2, 0, 0)), ("standard", (0, 0, 0, 2, 1, 0))],
                "lax",
                "no run is labelled loop, and it touches none of 2 labelled ok",
                id="good runs count more than the standard",
            ),
            pytest.param(
                [("standard", (1, 1, 1, 3, 2, 2)), ("strict", (1, 1, 1, 3, 2, 1))],
                "strict",
                "it stops 1 of 1 labelled loop, and it touches 2 of 3 labelled ok and stops 1 of them: no setting",
                id="where all touch good runs the one that stops the fewest",
            ),
        ],
    )
    def test_with_labels_good_runs_come_first_and_then_loops(
        self, rows: list[tuple[str, tuple[int, ...]]], name: str, reason: str
    ) -> None:
        """Saved calls do not matter."""
        choice = recommend(_trials(*((row[0], 9, 9, Score(*row[1])) for row in rows)))

        assert choice.candidate.name == name
        assert choice.reason.startswith(reason)
        assert choice.rule.startswith("of the settings that touch the fewest runs labelled ok")
