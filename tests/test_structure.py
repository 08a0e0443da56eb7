"""The package as a whole: what is public, what an import loads, and rules that no linter checks."""

from __future__ import annotations

import ast
import json
import re
import statistics
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

import wheelspin
from tests.agents.setup import AGENTS
from tests.conftest import ROOT
from tests.frameworks.run import FRAMEWORKS
from wheelspin import errors
from wheelspin.adapters import ADAPTERS
from wheelspin.core.detectors import DETECTORS
from wheelspin.hooks import HOOKS
from wheelspin.installers.claude_code import INSTALLER
from wheelspin.stores import STORES
from wheelspin.transcripts import READERS

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
PACKAGE = ROOT / "src" / "wheelspin"
SOURCES = sorted(PACKAGE.rglob("*.py"))
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
    """Return the modules that a bare interpreter has loaded after running some code."""
    paths = [str(ROOT / "src"), sysconfig.get_paths()["platlib"], sysconfig.get_paths()["purelib"]]
    program = f"import sys; sys.path += {paths!r}\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-S", "-I", "-c", program], check=True, capture_output=True, text=True)  # noqa: S603
    return set(done.stdout.split())


def _modules_of(members: Iterable[object]) -> list[str]:
    """Return the names of the modules that define the classes of some objects."""
    return [type(member).__module__.rpartition(".")[2] for member in members]


def _imported_by(family: str) -> list[str]:
    """Return the modules of a package that its `__init__` imports."""
    nodes = ast.walk(ast.parse((PACKAGE / family / "__init__.py").read_text()))
    imports = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module == f"wheelspin.{family}"]
    return [alias.name for node in imports for alias in node.names]


FAMILIES: dict[str, tuple[Iterable[str], set[str]]] = {
    "adapters": (ADAPTERS, set()),
    "cli": (_imported_by("cli"), set()),
    "core/detectors": (_modules_of(DETECTORS), {"base"}),
    "hooks": (HOOKS.values(), {"base", "launcher", "process"}),
    "installers": (HOOKS.values(), {"base"}),
    "reports": (_imported_by("reports"), set()),
    "stores": (STORES, {"base", "sessions"}),
    "transcripts": (_modules_of(READERS), {"base", "conversations", "files"}),
}
"""The folder of each family, its members as its `__init__` lists them, and the helpers beside them."""
OF_AN_AGENT = (
    "src/wheelspin/hooks/{module}.py",
    "src/wheelspin/installers/{module}.py",
    "src/wheelspin/transcripts/{module}.py",
    "tests/hooks/test_{module}.py",
    "tests/agents/test_{module}.py",
    "tests/transcripts/test_{module}.py",
    "docs/hosts/{name}.md",
    "examples/sessions/{name}.*",
)
OF_AN_ADAPTER = (
    "src/wheelspin/adapters/{module}.py",
    "tests/frameworks/test_{module}.py",
    "tests/frameworks/players/{module}.py",
    "docs/adapters/{module}.md",
    "examples/adapters/{module}_*.py",
)
ELSEWHERE = {
    "tests/frameworks/test_callables.py": "tests/adapters/test_callables.py",  # plain functions need no framework
}


def _missing(patterns: Iterable[str], module: str) -> list[str]:
    """Return the files of a host that do not exist."""
    wanted = [pattern.format(module=module, name=module.replace("_", "-")) for pattern in patterns]
    return [path for path in wanted if not list(ROOT.glob(ELSEWHERE.get(path, path)))]


def test_the_public_names_are_those_that_are_listed() -> None:
    """A name becomes public only by being listed here."""
    assert set(wheelspin.__all__) == PUBLIC == set(dir(wheelspin))


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_is_there(name: str) -> None:
    """It is found although it is imported only on first use."""
    assert getattr(wheelspin, name) is getattr(wheelspin, name)


def test_a_name_that_is_not_there_is_an_ordinary_error() -> None:
    """A name that does not exist raises an AttributeError, as in any module."""
    with pytest.raises(AttributeError, match="no attribute 'Wheel'"):
        _ = wheelspin.Wheel


def test_a_fresh_process_finds_the_errors_in_the_package() -> None:
    """`wheelspin.errors` works although nothing has imported it yet."""
    assert "wheelspin.errors" in _loaded("import wheelspin; wheelspin.errors.ConfigError")


