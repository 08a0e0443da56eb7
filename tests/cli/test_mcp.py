"""`wheelspin mcp`, as a client starts it: guarding, error messages, and ending without leaving processes behind."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from wheelspin.cli import main

SERVER = [sys.executable, str(ROOT / "tests" / "mcp_server.py")]
PROXY = [sys.executable, "-m", "wheelspin", "mcp"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set up an empty home directory."""
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "WHEELSPIN_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


class Client:
    """A client that has started a command."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.number = 0

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request, and return the response; an empty one if the server is gone."""
        assert self.process.stdin
        assert self.process.stdout
        self.number += 1
        message = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline() or b"{}")
        return answer

    def read(self) -> dict[str, Any]:
        """Call a tool, and return the result."""
        result: dict[str, Any] = self.ask("tools/call", name="read", arguments={"path": "/a"})["result"]
        return result

    def processes(self) -> list[int]:
        """Return the process ids that the server reports."""
        assert self.process.stderr
        return [int(word) for word in self.process.stderr.readline().split()[1:]]

    def ended(self) -> tuple[int, str]:
        """Close its stdin, and return the exit code and the text on stderr."""
        _, err = self.process.communicate(timeout=20)
        return self.process.returncode, err.decode()


@contextmanager
def _client(*words: str) -> Iterator[Client]:
    pipe = subprocess.PIPE
    process = subprocess.Popen([*PROXY, *words], stdin=pipe, stdout=pipe, stderr=pipe)  # noqa: S603 - our own program
    try:
        yield Client(process)
    finally:
        process.kill()
        process.communicate()


def _guarded(mode: str = "", *options: str) -> Any:
    return _client(*options, "--", *SERVER, *([mode] if mode else []))


def _are_gone(processes: list[int]) -> bool:
    return all(_waited(lambda process=process: not _lives(process)) for process in processes)  # type: ignore[misc]


def _waited(question: Callable[[], bool]) -> bool:
    until = time.monotonic() + 5
    while not question() and time.monotonic() < until:
        time.sleep(0.02)
    return question()


def _lives(process: int) -> bool:
    stat = Path(f"/proc/{process}/stat")
    if stat.parent.parent.joinpath("self").exists():
        return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def test_a_loop_is_warned_about_and_blocked() -> None:
    """Stdout carries only the protocol; each verdict is a line on stderr."""
    with _guarded() as client:
        assert client.ask("initialize", protocolVersion="2025-11-25")["result"]["serverInfo"]["name"] == "files"
        read, listing, _ = client.ask("tools/list")["result"]["tools"]
        results = [client.read() for _ in range(21)]
        code, err = client.ended()

    assert read["outputSchema"]["properties"]["wheelspin"] == {"type": "string"}
    assert (read["annotations"], "outputSchema" in listing) == ({"readOnlyHint": True}, False)
    assert results[0] == {"content": [{"type": "text", "text": '{"text": "text of /a"}'}], **results[0]}
    assert results[0]["structuredContent"] == {"text": "text of /a"}
    assert results[10]["structuredContent"]["wheelspin"].startswith("Loop detected")
    assert results[20]["isError"] is True
    assert code == 0
    warned, blocked = err.splitlines()
    assert re.fullmatch(r"wheelspin: warn: `read` was .* \[generic_repeat, session \w{32}, call 13\]", warned)
    assert re.fullmatch(r"wheelspin: block: `read` was .* \[generic_repeat, session \w{32}, call 23\]", blocked)


def test_it_needs_no_other_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over stdio, neither FastMCP nor the MCP SDK is imported."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nfor name in ('mcp', 'mcp_types', 'fastmcp', 'uvicorn', 'httpx2'): sys.modules[name] = None\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    with _guarded() as client:
        assert client.read()["structuredContent"] == {"text": "text of /a"}


