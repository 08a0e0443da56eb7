"""The house itself: what is public, what is loaded, and rules that no linter knows."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import wheelspin
from tests.conftest import ROOT
from wheelspin import errors

PUBLIC = {
    "Action",
    "Config",
    "Detector",
    "EventKind",
    "Finding",
    "Guard",
    "Level",
    "LoopEvent",
    "Outcome",
    "OutcomeKind",
    "OutcomeStatus",
    "Replay",
    "RunRecord",
    "Settings",
    "TOOLS",
    "ToolCall",
    "ToolHint",
    "ToolTable",
    "Verdict",
    "__version__",
    "errors",
    "load_config",
}
SOURCES = sorted((ROOT / "src" / "wheelspin").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))
COSTLY = {
    "asyncio",
    "dataclasses",
    "inspect",
    "json",
    "logging",
    "orjson",
    "pathlib",
    "pydantic",
    "pyjson5",
    "rich",
    "typing",
}


def _loaded(code: str) -> set[str]:
    """Give the modules that a bare interpreter has loaded after some code."""
    paths = [str(ROOT / "src"), sysconfig.get_paths()["platlib"], sysconfig.get_paths()["purelib"]]
    program = f"import sys; sys.path += {paths!r}\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-S", "-I", "-c", program], check=True, capture_output=True, text=True)  # noqa: S603
    return set(done.stdout.split())


def test_the_public_names_are_those_that_are_listed() -> None:
    """Nothing becomes public unseen."""
    assert set(wheelspin.__all__) == PUBLIC == set(dir(wheelspin))


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_is_there(name: str) -> None:
    """Although it is loaded only when it is asked for."""
    assert getattr(wheelspin, name) is getattr(wheelspin, name)


def test_a_name_that_is_not_there_is_an_ordinary_error() -> None:
    """As with any module."""
    with pytest.raises(AttributeError, match="no attribute 'Wheel'"):
        _ = wheelspin.Wheel


def test_a_fresh_process_finds_the_errors_in_the_package() -> None:
    """Although nothing has imported them yet."""
    assert "wheelspin.errors" in _loaded("import wheelspin; wheelspin.errors.ConfigError")


def test_the_package_can_be_run() -> None:
    """Where the command is not on the path."""
    command = [sys.executable, "-m", "wheelspin", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own interpreter

    assert done.stdout == f"wheelspin {wheelspin.__version__}\n"


def test_the_error_that_ends_a_run_holds_its_verdict() -> None:
    """For hosts that speak in exceptions."""
    verdict = wheelspin.Verdict(wheelspin.Action.ABORT, reason="why")
    error = errors.ToolLoopError(verdict)

    assert (error.verdict, error.code, str(error)) == (verdict, verdict.code, "why")


def test_importing_the_package_loads_nothing_else() -> None:
    """Whoever only imports it pays nothing."""
    before = _loaded("pass")

    assert _loaded("import wheelspin") - before == {"wheelspin"}


def test_a_guard_loads_nothing_that_costs_a_process_its_start() -> None:
    """A hook that is started for every call has to be quick."""
    code = (
        "from wheelspin import Guard, Outcome, ToolCall\n"
        "guard = Guard()\n"
        "call = ToolCall('read', {'a': [1, {'b': 2.5}]}, id='c')\n"
        "guard.before(call); guard.after(call, Outcome.result({'content': []})); guard.dump()"
    )

    assert not _loaded(code) & COSTLY


def test_the_errors_are_those_of_the_tree_in_the_docstring() -> None:
    """Whoever reads it knows them all."""
    drawn = re.findall(r"\b\w+Error\b", errors.__doc__ or "")
    defined = [
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.WheelspinError)
    ]

    assert sorted(drawn) == sorted(defined)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_has_one_room(path: Path) -> None:
    """Four hundred lines at the most, and no import of the package's front door, which would close a circle."""
    text = path.read_text()

    assert len(text.splitlines()) <= 400
    assert not re.search(
        r"^\s*(from wheelspin import|import wheelspin)$", text.split("TYPE_CHECKING:")[0], re.MULTILINE
    )


@pytest.mark.parametrize("path", TESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_test_has_one_sentence(path: Path) -> None:
    """It states the behaviour, not the way in which it is tested."""
    functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
    silent = [node.name for node in functions if node.name.startswith("test_") and not ast.get_docstring(node)]

    assert silent == []


def test_nothing_is_left_to_be_done() -> None:
    """A note to oneself is no comment."""
    marks = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    found = [path.name for path in SOURCES if marks.search(path.read_text())]

    assert found == []
