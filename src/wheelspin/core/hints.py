"""What users and hosts declare about single tools (SPEC 6.3)."""

from __future__ import annotations

from wheelspin.core.events import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["NEVER", "ToolHint"]

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-×:=#/.")
"""Characters of which any sequence is a valid regular expression, also with `.*` in it."""
NEVER = 1 << 60
"""A threshold that no count reaches."""


class ToolHint(Value):
    r"""
    What is declared about a tool (SPEC 6.3).

    Args:
        poll: Whether its calls only ask for the state of something.
        identity: Paths of the arguments that identify a call, such as `path` or `todos[*].status`; the others are
            ignored.
        volatile: What is ignored in its results: a path, or a regular expression between slashes, such as
            `/took \d+ ms/`, for what its texts contain.
        mutates: Whether its success changes something: then it is progress, and calls that failed before may run again.
        ignore: Whether its calls are never judged; they leave no trace in the history.
        warning_threshold: Its own warning threshold, instead of the shared one.
        critical_threshold: Its own critical threshold, instead of the shared one.

    Raises:
        TypeError: A switch is not a boolean, or a threshold is not a whole number.
        ValueError: A threshold is below 1, or a path or an expression cannot be read.

    Example:
        >>> ToolHint(identity=["path"], volatile=["meta.took"]).identity
        (('path',),)
    """

    __slots__ = (
        "critical_threshold",
        "identity",
        "ignore",
        "mutates",
        "patterns",
        "poll",
        "volatile",
        "warning_threshold",
    )

    poll: bool | None
    identity: tuple[tuple[str, ...], ...] | None
    volatile: tuple[tuple[str, ...], ...]
    """The paths of its results that are ignored."""
    patterns: tuple[str, ...]
    """Regular expressions for what is ignored in the texts of its results."""
    mutates: bool | None
    ignore: bool | None
    warning_threshold: int | None
    critical_threshold: int | None

    def __init__(
        self,
        *,
        poll: bool | None = None,
        identity: Iterable[str] | None = None,
        volatile: Iterable[str] = (),
        mutates: bool | None = None,
        ignore: bool | None = None,
        warning_threshold: int | None = None,
        critical_threshold: int | None = None,
    ) -> None:
        for name, switch in (("poll", poll), ("mutates", mutates), ("ignore", ignore)):
            if switch is not None and not isinstance(switch, bool):
                raise TypeError(f"`{name}` must be True or False, not {switch!r}")
        given = _listed("volatile", volatile)
        is_pattern = [len(text) > 1 and text[0] == text[-1] == "/" for text in given]
        self._fill(
            poll=poll,
            identity=None if identity is None else _paths(_listed("identity", identity)),
            volatile=_paths([text for text, pattern in zip(given, is_pattern, strict=True) if not pattern]),
            patterns=tuple(_expression(text) for text, pattern in zip(given, is_pattern, strict=True) if pattern),
            mutates=mutates,
            ignore=ignore,
            warning_threshold=_limit("warning_threshold", warning_threshold),
            critical_threshold=_limit("critical_threshold", critical_threshold),
        )


def _paths(texts: list[str]) -> tuple[tuple[str, ...], ...]:
    if not texts:
        return ()
    from wheelspin.core.value_paths import parse

    return tuple(map(parse, texts))


def _listed(name: str, given: Iterable[object]) -> list[str]:
    if isinstance(given, str):
        raise TypeError(f"`{name}` must be a list of strings, not the string {given!r}")
    texts = []
    for text in given:
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"`{name}` contains {text!r}, which is not a string")
        texts.append(text)
    return texts


def _expression(text: str) -> str:
    """Return an expression without its slashes. An obviously valid one is not compiled, to start a hook quickly."""
    expression = text[1:-1]
    if not _PLAIN.issuperset(expression.replace(".*", "")):
        import re

        try:
            re.compile(expression)
        except re.error as problem:
            raise ValueError(f"{text!r} is not a regular expression: {problem}") from None
    return expression


def _limit(name: str, given: object) -> int | None:
    if given is None:
        return None
    if not isinstance(given, int) or isinstance(given, bool):
        raise TypeError(f"`{name}` must be a whole number, not {given!r}")
    if given < 1:
        raise ValueError(f"`{name}` must be 1 or more, not {given!r}")
    return given
