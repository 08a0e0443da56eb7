"""`wheelspin tune`, as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.sessions import SECRET, claude, run_main
from wheelspin.replay.tuning import grid

STEPS = "/".join(["." * 9, "a" * 12, "b" * 24])
NAMES = [candidate.name for candidate in grid()]


@pytest.fixture(autouse=True)
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session in the current folder: a run that makes progress, one with a short loop, and one with a longer loop."""
    monkeypatch.chdir(tmp_path)
    return claude(tmp_path / "s.jsonl", STEPS)


def test_it_shows_the_settings_the_borderline_runs_and_a_recommendation(capsys: pytest.CaptureFixture[str]) -> None:
    """The rule behind the recommendation is given in one sentence."""
    code, out, err = run_main(capsys, "tune", "s.jsonl")
    lines = out.splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines[1 : len(NAMES) + 1]}

    assert (code, err) == (0, "")
    assert lines[0].split() == ["setting", "warned", "stopped", "calls", "saved", "tokens", "saved"]
    assert list(rows) == NAMES
    assert rows["standard"] == ["2", "1", "4", "400"]
    assert rows["standard-5/10"] == ["2", "2", "16", "1,600"]
    assert "borderline runs: one character per setting, in the order above: `.` no action, `w` warned, `s`" in out
    first = next(line.split(maxsplit=2)[1:] for line in lines if "generic-repeat: " in line)
    assert first == [".ws" + "s" * (len(NAMES) - 3), "call 11  line 41  Read  generic-repeat: 10 of 10"]
    assert "1 file, 3 runs, 45 calls: 2 borderline runs\nto label them, run this with `--label FILE` and" in out
    assert "recommended: standard: it saves 4 calls, and no setting saves more without stopping further runs" in out
    assert lines[-1].startswith("  rule: without labels, of the settings that stop no run that `standard` does not")


def test_no_argument_and_no_result_is_printed_or_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Both can contain secrets."""
    for form in ((), ("--json",)):
        _, out, _ = run_main(capsys, "tune", "s.jsonl", *form, "--label", "l.json", "--write", f"{len(form)}.json5")
        assert SECRET not in out
    assert not [path for path in tmp_path.glob("*.json*") if path.name != "s.jsonl" and SECRET in path.read_text()]


def test_the_labels_of_the_user_decide(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A file of labels is written, and once it is filled in, it decides the recommended setting."""
    code, out, _ = run_main(capsys, "tune", "s.jsonl", "--label", "l.json")
    labels = json.loads(Path("l.json").read_text())

    assert code == 0
    assert list(labels.values()) == [None, None]
    assert (
        "l.json: written, with 2 runs to label; look at each (`wheelspin replay --compare early FILE` shows more)"
        in out
    )

    short, _ = labels
    Path("l.json").write_text(json.dumps(labels | {short: "loop"}))
    _, out, _ = run_main(capsys, "tune", "s.jsonl", "--label", "l.json", "--write", "mine.json5")
    assert "l.json: 1 run still to label; look at each" in out
    assert f"{short}  .ws" in out
    assert "generic-repeat: 10 of 10  loop\n" in out
    assert "recommended: standard-5/10: it stops 1 of 1 labelled loop, and no run is labelled ok" in out
    assert out.endswith("mine.json5: written; use it with `wheelspin replay --config mine.json5`\n")
    assert Path("mine.json5").read_text().startswith("// standard-5/10: it stops 1 of 1 labelled loop, and")
    assert run_main(capsys, "config", "check", "mine.json5") == (0, "mine.json5: valid for all agents\n", "")

    Path("l.json").write_text(json.dumps(dict.fromkeys(labels, "ok")))
    _, out, _ = run_main(capsys, "tune", "s.jsonl", "--label", "l.json")
    assert "l.json: every borderline run is labelled" in out
    assert "recommended: standard-15/30: no run is labelled loop, and it touches 1 of 2 labelled ok" in out

    Path("l.json").write_text("{}")
    _, out, _ = run_main(capsys, "tune", "s.jsonl", "--label", "l.json")
    assert "l.json: 2 new runs added to label; look at each" in out
    assert {path.name for path in tmp_path.iterdir()} == {"s.jsonl", "l.json", "mine.json5"}


def test_labels_in_the_current_folder_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    """The file is not created there unless `--label` asks for it."""
    run_main(capsys, "tune", "s.jsonl")
    assert not Path("wheelspin-labels.json").exists()

    Path("wheelspin-labels.json").write_text('{"x": "ok"}')
    _, out, _ = run_main(capsys, "tune", "s.jsonl")
    assert "note: wheelspin-labels.json: 1 id belongs to no borderline run in these sessions: x" in out
    assert "wheelspin-labels.json: 2 new runs added to label" in out


