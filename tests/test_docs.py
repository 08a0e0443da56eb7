"""The documentation: its Python runs, its commands work, and its tables and shown outputs are true."""

from __future__ import annotations

import doctest
import importlib
import inspect
import json
import os
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import wheelspin
from tests.conftest import ROOT
from wheelspin.cli import main
from wheelspin.config import config_from, values_of
from wheelspin.core.detectors import DETECTORS
from wheelspin.installers import installers
from wheelspin.installers.base import Installer, Scope

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
COMMAND = re.compile(r"('[^'\"]*python[^'\"]*'|[^\s\"]*python\S*) -S -I ('[^'\"]*/hook\.py'|\S*/hook\.py)")
HOOK = "python -S -I ~/.local/state/wheelspin/hook.py"
WORDS = re.compile(r'"[^"]*python[^"]*", "-S", "-I", "[^"]*/hook\.py"')
HOOK_WORDS = ", ".join(f'"{word}"' for word in HOOK.split())
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NO_COMMANDS = {"make", "pip"}
MODULES = [
    importlib.import_module(found.name)
    for found in pkgutil.walk_packages(wheelspin.__path__, "wheelspin.")
    if not found.name.endswith("__main__")
    and (".adapters." not in found.name or found.name.endswith(".callables"))
    and found.name != "wheelspin.proxy.mcp_http"
]
"""All modules that do not need a framework."""


def _blocks(page: Path, language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(page.read_text()) if kind == language]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the files that a reader of the documentation has."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    block = {"tools": {"loopDetection": {"enabled": True, "warningThreshold": 8, "criticalThreshold": 16}}}
    text = json.dumps({"agents": {"list": [{"id": "safe-runner", **block}]}})
    (tmp_path / "openclaw.json5").write_text(text)
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "WHEELSPIN_STORE", "WHEELSPIN_CONFIG", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def my_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the module that the page about extensions names, with the detector that it shows."""
    code = _blocks(ROOT / "docs" / "extending.md", "python")[0].split("\nguard = ")[0]
    module = ModuleType("my_package.loops")
    exec(compile(code, "my_package/loops.py", "exec"), vars(module))  # noqa: S102 - our own documentation
    monkeypatch.setitem(sys.modules, "my_package", ModuleType("my_package"))
    monkeypatch.setitem(sys.modules, "my_package.loops", module)


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name != "adapters"], ids=lambda page: page.name)
def test_the_python_of_a_page_runs(page: Path, desk: Path) -> None:
    """Its blocks run from top to bottom as one program; pages of frameworks are tested with the framework."""
    scope: dict[str, object] = {"__name__": page.stem}
    for block in _blocks(page, "python"):
        exec(compile(block, str(page), "exec"), scope)  # noqa: S102 - our own documentation


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_of_a_page_work(page: Path, desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each command succeeds, with the configurations that the page shows; `.ci/run` runs those of make."""
    for block in _blocks(page, "json5"):
        name = re.match(r"// (\S+\.json5)\n", block)
        if name:
            (desk / name[1]).write_text(block)
    for line in "".join(_blocks(page, "sh")).splitlines():
        words = shlex.split(line, comments=True)
        if not words or words[0] in NO_COMMANDS:
            continue
        assert words[0] == "wheelspin", line
        assert main(words[1:]) == 0, line
        assert capsys.readouterr().out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_configurations_of_a_page_are_valid(page: Path, my_package: None) -> None:
    """They have no faults and no notices."""
    import pyjson5

    for block in _blocks(page, "json5"):
        config = config_from(pyjson5.decode(block))
        for agent in (None, *config.agents):
            assert config.resolve(agent).notices == ()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    """Each linked file exists, and so does the heading in it."""
    for target in re.findall(r"\]\(([^)]+)\)", BLOCK.sub("", page.read_text())):
        if target.startswith("http"):
            continue
        name, _, heading = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), target
        if heading:
            headings = re.findall(r"^#+ (.+)$", file.read_text(), re.MULTILINE)
            assert heading in {re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in headings}, target


def _without_paths(text: str) -> str:
    return WORDS.sub(HOOK_WORDS, COMMAND.sub(HOOK, text))


