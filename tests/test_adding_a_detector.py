"""A built-in detector is added as CONTRIBUTING says: two files and one line, in a copy of the tree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

SOURCE = '''"""The tool `z` is called with the same arguments three times."""

from __future__ import annotations

from wheelspin.core.detectors.base import Detector, Evidence, Finding, Needs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wheelspin.core.call_record import CallRecord
    from wheelspin.core.detector_settings import DetectorSettings
    from wheelspin.core.history import History


class ThirdTime(Detector):
    """
    The tool `z` is called with the same arguments three times.

    What it detects:
        It warns after `warningThreshold` equal calls of the tool `z`, whatever their outcomes.

    Why it is a loop:
        The tool is known to be useless the third time.

    Example:
        `Z+*8` warns at 4 and 7. `A+*8` stays quiet.

    Options:
        `detectors.thirdTime`.

    Not to be confused with:
        `generic-repeat`, which counts calls of any tool.

    False positives:
        None.
    """

    __slots__ = ()

    id = "third-time"
    default_thresholds = {"standard": (3, 5)}
    observation = "`{tool}` was called {count} times"
    alternatives = ("Call another tool.",)

    def check(self, call: CallRecord, history: History, settings: DetectorSettings) -> Finding | None:
        """Warn by the count."""
        if call.tool != "z":
            return None
        thresholds = self.thresholds(call, settings)
        return self.graded(history.repeats(call.signature), thresholds, call.signature, may_block=False)

    def needs(self, settings: DetectorSettings) -> Needs:
        """Count equal calls."""
        return Needs(Evidence.EQUAL_CALLS, self.lowest_warning(settings))
'''
CASES = """\
[[case]]
name = "the same call again and again"
play = "Z+*8"
warns = [4, 7]

[[case]]
name = "at another threshold"
play = "Z+*8"
settings = { detectors = { third_time = { warning_threshold = 5 } } }
warns = [6]

[[case]]
name = "another tool"
play = "A+*8"

[[case]]
name = "a few calls"
play = "Z+*3"

[[case]]
name = "it can be switched off"
play = "Z+*8"
settings = { detectors = { third_time = false } }
"""
SUITES = (
    "tests/core/test_detectors.py",
    "tests/core/test_detector_contract.py",
    "tests/config",
    "tests/replay/test_engine.py",
    "tests/test_docs.py::test_the_tables_of_the_detectors_are_made_of_their_classes",
    "tests/test_docs.py::test_the_page_of_the_detectors_is_generated",
    "tests/test_docs.py::test_the_configuration_table_is_true",
    "tests/test_specification.py",
    "tests/test_structure.py",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Copy the tree to a path with a space, and add the detector to it."""
    tree = tmp_path / "a copy"
    skipped = shutil.ignore_patterns(".*", "__pycache__", "build", "dist")
    shutil.copytree(ROOT, tree, ignore=skipped)
    family = tree / "src" / "wheelspin" / "core" / "detectors"
    (family / "third_time.py").write_text(SOURCE)
    (tree / "tests" / "core" / "detectors" / "third_time.toml").write_text(CASES)
    listed = (family / "__init__.py").read_text()
    listed = listed.replace("    NearRepeat(),\n", "    NearRepeat(),\n    ThirdTime(),\n")
    first = "from wheelspin.core.detectors.unchanged_failure"
    line = "from wheelspin.core.detectors.third_time import ThirdTime\n"
    (family / "__init__.py").write_text(re.sub(f"^{first}", line + first, listed, flags=re.MULTILINE))
    return tree


def test_two_files_and_one_line_are_all_that_a_detector_needs(tree: Path) -> None:
    """After `make docs`, the suites of detectors, configuration, replay, documentation and structure pass."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    for variable in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTEST_CURRENT_TEST"):
        environment.pop(variable, None)

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", *arguments]
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True)  # noqa: PLW1510, S603 - our own interpreter
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("docs.make_detectors")
    assert "10 passed" in run("pytest", "-p", "no:cacheprovider", "-k", "third-time", "tests/core/test_detectors.py")
    run("pytest", "-q", "-p", "no:cacheprovider", *SUITES)

    assert "| `detectors.thirdTime` | `true` |" in (tree / "README.md").read_text()
    assert '"thirdTime"' in run("wheelspin", "config", "schema")
    assert "detectors.thirdTime.warningThreshold" in run("wheelspin", "config", "show")
