"""A recorded session: a file, its reader, and replays of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from wheelspin.config import Config
from wheelspin.core.settings import Settings
from wheelspin.errors import ConfigError, TranscriptError
from wheelspin.replay.engine import Replay, ReplayedEvent
from wheelspin.replay.summary import FileReport
from wheelspin.transcripts import reader_for
from wheelspin.transcripts.files import TranscriptFile

__all__ = ["Recording"]

_LARGEST_KEPT = 16 << 20
"""
Size in bytes up to which the events of a file are kept in memory for several replays; a larger file is read again for
each. Small events take 13 times their size in the file.
"""
_COMPRESSION = 8
"""How many times larger than the compressed file its contents may be."""


class Recording:
    """
    A file with a recorded session.

    Args:
        path: Path of the file.
        form: Name of the format, if it is known; by default it is recognised.
        on_progress: Called every now and then with the number of bytes read so far.

    Raises:
        TranscriptError: The file cannot be read, or no reader recognises it.
    """

    def __init__(self, path: Path, form: str | None = None, on_progress: Callable[[int], object] | None = None) -> None:
        self.path = path
        self._on_progress = on_progress
        self._reading = self._readings = 1
        self._file = self._open()
        self._reader = reader_for(self._file, form)
        self._is_own_log = self._reader.name == "events"

    def replay(self, config: Config | None = None, *, agent: str | None = None) -> Replay:
        """
        Return a replay for this file.

        Args:
            config: The configuration. Without one, the configuration in the file applies, or the defaults, switched on.
            agent: The agent whose block applies to events without an agent.
        """
        settings = Settings() if self._is_own_log else Settings(enabled=True)
        return Replay(config, agent=agent, settings=settings, tools=self._reader.tools)

    def play(self, replay: Replay) -> Iterator[ReplayedEvent]:
        """
        Replay the file and yield its events with their verdicts.

        Raises:
            TranscriptError: The configuration in the file has faults.
        """
        with self._config_errors_converted():
            yield from replay.play(self._reader.read(self._file))

    def scan(self, *replays: Replay) -> None:
        """
        Replay the file through one or several replays, which contain its runs afterwards.

        Raises:
            TranscriptError: The configuration in the file has faults.
        """
        with self._config_errors_converted():
            if len(replays) > 1 and self._is_small():
                events = list(self._reader.read(self._file))
                for replay in replays:
                    replay.scan(events)
                return
            self._readings = len(replays)
            for self._reading, replay in enumerate(replays, 1):
                replay.scan(self._reader.read(self._file if self._reading == 1 else self._open()))

    def report(self, replay: Replay, config: Config | None = None) -> FileReport:
        """
        Return what a replay found in the file.

        Args:
            replay: A replay of this file.
            config: The configuration that the replay was made with.
        """
        file = self._file
        notices = list(replay.notices if config is None else ())
        if config is None and self._is_own_log and not replay.is_configured:
            notices.append("it contains no configuration, so the detectors are off, as by default; see `--config`")
        if not replay.runs:
            notices.append("it contains no tool calls")
        return FileReport(
            self.path,
            self._reader.title,
            replay.runs,
            self._reader.unit,
            file.problems,
            file.problem_count,
            tuple(notices),
        )

    def _open(self) -> TranscriptFile:
        return TranscriptFile(self.path, self._report_progress if self._on_progress else None)

    def _report_progress(self, position: int) -> None:
        """Report the progress over all readings of the file."""
        if self._on_progress is not None:
            size = self.path.stat().st_size
            self._on_progress(((self._reading - 1) * size + position) // self._readings)

    def _is_small(self) -> bool:
        size = self.path.stat().st_size
        return size * (_COMPRESSION if self.path.suffix == ".gz" else 1) <= _LARGEST_KEPT

    @contextmanager
    def _config_errors_converted(self) -> Iterator[None]:
        try:
            yield
        except ConfigError as problem:
            raise TranscriptError(
                str(self.path), f"its configuration is wrong: {problem.diagnostics()}", "Fix that line."
            ) from None