def test_the_package_can_be_run() -> None:
    """`python -m wheelspin` works where the command is not on the path."""
    command = [sys.executable, "-m", "wheelspin", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - our own interpreter

    assert done.stdout == f"wheelspin {wheelspin.__version__}\n"


def test_the_error_that_ends_a_run_holds_its_verdict() -> None:
    """A host that reports by exceptions finds the verdict in the error."""
    verdict = wheelspin.Verdict(wheelspin.Action.ABORT, reason="why")
    error = errors.ToolLoopError(verdict)

    assert (error.verdict, error.code, str(error)) == (verdict, verdict.code, "why")


def test_importing_the_package_loads_nothing_else() -> None:
    """`import wheelspin` loads only the package itself."""
    before = _loaded("pass")

    assert _loaded("import wheelspin") - before == {"wheelspin"}


def test_a_guard_loads_nothing_that_costs_a_process_its_start() -> None:
    """A hook is started for every call, so it must start quickly."""
    code = (
        "from wheelspin import Guard, Outcome, ToolCall\n"
        "guard = Guard()\n"
        "call = ToolCall('read', {'a': [1, {'b': 2.5}]}, id='c')\n"
        "guard.before(call); guard.after(call, Outcome.result({'content': []})); guard.dump()"
    )

    assert not _loaded(code) & COSTLY


def test_the_errors_are_those_of_the_tree_in_the_docstring() -> None:
    """The tree lists every error, and no other."""
    drawn = re.findall(r"\b\w+Error\b", errors.__doc__ or "")
    defined = [
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, errors.WheelspinError)
    ]

    assert sorted(drawn) == sorted(defined)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_is_small_and_imports_from_below(path: Path) -> None:
    """A file has at most 400 lines, and does not import the package itself, which would close a circle."""
    text = path.read_text()

    assert len(text.splitlines()) <= 400
    assert not re.search(
        r"^\s*(from wheelspin import|import wheelspin)$", text.split("TYPE_CHECKING:")[0], re.MULTILINE
    )


def test_the_package_has_at_most_twenty_names_at_its_top() -> None:
    """Files and folders count alike."""
    names = {path.name for path in PACKAGE.iterdir()} - {"__pycache__"}

    assert len(names) <= 20


def test_most_modules_are_small() -> None:
    """The median is at most 150 lines."""
    assert statistics.median(len(path.read_text().splitlines()) for path in SOURCES) <= 150


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_lists_each_of_its_members_once(family: str) -> None:
    """The list in `__init__` matches the files in the folder, except for private modules and helpers."""
    listed, helpers = FAMILIES[family]
    modules = [path for path in (PACKAGE / family).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    members = {path.stem for path in modules if not path.stem.startswith("_")} - helpers

    assert sorted(listed) == sorted(members)


@pytest.mark.parametrize("name", HOOKS)
def test_a_command_line_agent_has_one_name_in_every_family(name: str) -> None:
    """Each agent has a hook, an installer, a reader, tests, a page and a sample session."""
    assert HOOKS[name] == name.replace("-", "_")
    assert _missing(OF_AN_AGENT, HOOKS[name]) == []


@pytest.mark.parametrize("module", _modules_of(READERS))
def test_a_reader_has_tests_of_its_own(module: str) -> None:
    """The laws of readers know nothing of shell tools, prompts, compactions, or calls that are recorded twice."""
    assert _missing(["tests/transcripts/test_{module}.py"], module) == []


@pytest.mark.parametrize("module", ADAPTERS)
def test_a_framework_has_one_name_in_every_family(module: str) -> None:
    """Each framework has an adapter, tests, a player, a page and an example."""
    assert _missing(OF_AN_ADAPTER, module) == []


def test_every_host_is_set_up_documented_and_packaged() -> None:
    """An agent or a framework that is left out of one of these lists would be tested by nobody, or found by nobody."""
    readme = (ROOT / "README.md").read_text()
    frameworks = set(ADAPTERS) - {"callables"}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]

    assert {agent.host for agent in AGENTS} == set(HOOKS)
    assert {framework.adapter for framework in FRAMEWORKS} == set(extras) == frameworks
    assert [name for name in HOOKS if f"(docs/hosts/{name}.md)" not in readme] == []
    assert [module for module in ADAPTERS if f"(docs/adapters/{module}.md)" not in readme] == []


def test_the_plugin_of_claude_code_has_the_events_that_are_installed() -> None:
    """Both ways of guarding it hear of the same."""
    plugin = json.loads((ROOT / "plugins" / "claude-code" / "hooks" / "hooks.json").read_text())

    assert [("hooks", event) for event in plugin["hooks"]] == [entry.path for entry in INSTALLER.entries("")]


@pytest.mark.parametrize("path", TESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_test_has_one_sentence(path: Path) -> None:
    """Each test has a docstring that states the behaviour."""
    functions = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]
    silent = [node.name for node in functions if node.name.startswith("test_") and not ast.get_docstring(node)]

    assert silent == []


def test_nothing_is_left_to_be_done() -> None:
    """Sources have no notes about work that is left."""
    marks = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    found = [path.name for path in SOURCES if marks.search(path.read_text())]

    assert found == []
