"""
runbound: `init()` with its defaults, a session for each run, and each tool wrapped in its own `runbound.tool`.

By default it never stops a loop: each of its notices (log, alert, and a containment that it may not carry out) is a
`warn`, although it goes to a log and not to the model. Only notices of its loop detector count, since those for error
storms depend on the time, which a recording does not have. A message of the user changes nothing, as a session that is
re-entered keeps its state.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import runbound
from two_lines import Answer, serve


class ToolFailedError(Exception):
    """Raised by a tool whose recorded result is an error."""


class Session:
    """The current run: the result of the next tool, and the notices so far."""

    def __init__(self) -> None:
        self.call: dict[str, Any] = {}
        self.has_run = False
        self.notices: list[str] = []
        self.tools: dict[str, Callable[..., Any]] = {}

    def notice(self, event: dict[str, Any]) -> None:
        """Add a notice of the loop detector, and whether the tool had run by then."""
        if event["kind"] == "anomaly" and event["detector"] == "loop":
            self.notices.append("after" if self.has_run else "before")

    def tool(self, name: str) -> Callable[..., Any]:
        """Return the wrapped tool of this name."""
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
                arguments = self.call["args"]
                args, kwargs = ((), arguments) if isinstance(arguments, dict) else ((arguments,), {})
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
