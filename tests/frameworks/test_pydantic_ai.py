"""The adapter of Pydantic AI, with the real framework."""

from __future__ import annotations

from tests.frameworks.players.pydantic_ai import play
from wheelspin.testing import check_adapter


def test_an_agent_does_what_the_bare_guard_says() -> None:
    """A tool that fails ends an agent of Pydantic AI by itself: its exception passes unchanged."""
    check_adapter(play, without=["a tool that fails"])
