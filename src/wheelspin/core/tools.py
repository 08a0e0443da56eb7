"""
What is known about tools by their names: what identifies a call, and how its results are read.

Two rules hold here:

1. Names are compared trimmed, in lower case and by their canonical name; a table is never changed once it is made.
2. What a tool's name implies is looked up here and nowhere else.
"""

from __future__ import annotations

from enum import StrEnum

from wheelspin.core.fingerprint import digest
from wheelspin.core.identifiers import normalised_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wheelspin.core.events import ToolCall
    from wheelspin.core.hints import ToolHint

__all__ = ["ResultRule", "Tool", "ToolTable", "statuses"]

_NAMES_KEPT = 1024
_LONGEST_NAME = 128


class ResultRule(StrEnum):
    """The rule of SPEC 4.2 by which results of a tool are compared."""

    RESULT = "result"
    """The whole result."""
    SHELL = "shell"
    """Status, exit code and output of a shell command."""
    POLL = "poll"
    """The state of a background process."""
    LOG = "log"
    """The log of a background process."""
    MESSAGE = "message"
    """The receipt of a sent message, without its ids."""
    PLAN = "plan"
    """The statuses of the items of a plan."""


class Tool:
    """
    What is known about a tool, as it is called.

    Attributes:
        name: Its canonical name.
        rule: How its results are compared.
        polls: Whether the call only asks for the state of something (SPEC 6, polling calls).
        prefix: Prefix of the text that its signatures are digests of.
        ignored: Arguments that do not identify a call, such as a free-text description.
        identity: Paths of the arguments that identify a call; `None` if all do.
        has_identity: Whether only some of the arguments identify a call.
        volatile: Paths of its results that are ignored.
        patterns: Regular expressions for what is ignored in the texts of its results.
        has_default_rules: Whether its results are compared whole.
        mutates: Whether a success of it is progress (SPEC 6.3).
        exempt: Whether its calls are never judged.
        thresholds: Its own warning and critical threshold, each or `None`; `None` if it has neither.
        by_action: The same tool, by the value of its `action` argument.
    """

    __slots__ = (
        "by_action",
        "exempt",
        "has_default_rules",
        "has_identity",
        "identity",
        "ignored",
        "mutates",
        "name",
        "patterns",
        "polls",
        "prefix",
        "rule",
        "thresholds",
        "volatile",
    )

    def __init__(
        self,
        name: str,
        rule: ResultRule = ResultRule.RESULT,
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
        self.identity: tuple[tuple[str, ...], ...] | None = None
        self.has_identity = bool(self.ignored) or rule is ResultRule.PLAN
        self.has_default_rules = rule is ResultRule.RESULT
        self.volatile: tuple[tuple[str, ...], ...] = ()
        self.patterns: tuple[str, ...] = ()
        self.mutates = False
        self.exempt = False
        self.thresholds: tuple[int | None, int | None] | None = None

    def identify(self, arguments: object) -> object:
        """Return the part of the arguments that identifies a call."""
        if self.rule is ResultRule.PLAN:
            return statuses(arguments)
        if self.identity is not None:
            from wheelspin.core.value_paths import pick

            return [pick(arguments, path) for path in self.identity]
        if not self.ignored or not isinstance(arguments, dict):
            return arguments
        return {key: value for key, value in arguments.items() if key not in self.ignored}

    def hinted(self, hint: ToolHint) -> Tool:
        """Return a copy of the tool to which a hint is applied."""
        by_action = self.by_action and {action: tool.hinted(hint) for action, tool in self.by_action.items()}
        tool = Tool(self.name, self.rule, polls=self.polls, by_action=by_action, ignored=self.ignored)
        tool.polls = self.polls if hint.poll is None else hint.poll
        tool.identity = self.identity if hint.identity is None else hint.identity
        tool.has_identity = self.has_identity or tool.identity is not None
        tool.volatile = self.volatile + hint.volatile
        tool.patterns = self.patterns + hint.patterns
        tool.has_default_rules = self.rule is ResultRule.RESULT and not (tool.volatile or tool.patterns)
        tool.mutates = self.mutates if hint.mutates is None else hint.mutates
        tool.exempt = self.exempt if hint.ignore is None else hint.ignore
        before = self.thresholds or (None, None)
        own = hint.warning_threshold or before[0], hint.critical_threshold or before[1]
        tool.thresholds = None if own == (None, None) else own
        return tool


class ToolTable:
    """
    The tools that are known by name.

    Args:
        tools: The tools.
        aliases: Other names of tools, each with the canonical name.
        hints: Names or patterns of tools, each with what is declared about them. Later hints override earlier ones.
    """

    __slots__ = ("_aliases", "_found", "_hints", "_tools", "has_exemptions")

    has_exemptions: bool
    """Whether there is a tool whose calls are never judged."""

    def __init__(
        self, tools: Iterable[Tool], aliases: Mapping[str, str], hints: Iterable[tuple[str, ToolHint]] = ()
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._aliases = dict(aliases)
        self._hints = tuple((_plain(pattern), hint) for pattern, hint in hints)
        self._found: dict[str, Tool] = {}
        self.has_exemptions = any(hint.ignore for _, hint in self._hints)

    def extended(
        self,
        *,
        aliases: Mapping[str, str] | None = None,
        shells: Iterable[str] = (),
        polls: Iterable[str] = (),
        sends: Iterable[str] = (),
        plans: Iterable[str] = (),
        ignored: Mapping[str, Iterable[str]] | None = None,
        hints: Mapping[str, ToolHint] | None = None,
    ) -> ToolTable:
        """
        Return a table that knows more tools; this one stays as it is.

        Args:
            aliases: Other names of tools, each with the canonical name.
            shells: More tools that run a shell command.
            polls: More tools that poll.
            sends: More tools that send a message.
            plans: More tools that write a plan; only the number of items and their statuses are compared.
            ignored: Tools, each with those of its arguments that do not identify a call.
            hints: Names of tools, or patterns of names such as `mcp__*`, each with what is declared about them.

        Example:
            >>> from wheelspin import TOOLS
            >>> str(TOOLS.extended(sends=["Telegram"]).look_up("telegram", {"text": "hi"}).rule)
            'message'
        """
        more = [
            *(Tool(_plain(name), ResultRule.SHELL) for name in shells),
            *(Tool(_plain(name), polls=True) for name in polls),
            *(Tool(_plain(name), ResultRule.MESSAGE) for name in sends),
            *(Tool(_plain(name), ResultRule.PLAN) for name in plans),
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
        return ToolTable(tools.values(), known, (*self._hints, *(hints or {}).items()))

    def look_up(self, name: object, arguments: object) -> Tool:
        """
        Return what is known about a tool, under its canonical name (SPEC 3).

        Args:
            name: The name as the model wrote it. It is trimmed and lower-cased; an empty name is `tool`.
            arguments: The arguments. Some tools poll or send only with some values of `action`.
        """
        tool = self._found.get(name) if type(name) is str else None
        if tool is None:
            tool = self._find(name)
        if tool.by_action is not None:
            return tool.by_action.get(_action(arguments), tool)
        return tool

    def signed(self, call: ToolCall) -> tuple[Tool, bytes]:
        """Return the tool and the signature of a call, which are computed once for each call."""
        signed = call.signed
        if signed is None or signed[0] is not self:
            arguments = {} if call.arguments is None else call.arguments
            tool = self.look_up(call.tool, arguments)
            signature = digest(tool.prefix, tool.identify(arguments) if tool.has_identity else arguments)[0]
            signed = call.signed = self, (tool, signature)
        return signed[1]

    def _find(self, given: object) -> Tool:
        written = _plain(str.__str__(given)) if isinstance(given, str) else ""
        name = self._aliases.get(written, written) or "tool"
        if len(name) > _LONGEST_NAME:
            name = f"{name[: _LONGEST_NAME // 2]}…{digest('name', name)[0].hex()}"
        tool = self._tools.get(name) or Tool(name)
        for hint in self._hints_for(written, name):
            tool = tool.hinted(hint)
        if type(given) is str and len(given) <= _LONGEST_NAME:
            if len(self._found) >= _NAMES_KEPT:
                self._found.clear()
            self._found[given] = tool
        return tool

    def _hints_for(self, written: str, name: str) -> Iterator[ToolHint]:
        """Yield the hints for a tool: those for patterns first, so that one for the exact name overrides them."""
        own = [hint for pattern, hint in self._hints if pattern in {written, name}]
        patterns = [(pattern, hint) for pattern, hint in self._hints if not _WILD.isdisjoint(pattern)]
        if patterns:
            from fnmatch import fnmatchcase

            for pattern, hint in patterns:
                if pattern not in {written, name} and (fnmatchcase(written, pattern) or fnmatchcase(name, pattern)):
                    yield hint
        yield from own


_WILD = frozenset("*?[")


def _plain(name: str) -> str:
    return name.strip().lower()


def _action(arguments: object) -> str:
    action = arguments.get("action") if isinstance(arguments, dict) else None
    return str(normalised_key(action.strip())) if isinstance(action, str) else ""


_ITEMS = ("plan", "todos", "steps", "items", "tasks")
_STATUSES = ("status", "state", "completed", "done")


def statuses(value: object) -> object:
    """
    Return the statuses of the items of a plan, in order. Rewording an item is not progress.

    Args:
        value: The plan as it was written or returned: a list of items, or an object that holds one.

    Example:
        >>> statuses({"todos": [{"content": "read", "status": "completed"}, {"content": "write", "status": "pending"}]})
        ['completed', 'pending']
    """
    if isinstance(value, dict):
        found = next((value[key] for key in _ITEMS if isinstance(value.get(key), list | tuple)), None)
        return value if found is None else statuses(found)
    if not isinstance(value, list | tuple):
        return value
    return [
        next((item[key] for key in _STATUSES if key in item), None) if isinstance(item, dict) else None
        for item in value
    ]
