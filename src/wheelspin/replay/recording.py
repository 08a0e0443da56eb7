"""A recorded session: a file, the reader that knows it, and what guards would have made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from wheelspin.config import Config
from wheelspin.core.settings import Settings
from wheelspin.errors import ConfigError, TranscriptError
from wheelspin.replay.engine import Judged, Replay
from wheelspin.replay.summary import FileReport
from wheelspin.transcripts import reader_for
from wheelspin.transcripts.files import TranscriptFile

__all__ = ["Recording"]

_HELD = 16 << 20
"""
Bytes up to which the events of a file are held while several guards see them; a larger one is read for each. Small
events take 13 times their size in the file.
"""
_PACKED = 8
"""How many times its size a packed file may have."""


class Recording:
    """
    One file.

    Args:
        path: The file.
        form: Name of its format, where the user knows it; else it is found out by looking.
        moved: Called now and then with the number of bytes read so far.

    Raises:
        TranscriptError: The file cannot be read, or is of no format that is known.
    """

    def __init__(self, path: Path, form: str | None = None, moved: Callable[[int], object] | None = None) -> None:
        self.path = path
        self._moved = moved
        self._reading = self._readings = 1
        self._source = self._opened()
        self._reader = reader_for(self._source, form)
        self._is_own_log = self._reader.name == "events"

    def replay(self, config: Config | None = None, *, agent: str | None = None) -> Replay:
        """
        Give a replay that is made for this file.

        Args:
            config: What holds; without it, what the file says, or else the defaults, switched on.
            agent: The agent whose block holds where the file names none.
        """
        settings = Settings() if self._is_own_log else Settings(enabled=True)
        return Replay(config, agent=agent, settings=settings, tools=self._reader.tools)

    def play(self, replay: Replay) -> Iterator[Judged]:
        """
        Play the file, event by event.

        Raises:
            TranscriptError: The configuration in the file is wrong.
        """
        with self._faults_told():
            yield from replay.play(self._reader.read(self._source))

    def scan(self, *replays: Replay) -> None:
        """
        Play the file through one replay or several; their runs are in them afterwards.

        Raises:
            TranscriptError: The configuration in the file is wrong.
        """
        with self._faults_told():
            if len(replays) > 1 and self._is_small():
                held = list(self._reader.read(self._source))
                for replay in replays:
                    replay.scan(held)
                return
            self._readings = len(replays)
            for self._reading, replay in enumerate(replays, 1):
                replay.scan(self._reader.read(self._source if self._reading == 1 else self._opened()))

    def report(self, replay: Replay, config: Config | None = None) -> FileReport:
        """
        Give what one of the replays found in the file.

        Args:
            replay: One that has played it.
            config: The configuration that it was made with.
        """
        source = self._source
        notices = list(replay.notices if config is None else ())
        if config is None and self._is_own_log and not replay.is_configured:
            notices.append("it holds no configuration: the detectors are off, as they are by default; see `--config`")
        if not replay.runs:
            notices.append("there is no tool call in it")
        return FileReport(
            self.path,
            self._reader.title,
            replay.runs,
            self._reader.place,
            source.problems,
            source.problem_count,
            tuple(notices),
        )

    def _opened(self) -> TranscriptFile:
        return TranscriptFile(self.path, self._move if self._moved else None)

    def _move(self, position: int) -> None:
        """Move the bar on, over all readings of the file."""
        if self._moved is not None:
            size = self.path.stat().st_size
            self._moved(((self._reading - 1) * size + position) // self._readings)

    def _is_small(self) -> bool:
        size = self.path.stat().st_size
        return size * (_PACKED if self.path.suffix == ".gz" else 1) <= _HELD

    @contextmanager
    def _faults_told(self) -> Iterator[None]:
        try:
            yield
        except ConfigError as problem:
            raise TranscriptError(
                str(self.path), f"its configuration is wrong: {problem.diagnostics()}", "Mend that line."
            ) from None
