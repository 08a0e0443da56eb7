"""
Mask what changes with every run of a program, in the text of an outcome that is not a success.

Three rules hold here:

1. Clock times, durations, rates, progress bars, attempt counters, process ids, memory addresses, temporary paths,
   request ids and seeds are masked: failures that differ in nothing else are the same failure.
2. Other digits stay: it is news that a test now fails at line 40 and not at line 12.
3. A success is never masked, unless a hint says so (SPEC 6.3).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable

__all__ = ["mask_failure", "masked_kinds", "without_words"]

_LONGEST = 16_384
"""Characters of a text that are masked; of a longer text, half as many at each end."""

_NUMBER = r"[0-9](?<!\w[0-9])[0-9]*"
"""A whole number that begins here. The pattern starts with a digit, so that the search can skip everything else."""
_KINDS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "id",
        ("id", "ID", "Id", "-1", "-4", "-7", "req_"),
        (
            r"\b[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}\b"
            r"|\b(?:request|trace|correlation|span|session|run|chunk|shell|event|incident)[ _-]?id\b"
            r"['\"]?\W{0,3}[\w.-]+"
            r"|\breq_[A-Za-z0-9]{6,}\b"
        ),
    ),
    ("path", ("/tmp", "/var/"), r"(?:/private)?/(?:tmp|var/tmp|var/folders)(?:/[\w.+@~-]+)+"),  # noqa: S108 - it is looked for, not used
    ("path", ("tmp",), r"\btmp[a-z0-9_]{8}\b"),
    ("address", ("0x",), r"\b0x[0-9A-Fa-f]{6,16}\b"),
    ("attempt", ("ttempt", "etr", "try"), r"\b(?:attempt|retry|retries|try)\b\W{0,3}\d+(?:\s?(?:of|/)\s?\d+)?"),
    ("attempt", ("this session",), r"\b\d+\s?(?:×|x|times) this session\b"),
    (
        "process",
        ("pid", "PID", "Pid", "gid", "GID", "tid", "rocess", "job", "Job"),
        (
            r"\b(?:pids?|pgid|tid|process(?: group)?(?: id| pgid)?|job)\b\W{0,3}(?:[A-Za-z]{1,8}-)?\d[\w-]*"
            r"(?!\s*(?:of|/)\s*\d)"
        ),
    ),
    ("seed", ("seed", "Seed", "SEED"), r"\bseed\b[^\d\n]{0,16}\d+"),
    (
        "time",
        (":",),
        (
            r"[0-9](?<!\w[0-9])[0-9]{3}[-/][0-9]{2}[-/][0-9]{2}[T ][0-9]{1,2}:[0-9]{1,2}(?::[0-9]{1,2})?(?:[.,][0-9]+)?"
            r"(?:Z\b|[+-][0-9]{2}:?[0-9]{2}\b)?"
            r"|[0-9](?<![\w:.][0-9])[0-9]?:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?(?![\w:])"
        ),
    ),
    ("progress", ("%|",), _NUMBER + r"%\|[^|\n]*\|[^\n\r]*"),
    ("rate", ("/s",), _NUMBER + r"(?:\.[0-9]+)?\s?[A-Za-z]{1,12}/s(?:ec)?\b"),
    (
        "duration",
        ("s", "min", "hour"),
        _NUMBER + r"(?:m\s?[0-9]+(?:\.[0-9]+)?s\b"
        r"|(?:\.[0-9]+)?\s?(?:ns|us|µs|ms|msecs?|milliseconds?|s|secs?|seconds?|mins?|minutes?|hours?)\b)",
    ),
)
"""Each kind, in the order in which they are masked: what a text must contain for it, and its pattern."""
_IN_ANY_CASE = frozenset({"id", "attempt", "process", "seed"})


def mask_failure(text: str) -> str:
    """
    Return a text in which everything volatile is replaced by its `<kind>`.

    Example:
        >>> mask_failure("10:32:07 worker pid 812: test_a failed at line 12 after 0.31s")
        '<time> worker <process>: test_a failed at line 12 after <duration>'
    """
    if len(text) > _LONGEST:
        half = _LONGEST // 2
        return mask_failure(text[:half]) + text[half:-half] + mask_failure(text[-half:])
    if not any(digit in text for digit in _DIGITS):
        return text
    for (kind, signs, _), pattern in zip(_KINDS, _patterns(), strict=True):
        if any(sign in text for sign in signs):
            text = pattern.sub(_mask_path if kind == "path" else f"<{kind}>", text)
    return text


def masked_kinds(text: str) -> list[str]:
    """Return the kinds of what is masked in a text, each once."""
    found = []
    for (kind, _, _), pattern in zip(_KINDS, _patterns(), strict=True):
        masked = pattern.sub(_mask_path if kind == "path" else f"<{kind}>", text)
        if masked != text:
            found.append(kind)
        text = masked
    return list(dict.fromkeys(found))


def without_words(words: set[str]) -> Callable[[str], str]:
    """Return a function that removes words from a text, longer ones first: repeating the arguments is not news."""
    by_length = sorted(words, key=len, reverse=True)

    def change(text: str) -> str:
        for word in by_length:
            if word in text:
                text = text.replace(word, "<argument>")
        return text

    return change


_DIGITS = "0123456789"
_DIGIT_IN_PATH = frozenset(_DIGITS)
_compiled: list[re.Pattern[str]] = []


def _patterns() -> list[re.Pattern[str]]:
    """Return the patterns, which are compiled at the first failure, because a hook process has to start quickly."""
    if not _compiled:
        import re

        flags = [re.IGNORECASE if kind in _IN_ANY_CASE else re.NOFLAG for kind, _, _ in _KINDS]
        _compiled.extend(re.compile(looks, flag) for (_, _, looks), flag in zip(_KINDS, flags, strict=True))
    return _compiled


def _mask_path(match: re.Match[str]) -> str:
    """Mask the parts of a temporary path that contain a digit; somebody chose the others."""
    if "/" not in match.group():
        return "<path>"
    parts = match.group().split("/")
    return "/".join("<path>" if not _DIGIT_IN_PATH.isdisjoint(part) else part for part in parts)