@pytest.mark.parametrize("given", ["--config", "WHEELSPIN_CONFIG", "home", "--agent"])
def test_the_users_configuration_applies(given: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The block of the agent `mcp` is used, or that of a named agent, wherever the configuration is."""
    agent = "mine" if given == "--agent" else "mcp"
    block = {"agents": {"list": [{"id": agent, "tools": {"loopDetection": {"warningThreshold": 3}}}]}}
    path = home / (".config/wheelspin/config.json5" if given in {"home", "--agent"} else "mine.json5")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(block))
    if given == "WHEELSPIN_CONFIG":
        monkeypatch.setenv(given, str(path))
    options = {"--config": [given, str(path)], "--agent": [given, agent]}.get(given, [])
    with _guarded("", *options) as client:
        results = [client.read() for _ in range(4)]

    assert ["wheelspin" in result["structuredContent"] for result in results] == [False, False, False, True]


def test_the_proxy_ends_with_its_server() -> None:
    """It exits with the same code, and reports that on stderr."""
    with _guarded("crashes") as client:
        client.ask("initialize", protocolVersion="2025-11-25")
        assert client.ask("tools/call", name="read") == {}
        code, err = client.ended()

    assert (code, err) == (7, f"wheelspin: {sys.executable} exited with code 7\n")


def test_a_server_that_does_not_start_is_reported() -> None:
    """The error has the next step."""
    with _guarded("dies") as client:
        assert client.process.stdout
        assert client.process.stdout.readline() == b""
        code, err = client.ended()

    assert code == 3
    step = "run the command by itself to see why"
    assert err == f"wheelspin: {sys.executable} exited with code 3 before it sent anything; {step}\n"


def test_processes_of_a_server_do_not_outlive_it() -> None:
    """Closing stdin ends the server and everything that it started."""
    with _guarded("leaves") as client:
        processes = client.processes()
        assert client.read()
        assert client.ended()[0] == 0

    assert len(processes) == 2
    assert _are_gone(processes)


def test_a_server_that_does_not_end_is_killed() -> None:
    """This happens before a client gives up and kills the proxy."""
    with _guarded("stays") as client:
        processes = client.processes()
        assert client.read()
        begin = time.monotonic()
        assert client.ended()[0] == 128 + signal.SIGKILL

    assert 2 < time.monotonic() - begin < 8
    assert _are_gone(processes)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("mode", ["leaves", "stays"])
def test_a_signal_ends_the_proxy_and_its_server(mode: str, number: signal.Signals) -> None:
    """This includes a server that ignores the signal, and there is no traceback."""
    with _guarded(mode) as client:
        processes = client.processes()
        assert client.read()
        client.process.send_signal(number)
        assert client.process.wait(20) == 128 + number
        assert client.process.stderr
        assert client.process.stderr.read() == b""

    assert _are_gone(processes)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "neither a command nor `--url` was given, expected one of them"),
        (["--url", "http://a", "--", "b"], "both a command and `--url` were given"),
        (["--", "no-such-program"], "there is no program 'no-such-program'; use a command on the PATH"),
        (["--", str(ROOT)], "there is no program"),
        (["--http", "x", "--", sys.executable], "--http: 'x', expected [HOST:]PORT"),
        (["--http", "70000", "--", sys.executable], "--http: '70000', expected [HOST:]PORT"),
        (["--url", "example.com"], "--url: 'example.com' is not a URL, expected one such as https://"),
        (["--url", "http://a", "--header", "Secret"], "--header: the value is not a header, expected NAME:VALUE"),
        (["--config", "none.json5", "--", sys.executable], "none.json5: "),
        (["--agent", "x", "--", sys.executable], "'x', expected a configuration"),
    ],
)
def test_invalid_input_is_reported(given: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The error says what is wrong, where, and the next step; the exit code is 2."""
    assert main(["mcp", *given]) == 2
    out, err = capsys.readouterr()

    assert out == ""
    assert err.startswith("wheelspin: ")
    assert said in err


@pytest.mark.parametrize("given", [["--url", "http://127.0.0.1:1/mcp"], ["--http", "0", "--", sys.executable]])
def test_http_needs_the_sdk(
    given: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """If it is missing, the error says how to install it."""

    def missing(name: str) -> Any:
        if name == "wheelspin.proxy.mcp_http":
            raise ModuleNotFoundError(name="httpx2")
        return import_module(name)

    monkeypatch.setattr("wheelspin.cli.mcp.import_module", missing)
    assert main(["mcp", *given]) == 2
    assert 'pip install "wheelspin[mcp]"' in capsys.readouterr().err


def test_a_port_that_is_taken_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The error has the next step."""
    monkeypatch.setattr("wheelspin.cli.mcp.import_module", lambda _: None)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["mcp", "--http", str(taken.getsockname()[1]), "--", sys.executable]) == 2
    assert "Address already in use; choose another port, or 0" in capsys.readouterr().err
