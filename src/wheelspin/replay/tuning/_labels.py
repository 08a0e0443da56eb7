"""What the user says of single runs: a JSON file of run ids, each with `"loop"`, `"ok"`, or `null` for not yet."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from wheelspin.errors import ConfigError, Fault
from wheelspin.replay.tuning._files import check_new, is_there, write

__all__ = ["LOOP", "OK", "Labels"]

LOOP = "loop"
"""The word for a run that should have been stopped."""
OK = "ok"
"""The word for a run that should have been left alone."""
_WORDS = f'"{LOOP}", "{OK}" or null'
_NEXT = 'mend it, such as {"1f0c9a2e": "loop"}, or move it away and let `--label` write a new one'
_SHOWN = 40


class Labels:
    """
    The labels in one file.

    Args:
        path: The file; it need not be there yet.

    Attributes:
        path: The file.
        words: The word for each run id.
        added: How many ids `add` wrote; all of them where the file was not there.
        is_new: Whether the file was not there.

    Raises:
        ConfigError: The file cannot be read, or has faults; the error names all of them.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.added = 0
        self.is_new = not is_there(path)
        self.words: dict[str, str | None] = {}
        if self.is_new:
            check_new(path)
        else:
            self.words = _read(path)

    def add(self, ids: Iterable[str]) -> None:
        """
        Write down runs that are to be judged; what the file says already stays as it is.

        Raises:
            ConfigError: The file cannot be written, or was given faults in the meantime.
        """
        if is_there(self.path):
            self.words = _read(self.path)
        new = [run_id for run_id in ids if run_id not in self.words]
        if new:
            self.words |= dict.fromkeys(new)
            self.added = len(new)
            write(self.path, json.dumps(self.words, indent=2, ensure_ascii=False) + "\n")

    def labelled(self, word: str) -> set[str]:
        """Give the ids of the runs that have a word."""
        return {run_id for run_id, found in self.words.items() if found == word}


def _read(path: Path) -> dict[str, str | None]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
        pairs = json.loads(text, object_pairs_hook=_Pairs)
    except OSError as problem:
        hint = "name a JSON file that you may read, or one that is not there yet"
        raise _fault(path, f"it cannot be read ({problem.strerror})", hint) from None
    except json.JSONDecodeError as problem:
        where = f"line {problem.lineno}, column {problem.colno}"
        raise _fault(path, f"it is no JSON: {problem.msg[:1].lower()}{problem.msg[1:]} at {where}", _NEXT) from None
    except (ValueError, RecursionError):
        raise _fault(path, "it is no JSON", _NEXT) from None
    if not isinstance(pairs, _Pairs):
        raise _fault(path, "it is no JSON object", _NEXT)
    faults = [_unknown(run_id, word) for run_id, word in pairs if word is not None and word not in (LOOP, OK)]
    words = dict(pairs)
    if len(words) != len(pairs):
        times = Counter(run_id for run_id, _ in pairs)
        twice = [run_id for run_id, count in times.items() if count > 1]
        faults += [Fault(run_id, "the id twice", "it once", hint="keep the one that holds") for run_id in twice]
    if faults:
        raise ConfigError(str(path), faults)
    return words


class _Pairs(list[tuple[str, Any]]):
    """A JSON object with its keys as they stand, also those that come twice."""


def _fault(path: Path, found: str, hint: str) -> ConfigError:
    return ConfigError(str(path), [Fault("", found, hint=hint)])


def _unknown(run_id: str, word: object) -> Fault:
    found = "an object" if isinstance(word, _Pairs) else json.dumps(word)[:_SHOWN]
    return Fault(run_id, found, _WORDS)
