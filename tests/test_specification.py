"""The specification: whatever the source and the tests cite is there, and its tables hold the real values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT
from wheelspin.config import config_from, values_of
from wheelspin.core.detectors import DETECTORS
from wheelspin.core.detectors.base import Rank

PAGE = ROOT / "docs" / "specification.md"
CITING = [
    path
    for folder in ("src", "tests", "docs", "benchmarks", "evaluation", "examples")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in {".py", ".md", ".toml", ".js", ".mjs", ".sh"} and path not in {PAGE, Path(__file__)}
] + [ROOT / name for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile")]
HEADING = re.compile(r"^#{2,3} (\d+(?:\.\d+)?)\.? (.+)$", re.MULTILINE)
RULE = re.compile(r"^(?:(\d+)\. |\| (\d+) \|)", re.MULTILINE)
AND = r"(?:,? (?:and|to|or) |, )"
CITATION = re.compile(
    rf"\bSPEC\s+(?P<sections>\d+(?:\.\d+)?(?:{AND}\d+(?:\.\d+)?)*)"
    rf"(?:,\s+rules?\s+(?P<rules>\d+(?:{AND}\d+)*)|,\s+(?P<term>no-progress streak|ping-pong|polling calls|`\w+`))?"
)
TITLES = {
    "1": "Words",
    "2": "Configuration",
    "2.1": "Keys",
    "2.2": "Reading a file",
    "2.3": "Where it comes from",
    "3": "Events",
    "4": "Fingerprints",
    "4.1": "Arguments",
    "4.2": "Outcomes",
    "4.3": "Unknown tools",
    "4.4": "Outcome status",
    "4.5": "Volatile text of failures",
    "5": "History",
    "6": "Detectors",
    "6.1": "What a verdict does",
    "6.2": "What is never stopped",
    "6.3": "Declarations per tool",
    "6.4": "How it is counted",
    "6.5": "Presets",
    "6.6": "Observe mode",
    "7": "Post-compaction guard",
    "8": "Run record, events and logs",
    "9": "When the guard itself fails",
    "10": "Laws",
    "11": "Differences from OpenClaw 2026.7.1",
}


class Section(NamedTuple):
    """One section of the page, up to the next heading of any depth."""

    title: str
    text: str

    @property
    def rules(self) -> set[str]:
        """Numbers of its items, and of the rows of a table whose first column is a number."""
        return {item or row for item, row in RULE.findall(self.text)}


def sections() -> dict[str, Section]:
    """Return the sections of the page by their numbers."""
    text = PAGE.read_text()
    found = list(HEADING.finditer(text))
    ends = [heading.start() for heading in found[1:]] + [len(text)]
    return {
        heading[1]: Section(heading[2], text[heading.end() : end]) for heading, end in zip(found, ends, strict=True)
    }


def missing(citing: str) -> Iterator[str]:
    """Yield the citations in a text that lead nowhere."""
    known = sections()
    for cited in CITATION.finditer(" ".join(citing.split())):
        numbers = re.findall(r"\d+(?:\.\d+)?", cited["sections"])
        for number in numbers:
            section, _, item = number.partition(".")
            is_item = section in known and f"{section}.1" not in known and item in known[section].rules
            if number not in known and not is_item:
                yield cited[0]
        rules = known[numbers[-1]].rules if numbers[-1] in known else set()
        if not set(re.findall(r"\d+", cited["rules"] or "")) <= rules:
            yield cited[0]
        if cited["term"]:
            part = "".join(section.text for number, section in known.items() if number.startswith(numbers[-1]))
            if not re.search(rf"(?i)\*\*{re.escape(cited['term'])}\*\*|\| {re.escape(cited['term'])} \|", part):
                yield cited[0]


def test_every_citation_leads_somewhere() -> None:
    """A "SPEC 6, rule 3" anywhere names a heading, and a numbered rule under it."""
    lost = {str(path.relative_to(ROOT)): list(missing(path.read_text())) for path in CITING}

    assert {path: citations for path, citations in lost.items() if citations} == {}


@pytest.mark.parametrize(
    "citation",
    ["SPEC 12", "SPEC 6.9", "SPEC 6, rule 99", "SPEC 4.2, rules 3 and 9", "SPEC 6, 4.9 and 2", "SPEC 6.3, `mutate`"],
)
def test_a_citation_of_something_that_is_not_there_is_found(citation: str) -> None:
    """Also where only one of several sections or rules is missing."""
    assert list(missing(f"as it must be ({citation})")) == [citation]


@pytest.mark.parametrize(
    "citation", ["SPEC 6, rules 1 to 3", "SPEC 11.4", "SPEC 3, 4.2 and 6", "SPEC 6, ping-pong", "SPEC\n    4.2, rule 5"]
)
def test_a_citation_of_something_that_is_there_is_accepted(citation: str) -> None:
    """In each of the forms in use, also across a line break."""
    assert list(missing(f"as it must be ({citation})")) == []


def test_something_is_cited() -> None:
    """The pattern still recognises the citations."""
    assert sum(len(CITATION.findall(path.read_text())) for path in CITING) > 10


def test_the_headings_are_stable() -> None:
    """Comments name sections by number, so a number keeps its subject."""
    assert {number: section.title for number, section in sections().items()} == TITLES


def test_the_section_numbers_count_up() -> None:
    """Each section and each subsection follows the one before it."""
    numbers = [tuple(map(int, number.split("."))) for number in sections()]

    assert numbers == sorted(numbers)
    assert all(number[:-1] in {(), *numbers} and (number[-1] == 1 or _before(number) in numbers) for number in numbers)


def _before(number: tuple[int, ...]) -> tuple[int, ...]:
    return *number[:-1], number[-1] - 1


OWN = re.compile(r"detectors\.\w+\.")
"""Keys of thresholds that a single detector has."""


def _values(preset: str) -> dict[str, object]:
    settings = config_from({"tools": {"loopDetection": {"preset": preset}}}).for_agent()
    return values_of(settings)


def _table(section: str) -> dict[str, str]:
    rows = re.findall(r"^\| `([\w.]+)` \| (.+?) \|", sections()[section].text, re.MULTILINE)
    return {key: value.strip("`") for key, value in rows if key != "plugins"}


def test_the_table_of_keys_holds_the_defaults() -> None:
    """Every key is there with the default that it really has, and no other."""
    values = _values("standard").items()
    expected = {key: "not set" if value is None else json.dumps(value) for key, value in values if not OWN.match(key)}

    assert _table("2.1") == expected


def test_the_table_of_the_preset_early_holds_what_differs() -> None:
    """Every value that differs from `standard`, pairs of thresholds in one row."""
    standard, early = _values("standard"), _values("early")
    differing = {key: value for key, value in early.items() if standard.get(key) != value and key != "preset"}
    pairs = {key.rpartition(".")[0] for key in differing if key.count(".")}
    expected = {key: json.dumps(value) for key, value in differing.items() if not key.count(".")}
    expected |= {pair: f"{early[f'{pair}.warningThreshold']} / {early[f'{pair}.criticalThreshold']}" for pair in pairs}

    assert _table("6.5") == expected


def test_every_documented_detector_has_a_rule() -> None:
    """Its id is in the table of section 6; a further detector may be described on its page alone."""
    ids = set(re.findall(r"\| `([a-z-]+)` \|$", sections()["6"].text, re.MULTILINE))

    further = {detector.id for detector in DETECTORS if detector.rank is Rank.SUPPLEMENTARY}
    assert ids - further == {detector.id for detector in DETECTORS} - further
    assert ids <= {detector.id for detector in DETECTORS}
