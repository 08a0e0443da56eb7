"""
The table: what in whose results is no progress (SPEC 4.2), and what is kept of an outcome that follows from it.

Everything that names a tool, or a key of a tool's result, stands here and nowhere else. A host adapter makes its own
table with `TOOLS.extended(...)`.
"""

from __future__ import annotations

from wheelspin.core.fingerprint import digest
from wheelspin.core.hints import NEVER, ToolHint
from wheelspin.core.identifiers import change_texts, read_json, spelled, without_identifiers
from wheelspin.core.masks import mask_failure, without_words
from wheelspin.core.outcome_status import CHANGE, SUCCESS, nature_of
from wheelspin.core.tools import Tool, ToolTable, statuses
from wheelspin.core.value_paths import without

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from wheelspin.core.events import Outcome

__all__ = ["TOOLS", "Reading", "counted", "may_be_stub", "read_outcome"]


_SENDING = (
    "send",
    "broadcast",
    "reply",
    "thread-reply",
    "sendWithEffect",
    "sendAttachment",
    "upload-file",
    "sticker",
    "poll",
)
TOOLS = ToolTable(
    [
        Tool("exec", "shell"),
        Tool("command_status", polls=True),
        Tool(
            "process",
            by_action={
                "poll": Tool("process", "poll", polls=True),
                "log": Tool("process", "log", polls=True),
            },
        ),
        Tool("sessions_send", "message"),
        Tool("message", by_action={str(spelled(action)): Tool("message", "message") for action in _SENDING}),
    ],
    aliases={"bash": "exec", "apply-patch": "apply_patch", "process_manage": "process"},
    hints=[
        ("read_file", ToolHint(volatile=["/read .*× this session/"])),
        ("save_memory", ToolHint(volatile=["/stored as .*/"])),
        ("view_background_agent", ToolHint(poll=True, critical_threshold=NEVER)),
    ],
)
"""
What the documented detection knows (SPEC 3, 4.2 and 6), and what the field has taught since: one more name of a tool, a
counter and an id that are no news, and looking at another agent, which has a guard of its own and ends by itself.
"""

_SHELL_KEYS = frozenset({"durationms", "duration", "pid", "sessionid", "cwd", "workdir", "startedat", "starttime"})
"""Keys of a shell result that never count, as `spelled` writes them."""
_APPROVAL_KEYS = ("reason", "host", "command", "warningText")
_PROCESS_KEYS = {
    "poll": ("status", "exitCode", "exitSignal", "aggregated"),
    "log": ("status", "exitCode", "exitSignal", "totalLines", "totalChars", "truncated"),
}


Reading = tuple["bytes | None", str, "bytes | None"]
"""
What is kept of an outcome.

The digest of what counts of it, `None` where it is equal to no other: it holds something that cannot be looked into, or
the tool is declared to change something. Its nature. And of what is no success the digest of what it says, whatever the
arguments were.
"""


def read_outcome(tool: Tool, outcome: Outcome, arguments: object) -> Reading:
    """
    Read an outcome: the first rule of SPEC 4.2 that fits says what counts of it.

    Args:
        tool: The tool that was called.
        outcome: Any outcome but our own veto and a missing one.
        arguments: What it was called with; they do not tell one way of failing from another.
    """
    nature = nature_of(tool, outcome)
    if nature == SUCCESS and tool.is_plain and outcome.kind == "result":
        value = outcome.value
        print_, whole = digest("result=", _unwrapped(value) if type(value) is str else value)
        return (print_ if whole else None), nature, None
    if nature == CHANGE:
        return None, nature, None
    prefix, value = counted(tool, outcome, nature)
    print_, whole = digest(prefix, value)
    way = None
    if nature not in _SUCCESSES and whole:
        said = value[1] if prefix == "error=" and isinstance(value, list) else value
        way = digest("way=", change_texts(said, without_words(_words(arguments))))[0]
    return (print_ if whole else None), nature, way


def counted(tool: Tool, outcome: Outcome, nature: str) -> tuple[str, object]:
    """Give what counts of an outcome of this nature, and the rule that it follows from, as the prefix of its digest."""
    kind, value = outcome.kind, outcome.value
    if tool.volatile or tool.patterns:
        value = _declared(tool, value)
    if kind == "result":
        rule = tool.rule
        if rule == "result":
            prefix, value = "result=", _unwrapped(value) if type(value) is str else value
        elif rule == "shell":
            prefix, value = "shell=", _unwrapped(value) if type(value) is str else _shell(value)
        elif rule == "message":
            prefix, value = "message=", without_identifiers(value)
        elif rule == "plan":
            prefix, value = "plan=", _planned(value, nature)
        else:
            prefix, value = f"{rule}=", _process(rule, value)
    elif kind == "shell":
        prefix, value = "shell=", _shell({"details": value})
    elif kind == "error":
        prefix, value = "error=", [outcome.error_kind, value]
    else:
        prefix = f"{kind}="
    if nature not in _SUCCESSES:
        value = change_texts(value, mask_failure)
    return prefix, value


