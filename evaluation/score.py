"""Score the signals of a detector against the labels that people gave to the runs."""

from __future__ import annotations

import statistics
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from evaluation.runs import Run, Stretch

__all__ = ["Figures", "Judged", "Share", "Signal", "figures", "judged", "signals_of"]


class Signal(NamedTuple):
    """A warning or a stop of a detector in a run, as `evaluation/peers/README.md` defines it."""

    call: int
    what: Literal["warn", "stop"]
    when: Literal["before", "after"]


class Judged(NamedTuple):
    """A loop, an ok stretch or a clean run, and a detector's reaction to it."""

    run: str
    label: str
    """`loop`, `ok`, or `clean` for a whole run."""
    start: int
    warned: bool
    """Whether the detector warned or stopped."""
    stopped: bool
    wasted: int = 0
    """In a loop, the number of wasted calls before the first signal took effect."""
    saved: float = 0.0
    """In a loop, the share of the wasted calls that the first stop prevents."""


class Share(NamedTuple):
    """A number of hits out of a total."""

    hits: int
    of: int


class Figures(NamedTuple):
    """The figures of a detector in a table."""

    loops_warned: Share
    loops_stopped: Share
    wasted: float | None
    """Median over all loops; `None` without loops."""
    saved: float | None
    """Mean over all loops; `None` without loops."""
    ok_warned: Share
    """Ok stretches that were warned or stopped: false alarms."""
    clean_warned: Share
    clean_stopped: Share


def signals_of(run: Run, answer: dict[str, Any]) -> list[Signal]:
    """
    Return the signals in a detector's answer on a run, in the order in which they happen.

    Raises:
        ValueError: The answer does not fit the run.
    """
    if answer.get("id") != run.id:
        raise ValueError(f"an answer on {answer.get('id')!r}, not on {run.id!r}")
    signals = []
    for signal in answer["signals"]:
        match signal:
            case [int(call), "warn" | "stop" as what, "before" | "after" as when] if 0 <= call < len(run.calls):
                signals.append(Signal(call, what, when))
            case _:
                raise ValueError(f"{signal!r} is not a valid signal for a run of {len(run.calls)} calls")
    return sorted(signals, key=_moment)


def judged(run: Run, signals: Sequence[Signal]) -> Iterator[Judged]:
    """Yield the effect of ordered signals on each labelled stretch, and on a clean run."""
    for stretch in run.stretches:
        inside = [signal for signal in signals if stretch.start <= signal.call <= stretch.end]
        stops = [signal for signal in inside if signal.what == "stop"]
        found = Judged(run.id, stretch.label, stretch.start, bool(inside), bool(stops))
        if stretch.label == "loop":
            saved = 1 - _spent(stretch, stops) / _waste(stretch)
            found = found._replace(wasted=_spent(stretch, inside), saved=saved)
        yield found
    if run.is_clean:
        yield Judged(run.id, "clean", 0, bool(signals), any(signal.what == "stop" for signal in signals))


def figures(found: Collection[Judged]) -> Figures:
    """Return the figures of a detector over a set of runs."""
    loops, ok, clean = ([each for each in found if each.label == label] for label in ("loop", "ok", "clean"))
    return Figures(
        _share(each.warned for each in loops),
        _share(each.stopped for each in loops),
        statistics.median(each.wasted for each in loops) if loops else None,
        statistics.mean(each.saved for each in loops) if loops else None,
        _share(each.warned for each in ok),
        _share(each.warned for each in clean),
        _share(each.stopped for each in clean),
    )


def _moment(signal: Signal) -> tuple[int, bool]:
    return signal.call, signal.when == "after"


def _waste(stretch: Stretch) -> int:
    return stretch.end - stretch.waste_from + 1


def _spent(stretch: Stretch, signals: Sequence[Signal]) -> int:
    """Return the number of wasted calls before the first signal; without a signal, all of them."""
    if not signals:
        return _waste(stretch)
    call, is_after = _moment(signals[0])
    return max(0, call - stretch.waste_from + is_after)


def _share(answers: Iterator[bool]) -> Share:
    hits = list(answers)
    return Share(sum(hits), len(hits))
