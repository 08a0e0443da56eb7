"""
runbound: `init()` with its defaults, a session for each run, and each tool wrapped in its own `runbound.tool`.

By default it never stops a loop: each of its notices (log, alert, and a containment that it may not carry out) is a
`warn`, although it reaches a log and not the model. Notices of its loop detector count alone, since those for storms
of errors go by the clock, which a recording does not have. A message of the user changes nothing: a session that is
entered again keeps what it saw.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import runbound
from two_lines import Answer, serve


class ToolFailedError(Exception):
    """What a tool raises when its recorded result is an error."""


class Session:
    """The run that is being driven: what the next tool does, and the notices that come meanwhile."""

    def __init__(self) -> None:
        self.call: dict[str, Any] = {}
        self.has_run = False
        self.notices: list[str] = []
        self.tools: dict[str, Callable[..., Any]] = {}

    def notice(self, event: dict[str, Any]) -> None:
        """Take a notice of the loop detector, with whether the tool had run by then."""
        if event["kind"] == "anomaly" and event["detector"] == "loop":
            self.notices.append("after" if self.has_run else "before")

    def tool(self, name: str) -> Callable[..., Any]:
        """Give the tool of this name, wrapped."""
        if name not in self.tools:

            def body(*_: Any, **__: Any) -> Any:
                self.has_run = True
                if self.call["error"]:
                    raise ToolFailedError(self.call["result"])
                return self.call["result"]

            self.tools[name] = runbound.tool(name=name)(body)
        return self.tools[name]

    def follow(self, run: dict[str, Any], answer: Answer) -> None:
        """Drive one run."""
        key = str(run["id"])
        with runbound.session(key):
            for number, self.call in enumerate(run["calls"]):
                tool = self.tool(self.call["tool"])
                given = self.call["args"]
                args, kwargs = ((), given) if isinstance(given, dict) else ((given,), {})
                self.has_run = False
                self.notices.clear()
                try:
                    with answer.timed():
                        tool(*args, **kwargs)
                except ToolFailedError:
                    pass
                for when in self.notices:
                    answer.warn(number, when)
        runbound.clear(key)


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    session = Session()
    runbound.init(on_event=session.notice)
    serve(session.follow)
