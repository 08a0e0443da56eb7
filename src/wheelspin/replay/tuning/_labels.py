"""The user's labels of single runs: a JSON file that maps run ids to `"loop"`, `"ok"`, or `null` for no label yet."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from wheelspin.errors import ConfigError, Fault
from wheelspin.replay.tuning._files import check_new, exists, write

__all__ = ["LOOP", "OK", "Labels"]

LOOP = "loop"
"""Label of a run that should have been stopped."""
OK = "ok"
"""Label of a run that should have been left alone."""
_WORDS = f'"{LOOP}", "{OK}" or null'
_NEXT = 'fix it, as in {"1f0c9a2e": "loop"}, or move it away and let `--label` write a new one'
_LONGEST_VALUE = 40


class Labels:
    """
    The labels in a file.

    Args:
        path: Path of the file, which need not exist yet.

    Attributes:
        path: Path of the file.
        words: The label of each run id.
        added: Number of ids that `add` wrote.
        is_new: Whether the file did not exist.

    Raises:
        ConfigError: The file cannot be read or has faults, all of which the error lists.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.added = 0
        self.is_new = not exists(path)
        self.words: dict[str, str | None] = {}
        if self.is_new:
            check_new(path)
        else:
            self.words = _read(path)

    def add(self, ids: Iterable[str]) -> None:
        """
        Add runs without a label to the file; existing labels are kept.

        Raises:
            ConfigError: The file cannot be written, or has acquired faults in the meantime.
        """
        if exists(self.path):
            self.words = _read(self.path)
        new = [run_id for run_id in ids if run_id not in self.words]
        if new:
            self.words |= dict.fromkeys(new)
            self.added = len(new)
            write(self.path, json.dumps(self.words, indent=2, ensure_ascii=False) + "\n")

    def labelled(self, word: str) -> set[str]:
        """Return the ids of the runs with a label."""
        return {run_id for run_id, found in self.words.items() if found == word}


def _read(path: Path) -> dict[str, str | None]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
        pairs = json.loads(text, object_pairs_hook=_Pairs)
    except OSError as problem:
        hint = "name a JSON file that you may read, or one that does not exist yet"
        raise _fault(path, f"it cannot be read ({problem.strerror})", hint) from None
    except json.JSONDecodeError as problem:
        where = f"line {problem.lineno}, column {problem.colno}"
        raise _fault(
            path, f"it is not valid JSON: {problem.msg[:1].lower()}{problem.msg[1:]} at {where}", _NEXT
        ) from None
    except (ValueError, RecursionError):
        raise _fault(path, "it is not valid JSON", _NEXT) from None
    if not isinstance(pairs, _Pairs):
        raise _fault(path, "it is not a JSON object", _NEXT)
    faults = [_unknown(run_id, word) for run_id, word in pairs if word is not None and word not in (LOOP, OK)]
    words = dict(pairs)
    if len(words) != len(pairs):
        times = Counter(run_id for run_id, _ in pairs)
        twice = [run_id for run_id, count in times.items() if count > 1]
        faults += [Fault(run_id, "the id twice", "it once", hint="keep the correct one") for run_id in twice]
    if faults:
        raise ConfigError(str(path), faults)
    return words


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as a list of pairs, which keeps duplicate keys."""


def _fault(path: Path, found: str, hint: str) -> ConfigError:
    return ConfigError(str(path), [Fault("", found, hint=hint)])


def _unknown(run_id: str, word: object) -> Fault:
    found = "an object" if isinstance(word, _Pairs) else json.dumps(word)[:_LONGEST_VALUE]
    return Fault(run_id, found, _WORDS)
