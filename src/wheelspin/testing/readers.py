"""Checks that a reader keeps its contract, whatever a file contains."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from wheelspin.testing.expect import expect
from wheelspin.transcripts import READERS
from wheelspin.transcripts.base import Event, Reader, ToolCalled, ToolReturned
from wheelspin.transcripts.files import TranscriptFile

__all__ = ["READER_LAWS", "SHAPES", "check_reader"]

_Add = Callable[[dict[str, Any], set[str]], dict[str, Any]]
"""Puts advice into the results of an object that contain one of the texts."""
_ADVICE = "Loop detected: `x` was called 10 times. Another call will not change that. Use the result that you have."
_SHORTEST_TEXT = 8
_ARGUMENTS = ("args", "arguments", "input")
"""Keys of the arguments of calls, which stay as they are."""

SHAPES: tuple[dict[str, Any], ...] = (
    {},
    {"type": "message"},
    {"type": "message", "message": 3},
    {"type": "assistant", "message": {"content": [3, {"type": "tool_use"}], "usage": 3}},
    {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": []}]}},
    {"type": "message", "message": {"role": "assistant", "content": 3, "usage": []}},
    {"type": "message", "message": {"role": "toolResult", "toolCallId": {}}},
    {"type": "response_item", "payload": {"type": "function_call", "arguments": 3, "name": None}},
    {"type": "response_item", "payload": {"type": "function_call_output", "call_id": 3}},
    {"type": "event_msg", "payload": {"type": "token_count", "info": 3}},
    {"type": "progress", "data": 3},
    {"type": "tool.execution_start", "id": [], "agentId": 3, "data": {"toolCallId": {}, "arguments": 3}},
    {"type": "tool.execution_complete", "data": {"toolCallId": [], "success": True, "result": 3}},
    {"type": "tool.execution_complete", "data": {"success": False, "error": {"message": 3, "code": []}}},
    {"type": "session.usage_record", "data": {"usage": 3}},
    {"type": "gemini", "id": [], "tokens": 3, "toolCalls": [3, {"id": [], "result": [3]}]},
    {"type": "gemini", "toolCalls": [{"id": "c", "result": [{"functionResponse": {"response": {}}}]}]},
    {"type": "assistant", "message": {"parts": [3, {"functionCall": 3}, {"functionCall": {"id": []}}]}},
    {"type": "tool_result", "message": {"parts": [3, {"functionResponse": 3}]}, "toolCallResult": 3},
    {"type": "system", "subtype": "chat_compression", "systemPayload": {"info": 3}},
    {"$set": {"messages": [3, {"type": "gemini", "id": [], "content": [3]}]}},
    {"type": "call"},
    {"type": "result"},
    {"role": "assistant", "tool_calls": [3, {"function": 3}, {"function": {"arguments": "{"}}], "content": [3]},
    {"role": "tool", "tool_call_id": [], "content": None},
    {"role": "user", "content": None},
    {"messages": [{"info": {"role": "assistant", "id": 3, "parentID": []}, "parts": [3, {"state": 3}]}]},
    {"messages": [{"info": {"role": "user"}, "parts": 3}, {"info": 3}, {"info": {"role": "assistant"}}]},
    {"messages": [{"role": "assistant", "content": {"a": 1}}, 3, [[[[[]]]]]]},
)
"""Lines that hosts might write one day: keys of known formats with values of unexpected types."""


def check_reader(reader: Reader, *samples: Path) -> None:
    """
    Check that a reader keeps every law of `READER_LAWS` on every sample.

    Args:
        reader: The reader.
        samples: Complete sessions in its format, plain or compressed with gzip, in which every call has an outcome.

    Raises:
        AssertionError: A law does not hold; the message says where, what was found, and what was expected.
        ValueError: There is no sample.
    """
    if not samples:
        raise ValueError("a check needs a session in the reader's format")
    for sample in samples:
        for law in READER_LAWS:
            law(reader, sample)


def knows_its_format(reader: Reader, sample: Path) -> None:
    """The reader recognises the file, and no built-in reader that is asked before it does."""
    expect(reader.matches(TranscriptFile(sample).head()), f"{sample}: the reader does not recognise its format")
    for other in READERS[: READERS.index(reader)] if reader in READERS else ():
        expect(
            not other.matches(TranscriptFile(sample).head()),
            f"{sample}: {other.name}, which is asked first, recognises it",
        )


def gives_calls_before_outcomes(reader: Reader, sample: Path) -> None:
    """Each outcome belongs to one earlier call, each call has an outcome, and line numbers never decrease."""
    events, file = _read(reader, sample)
    open_calls: set[int] = set()
    for event in events:
        if isinstance(event, ToolCalled):
            open_calls.add(id(event.call))
        elif isinstance(event, ToolReturned):
            expect(id(event.call) in open_calls, f"{sample}:{event.line}: an outcome of a call that is not open")
            open_calls.remove(id(event.call))
    lines = [event.line for event in events]
    expect(any(isinstance(event, ToolCalled) for event in events), f"{sample}: no call was found")
    expect(not open_calls, f"{sample}: {len(open_calls)} calls have no outcome")
    expect(file.problem_count == 0, f"{sample}: {file.problem_count} places could not be read")
    expect(lines == sorted(lines), f"{sample}: the line numbers of the events decrease: {lines}")


def reads_compressed_files(reader: Reader, sample: Path) -> None:
    """A session compressed with gzip has the same events."""
    with TemporaryDirectory() as folder:
        packed = Path(folder) / "session.gz"
        packed.write_bytes(gzip.compress(_bytes(sample)))
        expect(
            _read(reader, packed)[0] == _read(reader, sample)[0], f"{sample}: compressed with gzip, its events differ"
        )


def reads_broken_files_as_far_as_they_go(reader: Reader, sample: Path) -> None:
    """A truncated session is read as far as it goes, and the loss is noted."""
    whole, _ = _read(reader, sample)
    with TemporaryDirectory() as folder:
        cut = Path(folder) / "session"
        data = _bytes(sample)
        cut.write_bytes(data[: len(data) * 2 // 3].rstrip()[:-1])
        events, file = _read(reader, cut)
    expect(file.problem_count > 0, f"{sample}: truncated, no problem is noted")
    kinds = [type(event) for event in events]
    expect(kinds == [type(event) for event in whole][: len(kinds)], f"{sample}: truncated, its events differ: {kinds}")


def skips_unknown_lines(reader: Reader, sample: Path) -> None:
    """Unknown lines before a session do no harm, since a host may change its format."""
    data = _bytes(sample)
    with TemporaryDirectory() as folder:
        for shape in SHAPES:
            strange = Path(folder) / "session.jsonl"
            strange.write_bytes(json.dumps(shape).encode() + b"\n" + data)
            try:
                reader.matches(TranscriptFile(strange).head())
                _read(reader, strange)
            except Exception as crash:
                raise AssertionError(f"{sample}: the line {json.dumps(shape)} raises {crash!r}") from crash


def leaves_out_advice(reader: Reader, sample: Path) -> None:
    """Wheelspin's own advice before, after or beside the text of a result is not part of the outcome."""
    events, _ = _read(reader, sample)
    texts = {text for event in events if isinstance(event, ToolReturned) for text in _texts(event.outcome.value)}
    with TemporaryDirectory() as folder:
        for where, add in _PLACES.items():
            advised = Path(folder) / "session"
            advised.write_bytes(_advised(_bytes(sample), texts, add))
            expect(_read(reader, advised)[0] == events, f"{sample}: advice {where} a result changes the events")


