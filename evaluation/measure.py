"""Measure the detectors that are compared."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from evaluation import peers, wheelspin_peer
from evaluation.peers import PEERS, Peer, PeerError
from evaluation.runs import Run
from evaluation.score import Figures, figures, judged, signals_of
from wheelspin import Settings
from wheelspin.core.detectors import DETECTORS
from wheelspin.testing import strict

__all__ = ["ADDED", "SETTINGS", "Candidate", "Row", "candidates", "measure"]

ADDED = [each.id.replace("-", "_") for each in DETECTORS if each.can_switch and not each.is_documented]
"""The detectors that OpenClaw's documented detection does not have."""

SETTINGS = {
    "wheelspin-early": Settings(enabled=True, preset="early"),
    "wheelspin-standard": Settings(enabled=True),
    "wheelspin-documented": Settings(enabled=True, detectors=dict.fromkeys(ADDED, False)),
}
"""Wheelspin's settings that are measured: both presets, and the documented detectors alone."""

PASSES = 3


class Candidate(NamedTuple):
    """A detector to measure."""

    name: str
    version: str
    answers: Callable[[Sequence[Run]], Iterator[dict[str, Any]]]
    """Yields an answer for each run, in order."""
    passes: int = 1
    """Number of passes over the runs, of which the median time is taken."""


class Row(NamedTuple):
    """One row of a table."""

    name: str
    version: str
    figures: Figures | None
    """`None` if the detector was not run."""
    microseconds: float = 0.0
    """Time per call in the detector, the median of its passes."""
    reason: str = ""
    """Why the detector was not run, in one line."""
    details: str = ""
    """The full message of why the detector was not run."""


def candidates(environments: Path) -> list[Candidate]:
    """Return all detectors, Wheelspin first. The environments of the peers are in the folder."""
    own = version("wheelspin")
    return [
        *(Candidate(name, own, partial(_wheelspin, settings), PASSES) for name, settings in SETTINGS.items()),
        *(Candidate(peer.name, _pin(peer), partial(_peer, peer, environments)) for peer in PEERS),
    ]


def measure(candidate: Candidate, runs: Sequence[Run]) -> Row:
    """Measure a detector on runs. A detector that cannot be set up or that fails gets a row with the reason."""
    seconds = []
    try:
        for _ in range(candidate.passes):
            answers = list(zip(runs, candidate.answers(runs), strict=True))
            found = [each for run, answer in answers for each in judged(run, signals_of(run, answer))]
            seconds.append(sum(float(answer["seconds"]) for _, answer in answers))
    except (PeerError, ValueError, KeyError, TypeError) as error:
        if candidate.name in SETTINGS:
            raise
        text = str(error) if isinstance(error, PeerError) else f"{candidate.name} returned an invalid answer: {error}"
        return Row(candidate.name, candidate.version, None, reason=_shortened(candidate.name, text), details=text)
    calls = sum(len(run.calls) for run in runs)
    return Row(candidate.name, candidate.version, figures(found), statistics.median(seconds) / calls * 1e6)


def _wheelspin(settings: Settings, runs: Sequence[Run]) -> Iterator[dict[str, Any]]:
    with strict():
        yield from wheelspin_peer.judge(runs, settings)


def _peer(peer: Peer, environments: Path, runs: Sequence[Run]) -> Iterator[dict[str, Any]]:
    return peers.run(peer, (run.line() for run in runs), environments)


def _pin(peer: Peer) -> str:
    return re.split("==|@", peer.requirement)[-1]


def _shortened(name: str, text: str) -> str:
    """Return the first line without the detector's name and with commands cut to their program, to fit into a table."""
    line = re.sub(r"`(?:\S*/)?([^\s`]+)[^`]*`", r"`\1`", text.splitlines()[0])
    return line.removeprefix(name).strip(" :;").replace("|", "/")[:120]
