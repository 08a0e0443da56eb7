"""Reading a JSON5 file: its value, the positions of its keys, and one clear fault if it is not valid."""

from __future__ import annotations

import codecs
import re
from pathlib import Path as FilePath
from typing import Any

import pyjson5

from wheelspin.config._positions import KeyPositions, line_and_column
from wheelspin.errors import ConfigError, Fault

__all__ = ["read"]

_DEEPEST = 500
_CLOSED = frozenset({"array", "comment", "object", "string"})
_PLACE = re.compile(r"(?:Unclosed b'(?P<what>\w+)' )?.*near (?P<offset>\d+)")
_BOMS = {
    codecs.BOM_UTF8: "UTF-8",
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


def read(path: FilePath) -> tuple[Any, KeyPositions]:
    """
    Read a configuration file.

    Raises:
        ConfigError: There is no such file, or it is not valid JSON5.
    """
    text = _text(path)
    try:
        value = pyjson5.decode(text, maxdepth=_DEEPEST)
    except pyjson5.Json5DecoderException as problem:
        raise ConfigError(str(path), [_syntax_fault(text, problem)]) from None
    return value, KeyPositions(text)


def _text(path: FilePath) -> str:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise _fault(path, "there is no such file", "check the path, or leave it out to use the defaults") from None
    except IsADirectoryError:
        raise _fault(path, "it is a directory", "name the configuration file in it") from None
    except OSError as problem:
        raise _fault(path, f"it cannot be read ({problem.strerror})", "check its permissions") from None
    for bom, name in _BOMS.items():
        if data.startswith(bom):
            raise _fault(path, f"it begins with a byte order mark ({name})", "save it as UTF-8 without one")
    if not data.strip():
        raise _fault(path, "it is empty", "write `{}` for a configuration that sets nothing")
    try:
        text = data.decode()
    except UnicodeDecodeError as problem:
        found = f"byte {problem.start + 1} of it is not UTF-8"
        raise _fault(path, found, "use a JSON5 file that is saved as UTF-8") from None
    if "\0" in text:
        raise _fault(path, "it contains binary data", "use a JSON5 file, such as `openclaw.json5`")
    return text


def _fault(path: FilePath, found: str, hint: str) -> ConfigError:
    return ConfigError(str(path), [Fault("", found, hint=hint)])


def _syntax_fault(text: str, problem: pyjson5.Json5DecoderException) -> Fault:
    """Return where the text stops being valid JSON5, and what is wrong there."""
    message = str(problem.args[0])
    place = _PLACE.search(message)
    offset = max(0, int(place.group("offset")) - 1) if place else len(text)
    if isinstance(problem, pyjson5.Json5ExtraData):
        offset = len(text) - len(text[offset + 1 :].lstrip())
    line, column = line_and_column(text, offset)
    where = f"line {line}, column {column}"
    if isinstance(problem, pyjson5.Json5NestingTooDeep):
        return Fault("", f"it is nested more than {_DEEPEST} levels deep at {where}", hint="use fewer levels")
    what = place.group("what") if place else None
    if what in _CLOSED:
        return Fault("", f"the {what} that begins at {where} is never closed", hint="the file may have been cut off")
    found = f"{text[offset]!r} at {where} is not valid JSON5" if offset < len(text) else "it ends too early"
    return Fault("", found, hint="look for a missing comma, quote or bracket just before it")
