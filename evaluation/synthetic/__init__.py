"""
Synthetic runs: ways of being stuck, and good work that looks similar.

The recorded runs show what happens often. The synthetic ones show what can happen, one shape each. A result on a shape
should apply to every agent with that behaviour, whatever its tools are called.
"""

from __future__ import annotations

from collections.abc import Iterator

from evaluation.runs import Run
from evaluation.synthetic.failing import FAILING
from evaluation.synthetic.healthy import HEALTHY
from evaluation.synthetic.shapes import Shape
from evaluation.synthetic.stuck import STUCK
from evaluation.synthetic.world import WORLD

__all__ = ["SHAPES", "Shape", "synthetic"]

SHAPES: tuple[Shape, ...] = (*STUCK.shapes, *FAILING.shapes, *HEALTHY.shapes, *WORLD.shapes)
"""All shapes. `name` is the id of the run, and `why` explains in one sentence why it is stuck or healthy."""


def synthetic() -> Iterator[Run]:
    """Yield one run of every shape, the stuck ones first; the runs are always the same."""
    for shape in SHAPES:
        yield shape.run()