READER_LAWS: tuple[Callable[[Reader, Path], None], ...] = (
    knows_its_format,
    gives_calls_before_outcomes,
    reads_compressed_files,
    reads_broken_files_as_far_as_they_go,
    skips_unknown_lines,
    leaves_out_advice,
)
"""The laws that every reader keeps."""


def _read(reader: Reader, path: Path) -> tuple[list[Event], TranscriptFile]:
    file = TranscriptFile(path)
    return list(reader.read(file)), file


def _bytes(sample: Path) -> bytes:
    data = sample.read_bytes()
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data


def _texts(value: object) -> Iterator[str]:
    """Yield the texts in an outcome that are long enough to be found again in the file."""
    if isinstance(value, str):
        if len(value) >= _SHORTEST_TEXT and " " in value:
            yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _advised(data: bytes, texts: set[str], add: _Add) -> bytes:
    """Return a session with advice in each of its results."""
    try:
        documents = [json.loads(data)]
    except ValueError:
        documents = [json.loads(line) for line in data.splitlines()]

    def change(value: Any) -> Any:
        if isinstance(value, dict):
            return add({key: item if key in _ARGUMENTS else change(item) for key, item in value.items()}, texts)
        return [change(item) for item in value] if isinstance(value, list) else value

    return b"".join(json.dumps(change(document)).encode() + b"\n" for document in documents)


def _in_text(form: str) -> _Add:
    """Return a function that puts advice into the texts of results."""

    def add(value: dict[str, Any], texts: set[str]) -> dict[str, Any]:
        return {
            key: form.format(text=item, advice=_ADVICE)
            if isinstance(item, str) and key not in _ARGUMENTS and _contains(item, texts)
            else item
            for key, item in value.items()
        }

    return add


def _in_block(value: dict[str, Any], texts: set[str]) -> dict[str, Any]:
    """Put advice into a block of its own behind the text blocks of results."""

    def with_block(item: Any) -> Any:
        last = item[-1] if isinstance(item, list) and item else None
        is_text = isinstance(last, dict) and isinstance(last.get("text"), str) and _contains(last["text"], texts)
        return [*item, {**last, "text": _ADVICE}] if is_text and last is not None else item

    return {key: with_block(item) for key, item in value.items()}


def _contains(item: str, texts: set[str]) -> bool:
    return any(text in item for text in texts)


_PLACES: dict[str, _Add] = {
    "before": _in_text("{advice}\n\n{text}"),
    "after": _in_text("{text}\n\n{advice}"),
    "beside": _in_block,
}
