"""The evaluation: how signals are counted, what the tables say, and what Wheelspin has to reach."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import evaluation.__main__ as command
import pytest
from evaluation import peers, runs
from evaluation.measure import SETTINGS, Candidate, Row, candidates, measure
from evaluation.peers import PEERS, PeerError
from evaluation.runs import Call, Run, Stretch, recorded
from evaluation.score import Figures, Judged, Share, figures, judged, signals_of
from evaluation.synthetic import synthetic
from evaluation.tables import HEADS, cells, markdown, write
from evaluation.wheelspin_peer import judge

from tests.conftest import ROOT, shared
from wheelspin import Settings
from wheelspin.testing import strict

LOOP = Stretch("loop", "cycle", 2, 9, 4)
"""Six of its eight calls are wasted."""

OK = Stretch("ok", "recheck", 2, 9)


def _run(*stretches: Stretch, is_clean: bool = False, name: str = "r") -> Run:
    return Run(name, "made", [Call("read", {"path": "/a"}, "text")] * 12, list(stretches), is_clean)


def _judged(run: Run, *signals: tuple[int, str, str]) -> list[Judged]:
    answer = {"id": run.id, "signals": [list(signal) for signal in signals], "seconds": 0.0}
    return list(judged(run, signals_of(run, answer)))


class TestCounting:
    """A signal counts where its call lies, and costs what was called until it took effect."""

    @pytest.mark.parametrize(
        ("signals", "warned", "stopped", "wasted", "saved"),
        [
            pytest.param([], False, False, 6, 0, id="nothing"),
            pytest.param([(5, "warn", "after")], True, False, 2, 0, id="a warning after the call wastes it"),
            pytest.param([(5, "warn", "before")], True, False, 1, 0, id="a warning before the call does not"),
            pytest.param([(5, "stop", "after")], True, True, 2, 4 / 6, id="a stop after the call"),
            pytest.param([(5, "stop", "before")], True, True, 1, 5 / 6, id="a stop before the call"),
            pytest.param(
                [(4, "warn", "after"), (7, "stop", "before")], True, True, 1, 3 / 6, id="first one, then both"
            ),
            pytest.param([(7, "stop", "before"), (4, "warn", "after")], True, True, 1, 3 / 6, id="in any order"),
            pytest.param([(5, "stop", "before"), (6, "stop", "before")], True, True, 1, 5 / 6, id="the first stop"),
            pytest.param([(2, "stop", "before")], True, True, 0, 1, id="before anything is wasted"),
            pytest.param([(9, "stop", "after")], True, True, 6, 0, id="a stop too late"),
            pytest.param([(1, "warn", "after"), (10, "stop", "before")], False, False, 6, 0, id="outside"),
        ],
    )
    def test_a_loop(
        self, signals: list[tuple[int, str, str]], warned: bool, stopped: bool, wasted: int, saved: float
    ) -> None:
        """It is warned by any signal, stopped by a stop, and saved from the first stop on."""
        (found,) = _judged(_run(LOOP), *signals)

        assert found[:5] == ("r", "loop", 2, warned, stopped)
        assert found.wasted == wasted
        assert found.saved == pytest.approx(saved)

    @pytest.mark.parametrize(
        ("signal", "warned", "stopped"),
        [
            ((2, "warn", "after"), True, False),
            ((9, "stop", "before"), True, True),
            ((10, "stop", "before"), False, False),
        ],
    )
    def test_an_ok_stretch(self, signal: tuple[int, str, str], warned: bool, stopped: bool) -> None:
        """Any signal inside it is a false alarm, its first and its last call included."""
        assert _judged(_run(OK), signal) == [Judged("r", "ok", 2, warned, stopped)]

    @pytest.mark.parametrize(
        ("signals", "warned", "stopped"),
        [([], False, False), ([(0, "warn", "after")], True, False), ([(11, "stop", "after")], True, True)],
    )
    def test_a_clean_run(self, signals: list[tuple[int, str, str]], warned: bool, stopped: bool) -> None:
        """Any signal is a false alarm, wherever it is; a judged stretch in it counts for itself."""
        ok, clean = _judged(_run(OK, is_clean=True), *signals)

        assert ok[:5] == ("r", "ok", 2, False, False)
        assert clean == Judged("r", "clean", 0, warned, stopped)

    def test_the_figures_of_a_set(self) -> None:
        """Loops that are never warned count with all that they waste, and nothing saved."""
        found = [
            *_judged(_run(LOOP), (4, "stop", "before")),
            *_judged(_run(LOOP), (5, "warn", "after")),
            *_judged(_run(LOOP)),
            *_judged(_run(OK, is_clean=True), (2, "warn", "after")),
            *_judged(_run(is_clean=True), (2, "stop", "after")),
            *_judged(_run(is_clean=True)),
        ]

        assert figures(found) == Figures(Share(2, 3), Share(1, 3), 2, 1 / 3, Share(1, 1), Share(2, 3), Share(1, 3))

    def test_a_set_without_loops(self) -> None:
        """It has no median and no mean."""
        assert figures(_judged(_run(OK))) == Figures(
            Share(0, 0), Share(0, 0), None, None, Share(0, 1), Share(0, 0), Share(0, 0)
        )

    @pytest.mark.parametrize(
        "answer",
        [
            {"id": "another", "signals": []},
            {"id": "r", "signals": [[12, "warn", "after"]]},
            {"id": "r", "signals": [[-1, "warn", "after"]]},
            {"id": "r", "signals": [[1, "shout", "after"]]},
            {"id": "r", "signals": [[1, "warn", "later"]]},
            {"id": "r", "signals": [[1, "warn"]]},
        ],
    )
    def test_what_is_no_answer_is_refused(self, answer: dict[str, Any]) -> None:
        """Nothing is guessed."""
        with pytest.raises(ValueError, match=r"not a valid signal|an answer on"):
            signals_of(_run(), answer)


def _candidate(answers: Callable[[Sequence[Run]], Iterator[dict[str, Any]]], passes: int = 1) -> Candidate:
    return Candidate("peer", "1.2", answers, passes)


class TestMeasuring:
    """One detector on one set of runs."""

    def test_the_time_is_the_median_of_the_passes_over_all_calls(self) -> None:
        """In microseconds a call."""
        seconds = iter([3.0, 1.0, 2.0, 1.0, 9.0, 9.0])
        runs = [_run(LOOP, name="a"), _run(name="b")]
        candidate = _candidate(
            lambda runs: ({"id": run.id, "signals": [], "seconds": next(seconds)} for run in runs), passes=3
        )

        assert measure(candidate, runs).microseconds == pytest.approx(4e6 / 24)

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            (
                "peer cannot be set up: `/opt/bin/uv pip install x` ended with 2:\n  No network",
                "cannot be set up: `uv` ended with 2",
            ),
            ("peer ended without an answer; it wrote last:\nTraceback", "ended without an answer; it wrote last"),
        ],
    )
    def test_a_peer_that_fails_is_a_row_that_says_so(self, text: str, reason: str) -> None:
        """In one line without paths; the rest is kept for the terminal."""

        def fail(_: Sequence[Run]) -> Iterator[dict[str, Any]]:
            raise PeerError(text)

        row = measure(_candidate(fail), [_run()])

        assert (row.figures, row.reason, row.details) == (None, reason, text)
        assert cells(row)[:2] == [f"peer, not run: {reason}", "1.2"]

    @pytest.mark.parametrize("answer", [{}, {"id": "r"}, {"id": "r", "signals": [], "seconds": "long"}])
    def test_a_wrong_answer_is_a_row_that_says_so(self, answer: dict[str, Any]) -> None:
        """As if the peer had ended."""
        row = measure(_candidate(lambda _: iter([answer])), [_run()])

        assert row.figures is None
        assert row.reason.startswith("returned an invalid answer: ")

    def test_every_peer_and_three_settings_are_measured(self) -> None:
        """The peers with the versions to which they are pinned."""
        found = [(each.name, each.version) for each in candidates(Path("nowhere"))]

        assert [name for name, _ in found] == [*SETTINGS, *(peer.name for peer in PEERS)]
        assert all(peer.requirement.endswith(version) for peer, (_, version) in zip(PEERS, found[3:], strict=True))


class TestTable:
    """On the terminal and in the page."""

    ROW = Row("a", "1", Figures(Share(1, 2), Share(0, 2), 2.5, 1 / 3, Share(0, 1), Share(3, 9), Share(0, 9)), 12.345)

    def test_a_row_has_a_cell_for_each_head(self) -> None:
        """Whether it was run or not."""
        assert cells(self.ROW) == ["a", "1", "1 / 2", "0 / 2", "2.5", "0.33", "0 / 1", "3 / 9", "0 / 9", "12"]
        assert len(cells(Row("a", "1", None, reason="why"))) == len(HEADS)

    def test_a_table_is_put_between_its_markers(self, tmp_path: Path) -> None:
        """What stands around it stays, and writing it twice changes nothing."""
        page = tmp_path / "page.md"
        page.write_text(
            "before\n<!-- table: made -->\nold\n<!-- /table -->\nafter <!-- table: other -->\n<!-- /table -->\n"
        )
        for _ in range(2):
            write(page, "made", [_run(LOOP, OK, is_clean=True)], [self.ROW], date(2026, 5, 4))
        text = page.read_text()

        assert text.startswith("before\n<!-- table: made -->\n\nMeasured on 2026-05-04 with Python 3.")
        assert "1 loops, 1 ok stretches and 1 clean runs, in 1 runs of 12 calls" in text
        assert text.endswith(
            f"{markdown([self.ROW])}\n\n<!-- /table -->\nafter <!-- table: other -->\n<!-- /table -->\n"
        )

    def test_a_page_without_markers_is_left_alone(self, tmp_path: Path) -> None:
        """With an error."""
        page = tmp_path / "page.md"
        page.write_text("nothing")
        with pytest.raises(ValueError, match="0 places for the table 'made', not one"):
            write(page, "made", [], [], date(2026, 5, 4))

    @pytest.mark.parametrize("name", ["recorded", "synthetic"])
    def test_the_page_has_a_table_of_each_set(self, name: str) -> None:
        """With a row for every detector, in the version that is compared."""
        text = (ROOT / "docs" / "evaluation.md").read_text()
        table = text.split(f"<!-- table: {name} -->")[1].split("<!-- /table -->")[0]

        for each in candidates(Path("nowhere")):
            assert f"| {each.name} | {each.version} | " in table


class TestCommand:
    """`python -m evaluation`."""

    @pytest.fixture(autouse=True)
    def _alone(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr(runs, "RECORDED", tmp_path / "none.gz")

    def test_without_the_recorded_runs_it_measures_the_synthetic_ones(self, capsys: pytest.CaptureFixture[str]) -> None:
        """And says so in one line."""
        assert command.main(["--no-peers"]) == 0
        out = capsys.readouterr().out

        assert out.startswith(
            "The recorded runs were not found, so only the synthetic ones are measured.\nsynthetic runs: "
        )
        assert [line.split()[0] for line in out.splitlines() if line.startswith("  wheelspin")] == list(SETTINGS)

    def test_a_peer_that_fails_does_not_end_it(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The others are measured, and all that is known goes to the error stream."""

        def fail(peer: peers.Peer, *_: object) -> Iterator[dict[str, Any]]:
            raise PeerError(f"{peer.name} cannot be set up: [no] network\nwhatever")

        monkeypatch.setattr(peers, "run", fail)
        assert command.main(["--only", "openclaw", "--only", "wheelspin-documented"]) == 0
        out, err = capsys.readouterr()

        assert "openclaw, not run:" in out
        assert "wheelspin-documented" in out
        assert "openclaw cannot be set up: [no] network\nwhatever\n" in err

    def test_it_writes_all_tables_that_it_measures(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """And leaves the table of the runs that are not here as it is."""
        page = tmp_path / "page.md"
        page.write_text("<!-- table: recorded -->\nold\n<!-- /table -->\n<!-- table: synthetic -->\n<!-- /table -->\n")
        monkeypatch.setattr(command, "PAGE", page)
        monkeypatch.setattr(command, "candidates", lambda _: [each for each in candidates(tmp_path) if each.passes > 1])
        assert command.main(["--write"]) == 0

        assert page.read_text().startswith("<!-- table: recorded -->\nold\n<!-- /table -->\n")
        assert "| wheelspin-early | " in page.read_text()

    @pytest.mark.parametrize(
        "arguments",
        [["--write", "--no-peers"], ["--write", "--only", "openclaw"], ["--no-peers", "--only", "openclaw"]],
    )
    def test_half_a_table_is_not_written(self, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
        """And an empty one is not printed."""
        with pytest.raises(SystemExit):
            command.main(arguments)
        assert "--no-peers" in capsys.readouterr().err


@pytest.fixture(scope="module")
def real() -> list[Run]:
    """The recorded runs, where they are."""
    return list(recorded(shared("traces") / "runs.jsonl.gz"))


def _found(settings: Settings, over: Sequence[Run]) -> list[Judged]:
    """Give what Wheelspin does in runs; a crash of the guard is raised."""
    with strict():
        answers = list(judge(over, settings))
    return [each for run, answer in zip(over, answers, strict=True) for each in judged(run, signals_of(run, answer))]


def _names(found: list[Judged], label: str, what: str) -> set[str]:
    return {each.run for each in found if each.label == label and getattr(each, what)}


class TestSyntheticRuns:
    """What has to hold for every shape, whatever its tools are called."""

    RUNS = tuple(synthetic())

    def test_early_stops_what_is_stuck_and_nothing_else(self) -> None:
        """Of the healthy shapes one at most is warned."""
        found = _found(SETTINGS["wheelspin-early"], self.RUNS)

        assert _names(found, "loop", "stopped") == {run.id for run in self.RUNS if not run.is_clean}
        assert _names(found, "clean", "stopped") == set()
        assert len(_names(found, "clean", "warned")) <= 1

    def test_standard_stops_nothing_that_is_healthy(self) -> None:
        """It may warn."""
        assert _names(_found(SETTINGS["wheelspin-standard"], self.RUNS), "clean", "stopped") == set()


class TestRecordedRuns:
    """What has to hold on real runs, where those are."""

    def test_early_finds_the_loops_and_spares_the_rest(self, real: list[Run]) -> None:
        """Nearly all loops are warned, most are stopped, and good work is left alone."""
        got = figures(_found(SETTINGS["wheelspin-early"], real))

        assert (got.loops_warned.of, got.ok_warned.of, got.clean_warned.of) == (46, 34, 401)
        assert got.loops_warned.hits >= 45
        assert got.loops_stopped.hits >= 42
        assert got.wasted is not None
        assert got.wasted <= 2
        assert got.ok_warned.hits == 0
        assert got.clean_warned.hits <= 1
        assert got.clean_stopped.hits == 0

    def test_standard_has_the_false_alarms_of_the_documented_detectors(self, real: list[Run]) -> None:
        """The detectors that were added bring none and hide none."""
        alarms = [
            {each[:3] for each in _found(SETTINGS[name], real) if each.label != "loop" and each.warned}
            for name in ("wheelspin-standard", "wheelspin-documented")
        ]

        assert alarms[0] == alarms[1]
