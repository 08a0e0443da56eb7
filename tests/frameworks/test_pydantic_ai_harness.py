"""The adapter for Pydantic AI, with the compactions of its harness."""

from __future__ import annotations

import pytest
from pydantic_ai.models.test import TestModel
from pydantic_ai_harness.compaction import SlidingWindowCompaction, SummarizingCompaction

from tests.frameworks.players.pydantic_ai import agent_of, loop, run
from wheelspin import Guard
from wheelspin.errors import ToolLoopError


def test_a_loop_that_survives_a_summary_ends_the_run() -> None:
    """A summary by a model that replaces older messages arms the guard."""
    summary = TestModel(custom_output_text="summary")
    agent = agent_of(Guard(), loop(60), SummarizingCompaction(summary, max_messages=14, keep_messages=4))

    with pytest.raises(ToolLoopError) as ended:
        run(agent)
    assert ended.value.code == "compaction_loop_persisted"


def test_a_window_that_slides_along_does_not_arm_the_guard() -> None:
    """Such a loop is ended by the other detectors."""
    agent = agent_of(Guard(), loop(60), SlidingWindowCompaction(max_messages=14, keep_messages=12))

    with pytest.raises(ToolLoopError) as ended:
        run(agent)
    assert ended.value.code == "global_circuit_breaker"
