"""
Made runs: ways of being stuck, and good work that looks like it.

The recorded runs show what happens often. These show what may happen at all, one shape each: what holds for a shape
should hold for every agent that runs into it, whatever its tools are called.
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
"""All shapes; `name` is the id of the run, `why` says in one sentence why it is stuck or healthy."""


def synthetic() -> Iterator[Run]:
    """Give one run of every shape, the stuck ones first, always the same."""
    for shape in SHAPES:
        yield shape.run()
