"""Fixtures and settings for all tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from wheelspin.testing import strict

ROOT = Path(__file__).parent.parent
SHARED = ROOT.parent / "shared"

collect_ignore = [
    *([] if "WHEELSPIN_AGENTS" in os.environ else ["agents"]),
    *([] if "WHEELSPIN_FRAMEWORK" in os.environ else ["frameworks"]),
]
"""Tests with real agents and frameworks run with `make test-agents` and `make test-frameworks`."""

FOLDERS = (
    *("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME", "QWEN_HOME"),
    *("XDG_CONFIG_HOME", "XDG_STATE_HOME", "WHEELSPIN_CONFIG", "WHEELSPIN_STORE"),
)
"""Variables that move the files of an agent or of Wheelspin; no test may touch those of whoever runs it."""

settings.register_profile("everyday", deadline=None, print_blob=True)
settings.register_profile("deep", settings.get_profile("everyday"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "everyday"))


@pytest.fixture(autouse=True)
def _raise_crashes() -> Iterator[None]:
    """Make a crash of the guard fail the test, unless the test asks for the guard to fail open."""
    with strict():
        yield


@pytest.fixture(autouse=True)
def _forget_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every file be where it is by default, in a home folder that the test sets."""
    for name in FOLDERS:
        monkeypatch.delenv(name, raising=False)


def shared(part: str) -> Path:
    """Return a folder of recorded material beside a developer's checkout; skip the tests if it does not exist."""
    folder = SHARED / part
    if not folder.is_dir():
        pytest.skip(f"the recorded material ({part}) does not exist", allow_module_level=True)
    return folder