_SUCCESSES = frozenset({SUCCESS, CHANGE})
_LONGEST_STUB = 600
_STUB_SIGNS = ("sha", "digest", "md5", "hash")
_STUB = (
    r"\W*(?:the )?(?:tool )?(?:output|result|response|content)\b[^\n]{0,60}"
    r"\b(?:too (?:large|long|big)|truncated|omitted|exceed\w*|persisted|offloaded|saved|stored)\b.{0,400}?"
    r"\b(?:sha-?256|sha-?1|sha|digest|md5|hash)\b\W{1,4}(?P<digest>[0-9A-Fa-f]{6,128})\b"
)


def may_be_stub(text: str) -> bool:
    """Tell whether a text may stand for a larger result, as far as a quick look tells."""
    return len(text) <= _LONGEST_STUB and any(sign in text for sign in _STUB_SIGNS)


def _unwrapped(text: str) -> object:
    """Give what a stub stands for: a host that puts a large result aside names a new file each time, and its digest."""
    if not may_be_stub(text):
        return text
    import re

    stub = re.match(_STUB, text, re.IGNORECASE | re.DOTALL)
    return ["stub", stub["digest"].lower()] if stub else text


def _planned(value: object, nature: str) -> object:
    """Give what counts of the answer to a plan: statuses, if it holds them; the words of a success are none."""
    read = read_json(value)
    return "" if isinstance(read, str) and nature in _SUCCESSES else statuses(read)


def _declared(tool: Tool, value: object) -> object:
    """Take out what somebody declared not to count (SPEC 6.3)."""
    if tool.volatile:
        value = read_json(value)
        for path in tool.volatile:
            value = without(value, path)
    return change_texts(value, lambda text: _cut(text, tool.patterns)) if tool.patterns else value


def _cut(text: str, patterns: tuple[str, ...]) -> str:
    import re

    for pattern in patterns:
        text = re.sub(pattern, "<volatile>", text)
    return text


_SHORTEST_WORD = 3
_LONGEST_WORD = 400
_MOST_WORDS = 64
_IN_NAMES = frozenset("/._-0123456789")


def _words(arguments: object) -> set[str]:
    """Give what of the arguments an answer may repeat: short texts as a whole, and what looks like a name in them."""
    words: set[str] = set()
    open_values: list[object] = [arguments]
    for value in open_values:
        if len(open_values) > _MOST_WORDS or len(words) > _MOST_WORDS:
            break
        if isinstance(value, dict):
            open_values.extend(value.values())
        elif isinstance(value, list | tuple):
            open_values.extend(value)
        elif isinstance(value, str) and _SHORTEST_WORD <= len(value) <= _LONGEST_WORD:
            words.add(str.__str__(value))
            parts = value.translate(_BREAKS).split()
            words.update(part for part in parts if len(part) >= _SHORTEST_WORD and not _IN_NAMES.isdisjoint(part))
        elif type(value) is int and abs(value) >= _SMALLEST_NUMBER:
            words.add(str(value))
    return words


_BREAKS = str.maketrans(dict.fromkeys("'\"`()[]{}<>,;:=|&$", " "))
_SMALLEST_NUMBER = 100


def _shell(result: Any) -> object:
    """Give what counts of a shell command's result (SPEC 4.2, rule 3)."""
    if not isinstance(result, dict):
        return result
    details = result.get("details")
    source = details if isinstance(details, dict) else result
    status = _word(source.get("status"))
    if status.startswith("approval"):
        return [status, *(source.get(key) for key in _APPROVAL_KEYS)]
    if source is result:
        return _without(result, _SHELL_KEYS)
    if status == "running":
        return [status, source.get("tail", source.get("aggregated"))]
    if status in {"completed", "failed"}:
        output = source.get("aggregated")
        output = _texts(result) if output is None else output
        return [status, source.get("exitCode"), source.get("timedOut") is True, output]
    return {**_without(result, _SHELL_KEYS), "details": _without(source, _SHELL_KEYS)}


def _process(action: str, result: Any) -> object:
    """Give what counts of a look at a background process (SPEC 4.2, rule 4)."""
    if not isinstance(result, dict):
        return result
    details = result.get("details")
    if not isinstance(details, dict):
        return _without(result, _SHELL_KEYS)
    return [*(details.get(key) for key in _PROCESS_KEYS[action]), _texts(result)]


def _texts(result: dict[Any, Any]) -> object:
    """Give the content of a result: the texts of its text blocks, and the other blocks whole."""
    content = result.get("content")
    if not isinstance(content, list):
        return content
    is_text = [isinstance(block, dict) and _word(block.get("type")) == "text" for block in content]
    return [block.get("text") if text else block for block, text in zip(content, is_text, strict=True)]


def _word(value: object) -> str:
    """Give a text, and an empty one for all else: a foreign object need not bear to be compared."""
    return str.__str__(value) if isinstance(value, str) else ""


def _without(value: dict[Any, Any], keys: frozenset[str]) -> dict[Any, Any]:
    return {key: item for key, item in value.items() if spelled(key) not in keys}
