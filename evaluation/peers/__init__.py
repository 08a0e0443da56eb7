"""
The other loop detectors, and how to run one of them.

Each has an environment of its own, created from the package that its authors publish, and answers through a driver
with the protocol of two lines that `README.md` describes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, cast

__all__ = ["PEERS", "Peer", "PeerError", "prepare", "run"]

HERE = Path(__file__).resolve().parent


class PeerError(Exception):
    """A peer cannot be set up, or failed on a run."""


class Peer(NamedTuple):
    """Another loop detector."""

    name: str
    kind: Literal["python", "node"]
    requirement: str
    """Its package, pinned to the version that was measured."""
    driver: str
    python: tuple[int, int] = (3, 11)
    """The oldest supported Python version."""


PEERS = (
    Peer("openhands-sdk", "python", "openhands-sdk==1.58.2", "openhands_sdk.py", python=(3, 12)),
    Peer("hermes-agent", "python", "hermes-agent==0.19.0", "hermes_agent.py"),
    Peer("trajectory-fuse", "python", "trajectory-fuse==0.3.0", "trajectory_fuse_peer.py"),
    Peer("agentbelt-loop", "python", "agentbelt-loop==0.1.1", "agentbelt_loop_peer.py"),
    Peer("runbound", "python", "runbound==0.11.2", "runbound_peer.py"),
    Peer("openclaw", "node", "openclaw@2026.7.1", "openclaw.mjs"),
    Peer("gemini-cli", "node", "@google/gemini-cli-core@0.61.0", "gemini_cli.mjs"),
)


def prepare(peer: Peer, folder: Path) -> list[str]:
    """
    Create the peer's environment in the folder, if it is missing, and return the command that starts its driver.

    Raises:
        PeerError: The environment cannot be created, for example because the registry is unreachable.
    """
    home = folder.resolve() / peer.name
    stamp = home / "made-of"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != peer.requirement:
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        for command in _python_setup(peer, home) if peer.kind == "python" else _node_setup(peer, home):
            _set_up(peer, command, home)
        stamp.write_text(peer.requirement, encoding="utf-8")
    driver = str(HERE / peer.driver)
    return [str(_python_of(home)), driver] if peer.kind == "python" else ["node", driver, str(home)]


def run(peer: Peer, lines: Iterable[str], folder: Path) -> Iterator[dict[str, Any]]:
    """
    Yield the peer's answer to each line, in order, from one process of its driver.

    Raises:
        PeerError: The peer cannot be set up, ended early, or returned an invalid answer.
    """
    command = prepare(peer, folder)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        try:
            process = subprocess.Popen(  # noqa: S603 - our own driver
                command,
                cwd=folder.resolve() / peer.name,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                encoding="utf-8",
            )
        except OSError as error:
            raise PeerError(f"{peer.name} cannot be started: {error}") from error
        try:
            for line in lines:
                yield _ask(peer, process, line, errors)
        finally:
            process.kill()
            process.communicate()


def _ask(peer: Peer, process: subprocess.Popen[str], line: str, errors: IO[str]) -> dict[str, Any]:
    """Write one line and read one; a driver answers a run before it reads the next, so that neither side blocks."""
    stdin, stdout = cast("IO[str]", process.stdin), cast("IO[str]", process.stdout)
    reply = ""
    try:
        stdin.write(line.rstrip("\n") + "\n")
        stdin.flush()
        reply = stdout.readline()
        answer = json.loads(reply)
    except (OSError, ValueError) as error:
        if not reply and process.poll() is None:
            process.wait()
        errors.seek(0)
        what = (
            f"{peer.name} returned {reply[:200]!r} instead of an answer"
            if reply
            else f"{peer.name} ended without an answer"
        )
        raise PeerError(f"{what}; its last output was:\n{_tail(errors.read(), 12)}") from error
    if not isinstance(answer, dict):
        raise PeerError(f"{peer.name} returned {reply[:200]!r} instead of an answer")
    return answer


def _python_setup(peer: Peer, home: Path) -> Iterator[list[str]]:
    interpreter, environment, python = _interpreter(peer), str(home / "env"), str(_python_of(home))
    if _runs("uv"):
        yield ["uv", "venv", "--quiet", "--python", interpreter, environment]
        yield ["uv", "pip", "install", "--quiet", "--python", python, peer.requirement]
    else:
        yield [interpreter, "-m", "venv", environment]
        yield [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", peer.requirement]


def _node_setup(peer: Peer, home: Path) -> Iterator[list[str]]:
    """Yield the command that installs the package without running its scripts, which a detector does not need."""
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--loglevel=error"]
    yield ["npm", "install", *options, "--prefix", str(home), peer.requirement]


def _python_of(home: Path) -> Path:
    return home / "env" / "bin" / "python"


def _interpreter(peer: Peer) -> str:
    """Return a Python for the peer: the running one, one on the path, or one of pyenv's, even without its shims."""
    if sys.version_info >= peer.python:
        return sys.executable
    major, minor = peer.python
    versions = [f"{major}.{later}" for later in range(minor, minor + 3)]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for version in versions:
        for candidate in [f"python{version}", *map(str, sorted(pyenv.glob(f"{version}.*/bin/python")))]:
            if _runs(candidate):
                return candidate
    raise PeerError(f"{peer.name} cannot be set up: it needs Python {major}.{minor} or newer, and none was found")


def _runs(program: str) -> bool:
    """Return whether a program exists and starts; the shim of a version manager may exist but not start."""
    try:
        return subprocess.run([program, "--version"], capture_output=True, check=False).returncode == 0  # noqa: S603
    except OSError:
        return False


def _set_up(peer: Peer, command: list[str], home: Path) -> None:
    try:
        done = subprocess.run(command, cwd=home, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    except OSError as error:
        raise PeerError(f"{peer.name} cannot be set up: {command[0]} does not start: {error.strerror}") from error
    if done.returncode:
        output = _tail(done.stderr or done.stdout, 12)
        raise PeerError(f"{peer.name} cannot be set up: `{' '.join(command)}` ended with {done.returncode}:\n{output}")


def _tail(text: str, count: int) -> str:
    return "\n".join([line for line in text.splitlines() if line.strip()][-count:])
