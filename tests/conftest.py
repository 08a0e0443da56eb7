"""What all tests share."""

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
"""Real agents and frameworks have commands of their own: `make test-agents` and `make test-frameworks`."""

settings.register_profile("everyday", deadline=None, print_blob=True)
settings.register_profile("deep", settings.get_profile("everyday"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "everyday"))


@pytest.fixture(autouse=True)
def _raise_crashes() -> Iterator[None]:
    """A crash of the guard fails the test, unless the test asks for the guard's own way of failing."""
    with strict():
        yield


def shared(part: str) -> Path:
    """Give a folder of recorded material that lies beside a developer's checkout, and skip where it does not."""
    folder = SHARED / part
    if not folder.is_dir():
        pytest.skip(f"the recorded material ({part}) is not here", allow_module_level=True)
    return folder
