"""
The table: what in whose results is no progress (SPEC 4.2), and the digest of an outcome that follows from it.

Everything that names a tool, or a key of a tool's result, stands here and nowhere else. A host adapter makes its own
table with `TOOLS.extended(...)`.
"""

from __future__ import annotations

from wheelspin.core.fingerprint import digest
from wheelspin.core.identifiers import spelled, without_identifiers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from wheelspin.core.events import Outcome

__all__ = ["TOOLS", "Tool", "ToolTable", "digest_outcome"]

_NAMES_KEPT = 1024
_LONGEST_NAME = 128


class Tool:
    """
    What is known about a tool, as it is called.

    Attributes:
        name: Its canonical name.
        rule: Which rule of SPEC 4.2 its results fall under: `shell`, `poll`, `log`, `message` or `result`.
        polls: Whether the call only asks for the state of something (SPEC 6, polling calls).
        prefix: What its signatures begin with.
        ignored: Arguments that do not tell a call from another, such as a free-text description.
        by_action: The same tool called with these values of its `action` argument.
    """

    __slots__ = ("by_action", "ignored", "name", "polls", "prefix", "rule")

    def __init__(
        self,
        name: str,
        rule: str = "result",
        *,
        polls: bool = False,
        by_action: dict[str, Tool] | None = None,
        ignored: Iterable[str] = (),
    ) -> None:
        self.name = name
        self.rule = rule
        self.polls = polls
        self.prefix = f"{len(name)}:{name}"
        self.by_action = by_action
        self.ignored = frozenset(ignored)

    def identify(self, arguments: object) -> object:
        """Give what of the arguments tells a call from another."""
        if not self.ignored or not isinstance(arguments, dict):
            return arguments
        return {key: value for key, value in arguments.items() if key not in self.ignored}


class ToolTable:
    """
    The tools that are known by name.

    Args:
        tools: What is known of each.
        aliases: Other names of a tool, and the name that it is compared under.
    """

    __slots__ = ("_aliases", "_asked", "_tools")

    def __init__(self, tools: Iterable[Tool], aliases: Mapping[str, str]) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._aliases = dict(aliases)
        self._asked: dict[str, Tool] = {}

    def extended(
        self,
        *,
        aliases: Mapping[str, str] | None = None,
        shells: Iterable[str] = (),
        polls: Iterable[str] = (),
        sends: Iterable[str] = (),
        ignored: Mapping[str, Iterable[str]] | None = None,
    ) -> ToolTable:
        """
        Give a table that knows more tools; this one stays as it is.

        Args:
            aliases: Other names of a tool, and the name that it is compared under.
            shells: More tools that run a shell command.
            polls: More tools that poll.
            sends: More tools that send a message out.
            ignored: Tools and those of their arguments that do not tell a call from another.

        Example:
            >>> TOOLS.extended(sends=["Telegram"]).look_up("telegram", {"text": "hi"}).rule
            'message'
        """
        more = [
            *(Tool(_plain(name), "shell") for name in shells),
            *(Tool(_plain(name), polls=True) for name in polls),
            *(Tool(_plain(name), "message") for name in sends),
        ]
        more_names = {_plain(name): _plain(target) for name, target in (aliases or {}).items()}
        known = self._aliases | {name: self._aliases.get(target, target) for name, target in more_names.items()}
        tools = {tool.name: tool for tool in (*self._tools.values(), *more)}
        for name, arguments in (ignored or {}).items():
            plain = known.get(_plain(name), _plain(name))
            tool = tools.get(plain) or Tool(plain)
            tools[plain] = Tool(
                plain, tool.rule, polls=tool.polls, by_action=tool.by_action, ignored=tool.ignored.union(arguments)
            )
        return ToolTable(tools.values(), known)

    def look_up(self, name: object, arguments: object) -> Tool:
        """
        Give what is known about a tool under the name that it is compared under (SPEC 3).

        Args:
            name: The name as the model wrote it. It is trimmed and lower-cased, aliases are one, empty is `tool`.
            arguments: What it is called with; some tools poll or send with some of their actions only.
        """
        tool = self._asked.get(name) if type(name) is str else None
        if tool is None:
            tool = self._find(name)
        if tool.by_action is not None:
            return tool.by_action.get(_action(arguments), tool)
        return tool

    def _find(self, given: object) -> Tool:
        name = _plain(str.__str__(given)) if isinstance(given, str) else ""
        name = self._aliases.get(name, name) or "tool"
        if len(name) > _LONGEST_NAME:
            name = f"{name[: _LONGEST_NAME // 2]}…{digest('name', name)[0].hex()}"
        tool = self._tools.get(name) or Tool(name)
        if type(given) is str and len(given) <= _LONGEST_NAME:
            if len(self._asked) >= _NAMES_KEPT:
                self._asked.clear()
            self._asked[given] = tool
        return tool


def _plain(name: str) -> str:
    return name.strip().lower()


def _action(arguments: object) -> str:
    action = arguments.get("action") if isinstance(arguments, dict) else None
    return str(spelled(action.strip())) if isinstance(action, str) else ""


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
    aliases={"bash": "exec", "apply-patch": "apply_patch"},
)
"""What the documented detection knows (SPEC 3, 4.2 and 6)."""

_SHELL_KEYS = frozenset({"durationms", "duration", "pid", "sessionid", "cwd", "workdir", "startedat", "starttime"})
"""Keys of a shell result that never count, as `spelled` writes them."""
_APPROVAL_KEYS = ("reason", "host", "command", "warningText")
_PROCESS_KEYS = {
    "poll": ("status", "exitCode", "exitSignal", "aggregated"),
    "log": ("status", "exitCode", "exitSignal", "totalLines", "totalChars", "truncated"),
}


def digest_outcome(tool: Tool, outcome: Outcome) -> tuple[bytes, bool]:
    """
    Give the digest of what counts of an outcome: the first rule of SPEC 4.2 that fits.

    Args:
        tool: The tool that was called.
        outcome: Any outcome but our own veto and a missing one.

    Returns:
        The digest, and `False` where the outcome holds something that cannot be looked into.
    """
    kind, value = outcome.kind, outcome.value
    if kind == "result":
        rule = tool.rule
        if rule == "result":
            return digest("result=", value)
        if rule == "shell":
            return digest("shell=", _shell(value))
        if rule == "message":
            return digest("message=", without_identifiers(value))
        return digest(f"{rule}=", _process(rule, value))
    if kind == "shell":
        return digest("shell=", _shell({"details": value}))
    if kind == "error":
        return digest("error=", [outcome.error_kind, value])
    return digest(f"{kind}=", value)


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
