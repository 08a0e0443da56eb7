"""The laws that every reader keeps, and the samples that they are tried on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.transcripts.reading import SAMPLES, SESSIONS, of, read, write
from wheelspin import Replay
from wheelspin.errors import ConfigError
from wheelspin.testing.readers import READER_LAWS
from wheelspin.transcripts import READERS, reader_for
from wheelspin.transcripts.base import (
    Reader,
    ToolCalled,
    ToolReturned,
)
from wheelspin.transcripts.files import TranscriptFile

WORDS = sorted(
    set(re.findall(r'"([a-zA-Z_]+)"', "".join(path.read_text() for path in (ROOT / "src/wheelspin").rglob("*.py"))))
)
"""Every word that the sources quote: the keys and the kinds of all formats are among them."""
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(WORDS) | st.just("{"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=12,
)
SHAPED = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["assistant", "user", "message", "response_item", "event_msg", "call", "result"])
        | VALUES,
        "message": st.fixed_dictionaries(
            {},
            optional={
                "role": st.sampled_from(["assistant", "user", "toolResult"]) | VALUES,
                "content": st.lists(st.fixed_dictionaries({"type": st.sampled_from(WORDS) | VALUES})) | VALUES,
                "usage": VALUES,
            },
        ),
        "payload": st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=5),
        "role": st.sampled_from(["assistant", "user", "tool", "function"]) | VALUES,
        "content": VALUES,
        "tool_calls": st.lists(VALUES, max_size=3) | VALUES,
        "messages": VALUES,
        "usage": VALUES,
    },
)
LINES = SHAPED | st.dictionaries(st.sampled_from(WORDS), VALUES, max_size=5)


@pytest.mark.parametrize("sample", SAMPLES.values())
def test_its_sample_has_a_result_of_several_words(sample: str) -> None:
    """The law about advice in results has nothing to change otherwise."""
    values = [str(event.outcome.value) for event in of(read(SESSIONS / sample)[0], ToolReturned)]

    assert any(" " in value and len(value) >= 8 for value in values)


@pytest.mark.parametrize("law", READER_LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_a_reader_keeps_its_contract(law: Callable[[Reader, Path], None], reader: Reader) -> None:
    """Each reader keeps each law on its sample."""
    law(reader, SESSIONS / SAMPLES[reader.name])


@pytest.mark.parametrize(("name", "file"), SAMPLES.items())
def test_its_sample_is_recognised(name: str, file: str) -> None:
    """No other reader recognises the sample first, and the sample has enough calls."""
    events, _ = read(SESSIONS / file)

    assert reader_for(TranscriptFile(SESSIONS / file)).name == name
    assert len(of(events, ToolCalled)) > 5


@given(lines=st.lists(LINES, min_size=1, max_size=4), reader=st.sampled_from(READERS))
def test_no_line_breaks_a_reader(lines: list[Any], reader: Any) -> None:
    """Files with the keys of all formats and values of any type are matched and replayed without a crash."""
    with TemporaryDirectory() as folder:
        source = TranscriptFile(write(Path(folder), *lines))

        assert reader.matches(source.head()) in {True, False}
        with suppress(ConfigError):
            Replay(tools=reader.tools).scan(reader.read(source))


def test_every_reader_has_a_sample() -> None:
    """A reader is named after its file, and the laws need a sample of its format."""
    assert all(reader.name == type(reader).__module__.rpartition(".")[2] for reader in READERS)
    assert {reader.name for reader in READERS} == set(SAMPLES)


def test_the_samples_are_those_that_their_scripts_write() -> None:
    """Run the script after changing it."""
    written: dict[str, str] = {}
    for script in SESSIONS.glob("make_*.py"):
        scope: dict[str, Any] = {"__file__": str(script), "__name__": script.stem}
        exec(script.read_text(), scope)  # noqa: S102 - our own script
        make: Callable[[], Iterator[tuple[str, str]]] = scope["sessions"]
        written.update(make())

    assert set(written) == set(SAMPLES.values())
    assert all((SESSIONS / name).read_text() == text for name, text in written.items())
