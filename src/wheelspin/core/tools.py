"""What is known about tools by their names: what a call of one is compared by, and how its results are read."""

from __future__ import annotations

from wheelspin.core.fingerprint import digest
from wheelspin.core.identifiers import spelled
from wheelspin.core.value_paths import pick

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from wheelspin.core.hints import ToolHint

__all__ = ["Tool", "ToolTable", "statuses"]

_NAMES_KEPT = 1024
_LONGEST_NAME = 128


class Tool:
    """
    What is known about a tool, as it is called.

    Attributes:
        name: Its canonical name.
        rule: Which rule of SPEC 4.2 its results fall under: `shell`, `poll`, `log`, `message`, `plan` or `result`.
        polls: Whether the call only asks for the state of something (SPEC 6, polling calls).
        prefix: What its signatures begin with.
        ignored: Arguments that do not tell a call from another, such as a free-text description.
        identity: Paths of the arguments that tell a call from another; `None` where all do.
        picks: Whether not all arguments tell a call from another.
        volatile: Paths of its results that do not count.
        patterns: Expressions for what of its results' texts does not count.
        is_plain: Whether nothing is known of its results.
        mutates: Whether a success of it is progress (SPEC 6.3).
        unjudged: Whether its calls are never judged.
        limits: Its own warning and critical threshold, each or `None`; `None` where it has neither.
        by_action: The same tool called with these values of its `action` argument.
    """

    __slots__ = (
        "by_action",
        "identity",
        "ignored",
        "is_plain",
        "limits",
        "mutates",
        "name",
        "patterns",
        "picks",
        "polls",
        "prefix",
        "rule",
        "unjudged",
        "volatile",
    )

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
        self.identity: tuple[tuple[str, ...], ...] | None = None
        self.picks = bool(self.ignored) or rule == "plan"
        self.is_plain = rule == "result"
        self.volatile: tuple[tuple[str, ...], ...] = ()
        self.patterns: tuple[str, ...] = ()
        self.mutates = False
        self.unjudged = False
        self.limits: tuple[int | None, int | None] | None = None

    def identify(self, arguments: object) -> object:
        """Give what of the arguments tells a call from another."""
        if self.rule == "plan":
            return statuses(arguments)
        if self.identity is not None:
            return [pick(arguments, path) for path in self.identity]
        if not self.ignored or not isinstance(arguments, dict):
            return arguments
        return {key: value for key, value in arguments.items() if key not in self.ignored}

    def hinted(self, hint: ToolHint) -> Tool:
        """Give the tool with a hint laid over what is known."""
        by_action = self.by_action and {action: tool.hinted(hint) for action, tool in self.by_action.items()}
        tool = Tool(self.name, self.rule, polls=self.polls, by_action=by_action, ignored=self.ignored)
        tool.polls = self.polls if hint.poll is None else hint.poll
        tool.identity = self.identity if hint.identity is None else hint.identity
        tool.picks = self.picks or tool.identity is not None
        tool.volatile = self.volatile + hint.volatile
        tool.patterns = self.patterns + hint.patterns
        tool.is_plain = self.rule == "result" and not (tool.volatile or tool.patterns)
        tool.mutates = self.mutates if hint.mutates is None else hint.mutates
        tool.unjudged = self.unjudged if hint.ignore is None else hint.ignore
        before = self.limits or (None, None)
        limits = hint.warning_threshold or before[0], hint.critical_threshold or before[1]
        tool.limits = None if limits == (None, None) else limits
        return tool


class ToolTable:
    """
    The tools that are known by name.

    Args:
        tools: What is known of each.
        aliases: Other names of a tool, and the name that it is compared under.
        hints: Names or patterns of tools, and what is declared of those; a later one lies over an earlier one.
    """

    __slots__ = ("_aliases", "_asked", "_hints", "_tools", "ignores")

    ignores: bool
    """Whether there is a tool whose calls are never judged."""

    def __init__(
        self, tools: Iterable[Tool], aliases: Mapping[str, str], hints: Iterable[tuple[str, ToolHint]] = ()
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._aliases = dict(aliases)
        self._hints = tuple((_plain(pattern), hint) for pattern, hint in hints)
        self._asked: dict[str, Tool] = {}
        self.ignores = any(hint.ignore for _, hint in self._hints)

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
        Give a table that knows more tools; this one stays as it is.

        Args:
            aliases: Other names of a tool, and the name that it is compared under.
            shells: More tools that run a shell command.
            polls: More tools that poll.
            sends: More tools that send a message out.
            plans: More tools that write down the plan: the number of steps and their statuses are what counts.
            ignored: Tools and those of their arguments that do not tell a call from another.
            hints: Names of tools, or patterns of names such as `mcp__*`, and what is declared of them.

        Example:
            >>> from wheelspin.core.known_tools import TOOLS
            >>> TOOLS.extended(sends=["Telegram"]).look_up("telegram", {"text": "hi"}).rule
            'message'
        """
        more = [
            *(Tool(_plain(name), "shell") for name in shells),
            *(Tool(_plain(name), polls=True) for name in polls),
            *(Tool(_plain(name), "message") for name in sends),
            *(Tool(_plain(name), "plan") for name in plans),
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
        written = _plain(str.__str__(given)) if isinstance(given, str) else ""
        name = self._aliases.get(written, written) or "tool"
        if len(name) > _LONGEST_NAME:
            name = f"{name[: _LONGEST_NAME // 2]}…{digest('name', name)[0].hex()}"
        tool = self._tools.get(name) or Tool(name)
        for hint in self._hints_for(written, name):
            tool = tool.hinted(hint)
        if type(given) is str and len(given) <= _LONGEST_NAME:
            if len(self._asked) >= _NAMES_KEPT:
                self._asked.clear()
            self._asked[given] = tool
        return tool

    def _hints_for(self, written: str, name: str) -> Iterator[ToolHint]:
        """Give the hints for a tool: those for patterns first, so that one for its very name lies over them."""
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
    return str(spelled(action.strip())) if isinstance(action, str) else ""


_STEPS = ("plan", "todos", "steps", "items", "tasks")
_STATUSES = ("status", "state", "completed", "done")


def statuses(value: object) -> object:
    """
    Give what counts of a plan: the statuses of its steps, in order. Rewording a step is no progress.

    Args:
        value: What a plan was written or answered with: a list of steps, or an object that holds one.

    Example:
        >>> statuses({"todos": [{"content": "read", "status": "completed"}, {"content": "write", "status": "pending"}]})
        ['completed', 'pending']
    """
    if isinstance(value, dict):
        found = next((value[key] for key in _STEPS if isinstance(value.get(key), list | tuple)), None)
        return value if found is None else statuses(found)
    if not isinstance(value, list | tuple):
        return value
    return [
        next((step[key] for key in _STATUSES if key in step), None) if isinstance(step, dict) else None
        for step in value
    ]