@pytest.mark.parametrize("installer", installers(), ids=lambda installer: installer.host)
def test_a_host_page_shows_what_is_written(
    installer: Installer, desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page and the written settings are equal, except for the paths of Python and of the hook."""
    assert main(["install", installer.host]) == 0
    written = _without_paths(installer.settings(Scope.USER).read_text())
    page = ROOT / "docs" / "hosts" / f"{installer.host}.md"
    if installer.settings(Scope.USER).suffix != ".json":
        assert written in {_without_paths(text) for _, text in BLOCK.findall(page.read_text())}
        return
    shown = [json.loads(_without_paths(text)) for text in _blocks(page, "json")]
    assert json.loads(written) in shown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_imports_only_what_is_public(page: Path) -> None:
    """Each module is in the list under "What is public"."""
    section = (ROOT / "CONTRIBUTING.md").read_text().split("## What is public\n")[1].split("\n## ")[0]
    public = {"wheelspin", *re.findall(r"`(wheelspin\.[\w.]+)`", section)}
    imported = re.findall(r"^ *(?:from|import) (wheelspin[\w.]*)", "".join(_blocks(page, "python")), re.MULTILINE)

    assert {name for name in imported if not name.startswith("wheelspin.adapters.")} <= public


def test_every_make_target_that_is_named_exists() -> None:
    """The pages name no target that the Makefile does not have."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {word for page in PAGES for word in re.findall(r"\bmake ([a-z]+(?:-[a-z]+)?)\b", page.read_text())}

    assert {"demo", "test", "check", "bench"} <= named & targets
    assert not {name for name in named if name.startswith(("demo", "test", "check", "bench", "format"))} - targets


def test_the_demo_shows_a_loop_of_each_kind_and_explains_one() -> None:
    """It runs as `make demo` runs it, with the command's path relative to the project."""
    command = os.path.relpath(Path(sys.executable).parent / "wheelspin", ROOT)
    demo = ["sh", "examples/demo.sh", command]
    done = subprocess.run(demo, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603 - our own script

    assert "examples/sessions/claude-code.jsonl" in done.stdout
    assert "post-compaction-guard: after a compaction, `A` was called 3 times" in " ".join(done.stdout.split())
    assert done.stderr == ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_outputs_that_a_page_shows_are_printed(page: Path) -> None:
    """Each shown output is exactly what its command prints; `make docs` writes them."""
    from docs.make_outputs import page as made

    assert page.read_text() == made(page)


def test_the_configuration_table_is_true() -> None:
    """The README lists every key with its default, and no other key."""
    table = re.findall(r"^\| `([\w.]+)` \| (.+?) \|", (ROOT / "README.md").read_text(), re.MULTILINE)
    resolution = config_from({}).resolve()
    values = {
        key: value
        for key, value in values_of(resolution.settings).items()
        if not re.fullmatch(r"detectors\.\w+\.\w+", key)  # a detector with thresholds of its own has one row, too
    }

    shown = {key: default.strip("`") for key, default in table if key in values}
    assert shown == {key: "not set" if value is None else json.dumps(value) for key, value in values.items()}


def test_the_tables_of_the_detectors_are_made_of_their_classes() -> None:
    """`make docs` writes their rows in the README and in the specification."""
    from docs.make_detectors import readme, specification

    assert (ROOT / "README.md").read_text() == readme()
    assert (ROOT / "docs" / "specification.md").read_text() == specification()


def test_the_page_of_the_detectors_is_generated() -> None:
    """It is what `make docs` writes from their docstrings."""
    from docs.make_detectors import page

    assert (ROOT / "docs" / "detectors.md").read_text() == page()
    assert all(f"## {detector.id}" in page() for detector in DETECTORS)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_examples_in_docstrings_are_true(module: ModuleType) -> None:
    """Each example prints what it says."""
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_everything_public_has_a_docstring(module: ModuleType) -> None:
    """So have modules, classes, functions and public methods."""
    assert inspect.getdoc(module)
    for name, thing in vars(module).items():
        if name.startswith("_") or getattr(thing, "__module__", None) != module.__name__:
            continue
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), name
        for method, function in vars(thing).items() if inspect.isclass(thing) else ():
            if not method.startswith("_") and inspect.isfunction(function):
                assert inspect.getdoc(getattr(thing, method)), f"{name}.{method}"
