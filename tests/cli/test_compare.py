"""`wheelspin replay --compare` shows two configurations side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.sessions import SECRET, claude, events, run_main

PATIENT = "{tools: {loopDetection: {enabled: true, warningThreshold: 15, criticalThreshold: 25}}}"
QUICK = "{tools: {loopDetection: {enabled: true, warningThreshold: 3, criticalThreshold: 5}}}"
AGENT = '{agents: {list: [{id: "helper", tools: {loopDetection: {enabled: true, warningThreshold: 4}}}]}}'


@pytest.fixture
def patient(tmp_path: Path) -> Path:
    """A configuration that waits longer."""
    path = tmp_path / "patient.json5"
    path.write_text(PATIENT)
    return path


@pytest.fixture
def quick(tmp_path: Path) -> Path:
    """A configuration that waits less than the defaults."""
    path = tmp_path / "quick.json5"
    path.write_text(QUICK)
    return path


def test_the_totals_are_side_by_side_with_each_run_in_which_they_differ(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The totals are followed by each differing run, with the first action of either side."""
    monkeypatch.chdir(tmp_path)
    path = claude(tmp_path / "s.jsonl", "." * 5 + "/" + "a" * 12)
    code, out, err = run_main(capsys, "replay", path, "--compare", quick.name)
    lines = [line.split() for line in out.splitlines()]

    assert (code, err) == (0, "")
    assert lines[:7] == [
        ["defaults", "quick.json5"],
        ["runs", "2", "2"],
        ["warned", "1", "1"],
        ["blocked", "0", "1"],
        ["ended", "0", "0"],
        ["calls", "saved", "0", "7"],
        ["tokens", "saved", "0", "700"],
    ]
    assert out.splitlines()[8:] == [
        str(path),
        "  run #2, from line 13: 12 calls",
        "    defaults     warn   call 11  line 33  Read  generic-repeat: 10 of 10",
        "    quick.json5  warn   call 4   line 19  Read  generic-repeat: 3 of 3",
        "",
        "1 file, 2 runs: the configurations differ in 1 run",
    ]


