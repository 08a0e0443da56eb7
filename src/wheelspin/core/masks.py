"""
Mask what a process draws or measures anew each time it runs, in the text of an outcome that is no success.

Clock times, durations, rates, progress bars, attempt counters, process ids, memory addresses, temporary paths, request
ids and seeds: two failures that differ in nothing else are the same failure. Other digits stay: that a test now fails
at line 40 and not at line 12 is news. A success is never masked, unless somebody declares it (SPEC 6.3).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable

__all__ = ["mask_failure", "masked_kinds", "without_words"]

_LONGEST = 16_384
"""Characters of a text that are looked at; of a longer one, as many at each end as make these."""

_KINDS = {
    "time": (
        r"\b\d{4}[-/]\d{2}[-/]\d{2}[T ]\d{1,2}:\d{1,2}(?::\d{1,2})?(?:[.,]\d+)?(?:Z\b|[+-]\d{2}:?\d{2}\b)?"
        r"|(?<![\w:.])\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?(?![\w:])"
    ),
    "progress": r"\b\d{1,3}%\|[^|\n]*\|[^\n\r]*",
    "rate": r"\b\d+(?:\.\d+)?\s?[A-Za-z]{1,12}/s(?:ec)?\b",
    "duration": (
        r"\b\d+m\s?\d+(?:\.\d+)?s\b"
        r"|\b\d+(?:\.\d+)?\s?(?:ns|us|µs|ms|msecs?|milliseconds?|s|secs?|seconds?|mins?|minutes?|hours?)\b"
    ),
    "attempt": (
        r"\b(?:attempt|retry|retries|try)\b\W{0,3}\d+(?:\s?(?:of|/)\s?\d+)?|\b\d+\s?(?:×|x|times) this session\b"
    ),
    "process": (
        r"\b(?:pids?|pgid|tid|process(?: group)?(?: id| pgid)?|job)\b\W{0,3}(?:[A-Za-z]{1,8}-)?\d[\w-]*"
        r"(?!\s*(?:of|/)\s*\d)"
    ),
    "address": r"\b0x[0-9A-Fa-f]{6,16}\b",
    "path": r"(?:/private)?/(?:tmp|var/tmp|var/folders)(?:/[\w.+@~-]+)+|\btmp[a-z0-9_]{8}\b",
    "id": (
        r"\b[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}\b"
        r"|\b(?:request|trace|correlation|span|session|run|chunk|shell|event|incident)[ _-]?id\b['\"]?\W{0,3}[\w.-]+"
        r"|\breq_[A-Za-z0-9]{6,}\b"
    ),
    "seed": r"\bseed\b[^\d\n]{0,16}\d+",
}
"""Each kind with what it looks like; of two that begin at one place, the earlier one has it."""


def mask_failure(text: str) -> str:
    """
    Give a text with what is volatile in it masked, each as `<kind>`.

    Example:
        >>> mask_failure("10:32:07 worker pid 812: test_a failed at line 12 after 0.31s")
        '<time> worker <process>: test_a failed at line 12 after <duration>'
    """
    if len(text) > _LONGEST:
        half = _LONGEST // 2
        return mask_failure(text[:half]) + text[half:-half] + mask_failure(text[-half:])
    if not any(sign in text for sign in _DIGITS):
        return text
    return _pattern().sub(_mask, text)


def masked_kinds(text: str) -> list[str]:
    """Give the kinds of what is masked in a text, each once, in the order in which they come."""
    kinds = [match.lastgroup for match in _pattern().finditer(text[:_LONGEST])]
    return [kind for kind in dict.fromkeys(kinds) if kind is not None]


def without_words(words: set[str]) -> Callable[[str], str]:
    """Give what takes words out of a text: what the call itself said is no news in its answer."""
    import re

    known = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    pattern = re.compile(known) if known else None
    return lambda text: pattern.sub("<argument>", text) if pattern is not None else text


_DIGITS = "0123456789"
_DIGIT_IN_PATH = frozenset(_DIGITS)
_compiled: re.Pattern[str] | None = None


def _pattern() -> re.Pattern[str]:
    global _compiled  # noqa: PLW0603 - compiled when the first failure comes, for the start-up of a hook process
    if _compiled is None:
        import re

        _compiled = re.compile("|".join(f"(?P<{kind}>{looks})" for kind, looks in _KINDS.items()), re.IGNORECASE)
    return _compiled


def _mask(match: re.Match[str]) -> str:
    kind = match.lastgroup
    found = match.group()
    if kind == "path" and "/" in found:
        parts = found.split("/")
        return "/".join("<path>" if not _DIGIT_IN_PATH.isdisjoint(part) else part for part in parts)
    return f"<{kind}>"
