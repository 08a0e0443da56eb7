"""Files that cannot be read, or only in part, and those that are compressed or large."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.transcripts.reading import SAMPLES, SESSIONS, calls, read, write
from wheelspin.errors import TranscriptError
from wheelspin.transcripts import reader_for
from wheelspin.transcripts.files import TranscriptFile


def test_lines_that_are_no_json_are_counted_and_named(tmp_path: Path) -> None:
    """The rest of the file is read."""
    call = {"type": "call", "tool": "read", "id": "c1"}
    path = write(tmp_path, call, "{broken\n", "[]\n", "\n", {"type": "result", "id": "c1", "result": 1})
    events, source = read(path)

    assert [problem.line for problem in source.problems] == [2, 3]
    assert source.problem_count == 2
    assert len(events) == 2


def test_what_orjson_refuses_the_standard_library_reads(tmp_path: Path) -> None:
    """NaN and lone surrogates occur in real sessions."""
    path = write(tmp_path, '{"type":"call","tool":"read","args":{"a":NaN,"b":"\\ud800"}}\n')
    ((tool, arguments),) = calls(read(path)[0])

    assert tool == "read"
    assert arguments["b"] == "\ud800"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b" \n\n", "the file is empty"),
        (b"\x00\x01\x02", "this is binary data"),
        (b"\x1f\x8b\x08\x00broken", "its gzip data is damaged"),
        (b"hello\nworld\n", "this is not a session that Wheelspin can read"),
        (b'{"name": "package", "version": "1.0"}\n', "this is not a session that Wheelspin can read"),
        (b'[{"a": 1}]', "this is not a session that Wheelspin can read"),
        (b"<html></html>", "this is not a session that Wheelspin can read"),
    ],
)
def test_a_file_that_is_none_of_ours_says_so(content: bytes, said: str, tmp_path: Path) -> None:
    """The error names the file and the next step."""
    path = tmp_path / "file"
    path.write_bytes(content)

    with pytest.raises(TranscriptError) as failure:
        read(path)
    assert failure.value.diagnostics().startswith(f"{path}: {said}")


def test_a_file_that_is_not_there_says_so(tmp_path: Path) -> None:
    """The error distinguishes a missing file from a folder."""
    with pytest.raises(TranscriptError, match="there is no such file"):
        read(tmp_path / "none.jsonl")
    with pytest.raises(TranscriptError, match="this is a directory"):
        read(tmp_path)


def test_a_packed_file_that_breaks_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    """The end is noted as a problem."""
    data = gzip.compress((SESSIONS / "claude-code.jsonl").read_bytes())
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(data[: len(data) // 2])
    events, source = read(path, "claude_code")

    assert events
    assert source.problems[-1].what in {"the file breaks off here", "not a JSON object"}


@pytest.mark.parametrize(("name", "file"), SAMPLES.items())
def test_a_byte_order_mark_does_no_harm(name: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some editors write one, even before an empty line."""
    path = tmp_path / file
    path.write_bytes(b"\xef\xbb\xbf\n" + (SESSIONS / file).read_bytes())

    whole = calls(read(SESSIONS / file)[0])
    assert reader_for(TranscriptFile(path)).name == name
    assert calls(read(path)[0]) == whole
    monkeypatch.setattr("wheelspin.transcripts.files._WHOLE_LIMIT", 10)
    assert calls(read(path)[0]) == whole


def test_packed_data_that_is_damaged_from_the_start_says_so(tmp_path: Path) -> None:
    """The file is reported as damaged, and nothing crashes."""
    path = tmp_path / "session.jsonl.gz"
    path.write_bytes(b"\x1f\x8b" + b"damaged" * 9)

    with pytest.raises(TranscriptError, match="Copy the file again"):
        read(path)


def test_a_folder_that_is_named_as_a_file_says_so(tmp_path: Path) -> None:
    """A folder in place of a file is an error."""
    with pytest.raises(TranscriptError, match="this is a directory"):
        TranscriptFile(tmp_path).head()


def test_a_disk_that_fails_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error has the message of the operating system."""

    def fail(*_: object) -> Iterator[bytes]:
        raise OSError(5, "Input/output error")
        yield b""

    path = write(tmp_path, {"type": "call", "tool": "read"})
    monkeypatch.setattr(TranscriptFile, "_bounded_lines", fail)

    with pytest.raises(TranscriptError, match="Input/output error"):
        TranscriptFile(path).head()
    with pytest.raises(TranscriptError, match="Input/output error"):
        list(TranscriptFile(path).lines())


def test_no_more_problems_are_kept_than_people_read(tmp_path: Path) -> None:
    """All problems are counted, but only the first ones are kept."""
    _, source = read(write(tmp_path, {"type": "call", "tool": "read"}, "no json\n" * 50))

    assert (len(source.problems), source.problem_count) == (20, 50)


def test_a_line_without_end_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A single line must not fill the memory."""
    monkeypatch.setattr("wheelspin.transcripts.files._LONGEST_LINE", 200)
    call = {"type": "call", "tool": "read"}
    path = write(tmp_path, call, {"type": "call", "tool": "x" * 1000}, call)
    events, source = read(path)

    assert len(events) == 2
    assert [problem.line for problem in source.problems] == [2]


def test_a_large_list_is_streamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Streaming gives the same events as reading the file at once."""
    whole = read(SESSIONS / "openai-chat.json")[0]
    monkeypatch.setattr("wheelspin.transcripts.files._WHOLE_LIMIT", 10)

    assert read(SESSIONS / "openai-chat.json")[0] == whole
    data = (SESSIONS / "openai-chat.json").read_text()
    cut = tmp_path / "cut.json"
    cut.write_text(data[: data.rindex('"task_id"') - 4])
    events, source = read(cut)
    assert 0 < len(events) < len(whole)
    assert "not valid JSON from here on" in source.problems[0].what