def test_the_report_for_programs_is_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    """It has the same content as on the terminal, and nothing else is printed."""
    code, out, _ = run_main(capsys, "tune", "s.jsonl", "--json", "--label", "l.json", "--write", "mine.json5")
    document = json.loads(out)
    line = document["borderline"][0]

    assert code == 0
    assert [setting["name"] for setting in document["settings"]] == NAMES
    assert document["settings"][1] == {
        "name": "standard",
        "loopDetection": {"preset": "standard"},
        "warned": 2,
        "stopped": 1,
        "beyond": 0,
        "savedCalls": 4,
        "savedTokens": 400,
        "labels": None,
    }
    assert (document["runs"], document["calls"], document["tokens"]) == (3, 45, 4500)
    assert (line["path"], line["unit"], line["line"], line["run"], line["label"]) == (
        "s.jsonl",
        "line",
        21,
        "#2",
        None,
    )
    assert line["intervention"]["call"] == 11
    assert [*line["settings"]] == NAMES
    assert set(line["settings"].values()) == {"quiet", "warned", "stopped"}
    assert document["labels"] == {"file": "l.json", "added": 2, "isNew": True}
    assert document["recommendation"]["setting"] == "standard"

    Path("l.json").write_text(json.dumps({line["id"]: "loop"}))
    document = json.loads(run_main(capsys, "tune", "s.jsonl", "--json", "--label", "l.json")[1])
    assert document["borderline"][0]["label"] == "loop"
    assert document["settings"][1]["labels"] == {
        "loops": 1,
        "loopsTouched": 1,
        "loopsStopped": 0,
        "good": 0,
        "goodTouched": 0,
        "goodStopped": 0,
    }


def test_sessions_without_a_borderline_run_need_no_labels(capsys: pytest.CaptureFixture[str]) -> None:
    """No file of labels is written or mentioned."""
    claude(Path("good.jsonl"), "." * 30)
    code, out, _ = run_main(capsys, "tune", "good.jsonl", "--label", "l.json")

    assert code == 0
    assert "0 borderline runs\nrecommended: standard: no setting stops anything in these runs\n" in out
    assert not Path("l.json").exists()


def test_without_runs_nothing_is_recommended(capsys: pytest.CaptureFixture[str]) -> None:
    """No configuration is written."""
    claude(Path("empty.jsonl"), "/")
    code, out, _ = run_main(capsys, "tune", "empty.jsonl")
    assert code == 0
    assert "note: it contains no tool calls" in out
    assert "there are no runs to base a recommendation on" in out

    code, out, err = run_main(capsys, "tune", "empty.jsonl", "--json", "--write", "mine.json5")
    assert (code, json.loads(out)["recommendation"]) == (2, None)
    assert err.startswith(
        "wheelspin: mine.json5: it was not written, because there are no runs to tune on; use sessions"
    )
    assert not Path("mine.json5").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["s.jsonl", "--write", "there.json5"], "there.json5: it already exists; name a new file, or move this one"),
        (["s.jsonl", "--write", "no/mine.json5"], "no/mine.json5: its folder does not exist; create the"),
        (["s.jsonl", "--write", "a" * 300], "it cannot be written (File name too long)"),
        (["s.jsonl", "--label", "no/l.json"], "no/l.json: its folder does not exist"),
        (["s.jsonl", "--label", "."], ".: it cannot be read (Is a directory); name a JSON file"),
        (["s.jsonl", "--label", "there.json5"], "there.json5: it is not valid JSON: expecting property name"),
        (["s.jsonl", "--label", "words.json"], 'words.json: `a`: found "lop", expected "loop", "ok" or null.\n'),
        (["none.jsonl"], "none.jsonl: there is no such file. Check the path.\n"),
        (["folder"], "folder: this folder contains no sessions"),
        (["words.json"], "words.json: this is not a session that Wheelspin can read"),
    ],
)
def test_invalid_input_is_one_line_of_error_and_exit_code_two(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], said: str
) -> None:
    """The error has the next step, there is no traceback, and no file is touched."""
    Path("there.json5").write_text("{mine: true}")
    Path("words.json").write_text('{"a": "lop"}')
    Path("folder").mkdir()
    before = {path.name for path in tmp_path.iterdir()}
    code, _, err = run_main(capsys, "tune", *arguments)

    assert code == 2
    assert said in err
    assert err.startswith("wheelspin: ")
    assert err.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} == before
    assert Path("there.json5").read_text() == "{mine: true}"


def test_the_other_files_are_used_if_one_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    """The exit code is still 2."""
    code, out, err = run_main(capsys, "tune", "s.jsonl", "none.jsonl")

    assert code == 2
    assert "not read 1 file\n1 file, 3 runs" in out
    assert "recommended: " in out
    assert err == "wheelspin: none.jsonl: there is no such file. Check the path.\n"