def test_equal_results_are_reported_as_such(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The totals are printed all the same."""
    path = claude(tmp_path / "s.jsonl", "a" * 12)
    code, out, _ = run_main(capsys, "replay", path, "--compare", "standard")

    assert code == 0
    assert out.splitlines()[-1] == "1 file, 1 run: no differences"


def test_runs_that_begin_alike_are_reported_from_where_they_differ(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, patient: Path
) -> None:
    """One side may take no further action, or none at all."""
    later = tmp_path / "later.json5"
    later.write_text(PATIENT.replace("25", "28"))
    path = claude(tmp_path / "s.jsonl", "a" * 27)
    _, out, _ = run_main(capsys, "replay", path, "--config", patient, "--compare", later)
    assert "    " + f"{patient}".ljust(len(str(patient))) + "  block  call 26 and 1 more  line 52" in out
    assert f"{later}".ljust(len(str(patient))) + "  no further action\n" in out

    short = claude(tmp_path / "short.jsonl", "a" * 12)
    _, out, _ = run_main(capsys, "replay", short, "--config", patient, "--compare", "standard")
    assert f"{patient}  no action\n" in out
    assert f"{'standard'.ljust(len(str(patient)))}  warn   call 11" in out


def test_the_report_for_programs_is_one_document(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, quick: Path
) -> None:
    """It has the same content as on the terminal, and all interventions of a differing run."""
    path = claude(tmp_path / "s.jsonl", "a" * 12)
    code, out, _ = run_main(capsys, "replay", path, "--compare", quick, "--json")
    document = json.loads(out)
    (difference,) = document["differences"]
    left, right = difference.pop("sides")

    assert code == 0
    assert document["configurations"] == ["defaults", str(quick)]
    assert [totals["savedCalls"] for totals in document["totals"]] == [0, 7]
    assert difference == {
        "path": str(path),
        "unit": "line",
        "line": 2,
        "session": None,
        "agent": None,
        "run": "#1",
        "calls": 12,
    }
    assert (left["firstDifference"]["call"], right["firstDifference"]["call"]) == (11, 4)
    assert [intervention["action"] for intervention in right["interventions"]] == ["warn", "block"]
    assert (document["failures"], document["skippedFiles"], document["notices"]) == ([], [], [])


def test_no_argument_and_no_result_is_in_a_report(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Both can contain secrets."""
    path = claude(tmp_path / "s.jsonl", "a" * 12)
    for form in ((), ("--json",)):
        assert SECRET not in run_main(capsys, "replay", path, "--compare", "early", *form)[1]


def test_a_disabled_side_is_noted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Comparing with it would be pointless."""
    path = claude(tmp_path / "s.jsonl", "a" * 12)
    off = tmp_path / "off.json5"
    off.write_text("{tools: {loopDetection: {historySize: 40}}}")
    _, out, _ = run_main(capsys, "replay", path, "--config", off, "--compare", "early")

    assert f"note: {off}: the detectors are off, since `enabled` is not set to true" in out


def test_a_side_that_only_observes_is_compared_by_what_it_would_have_done(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """A replay stops nothing anyway, so the mode `observe` makes no difference."""
    path = claude(tmp_path / "s.jsonl", "a" * 12)
    watching = tmp_path / "watching.json5"
    watching.write_text('{tools: {loopDetection: {enabled: true, mode: "observe"}}}')
    _, out, _ = run_main(capsys, "replay", path, "--compare", watching)

    assert "no differences" in out
    assert "generic-repeat: 10 of 10" in run_main(capsys, "replay", path, "--config", watching)[1]


def test_a_configuration_in_the_file_applies_to_the_left_side_and_is_noted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """If it splits a run in two, the second part is compared with what the other side did in it."""
    block = {"enabled": True, "warningThreshold": 2, "criticalThreshold": 3}
    config = {"type": "config", "tools": {"loopDetection": block}}
    path = events(tmp_path / "e.jsonl", "a" * 6, {"type": "call", "tool": "look"}, config)
    _, out, _ = run_main(capsys, "replay", path, "--compare", "standard")

    assert "note: the configuration in it replaces the defaults" in out
    assert "run #1, from line 3: 6 calls" in out
    assert "defaults  warn   call 3" in out
    assert "standard  no action\n" in out


def test_an_agent_may_be_known_to_either_side(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Its block applies to the configuration that has it."""
    helper = tmp_path / "helper.json5"
    helper.write_text(AGENT)
    path = claude(tmp_path / "s.jsonl", "a" * 6)
    code, out, _ = run_main(capsys, "replay", path, "--compare", helper, "--agent", "helper")

    assert code == 0
    assert f"{helper}  warn   call 5" in out


def test_unreadable_lines_are_reported(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """They are reported once, although two guards play the file."""
    path = claude(tmp_path / "s.jsonl", "a" * 12)
    with path.open("a") as file:
        file.write("{broken\n" * 7)
    code, out, _ = run_main(capsys, "replay", path, "--compare", "early")

    assert code == 0
    assert "not read line 26: not a JSON object" in out
    assert "not read 7 places\n1 file" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["s.jsonl", "--compare", "erly"], "wheelspin: erly: there is no such file or preset; did you mean"),
        (["s.jsonl", "--compare", "none.json5"], "use a file, or one of the presets standard, early.\n"),
        (["s.jsonl", "--compare", "a" * 300], "File name too long"),
        (["s.jsonl", "--compare", "broken.json5"], "broken.json5: the object that begins at line 1"),
        (
            ["s.jsonl", "--compare", "early", "--verdicts"],
            "--compare: it cannot be combined with `--verdicts`; leave out one",
        ),
        (["s.jsonl", "--compare", "early", "--agent", "x"], "early: `--agent`: found 'x'"),
        (["s.jsonl", "--config", "none.json5", "--compare", "early"], "none.json5: there is no such file"),
        (["none.jsonl", "--compare", "early"], "none.jsonl: there is no such file. Check the path.\n"),
        (["a" * 300, "--compare", "early"], "it cannot be read (File name too long)"),
    ],
)
def test_invalid_input_is_one_line_of_error_and_exit_code_two(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    said: str,
) -> None:
    """The error has the next step, and there is no report and no traceback."""
    monkeypatch.chdir(tmp_path)
    claude(tmp_path / "s.jsonl", "a" * 12)
    (tmp_path / "broken.json5").write_text("{tools: ")
    code, out, err = run_main(capsys, "replay", *arguments)

    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_the_other_files_are_compared_if_one_cannot_be_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The exit code is still 2."""
    path = claude(tmp_path / "s.jsonl", "a" * 12)
    code, out, err = run_main(capsys, "replay", path, tmp_path / "none.jsonl", "--compare", "early")

    assert code == 2
    assert "not read 1 file\n1 file, 1 run: the configurations differ in 1 run" in out
    assert err.startswith(f"wheelspin: {tmp_path / 'none.jsonl'}: ")
