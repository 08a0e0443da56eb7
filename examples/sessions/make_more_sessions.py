"""
Write more sample sessions into this folder, in the formats of hosts that say much around each call.

Run it from anywhere: `python examples/sessions/make_more_sessions.py`. What it writes is the same each time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
CWD = "/home/sam/shop"
MODEL = "sample-model"


def _time(step: int) -> str:
    return f"2026-09-02T09:{step // 60 % 60:02}:{step % 60:02}.000Z"


class Copilot:
    """Events of a Copilot CLI session."""

    def __init__(self, session: str) -> None:
        self.events: list[dict[str, Any]] = []
        self.agent: str | None = None
        self._turn = 0
        self.event("session.start", sessionId=session, version=1, producer="copilot-agent", copilotVersion="1.0.102")

    def event(self, kind: str, **data: Any) -> None:
        """Something happened."""
        number = len(self.events)
        entry: dict[str, Any] = {"type": kind, "data": data, "id": f"{number:08x}-0000-4000-8000-000000000000"}
        if self.agent is not None:
            entry["agentId"] = self.agent
        self.events.append(entry | {"timestamp": _time(number), "parentId": self.events[-1]["id"] if number else None})

    def prompt(self, text: str, **more: Any) -> None:
        """The user writes, or somebody in the user's place."""
        self._turn = 0
        self.event("user.message", content=text, delivery="idle", **more)

    def turn(self, *calls: tuple[str, dict[str, Any], str], **ended: Any) -> None:
        """The model asks for calls, which are run side by side, or says something."""
        turn, read = str(self._turn), 9_000 + 70 * len(self.events)
        self._turn += 1
        self.event("assistant.turn_start", turnId=turn)
        self.event("session.usage_record", usage={"model": MODEL, "inputTokens": read, "outputTokens": 45})
        asked = [(f"call_{len(self.events)}_{place}", tool, given) for place, (tool, given, _) in enumerate(calls)]
        requests = [{"toolCallId": call, "name": tool, "arguments": given} for call, tool, given in asked]
        self.event("assistant.message", content="" if calls else "Done.", toolRequests=requests, turnId=turn)
        for call, tool, given in asked:
            self.event("tool.execution_start", toolCallId=call, toolName=tool, arguments=given, turnId=turn)
        for (call, _, _), (_, _, shown) in zip(asked, calls, strict=True):
            outcome = ended or {"success": True, "result": {"content": shown}}
            self.event("tool.execution_complete", toolCallId=call, turnId=turn, **outcome)
        self.event("assistant.turn_end", turnId=turn)


def copilot_cli() -> Iterator[dict[str, Any]]:
    """A linter that fails in the same way, on and on, in a shell that is numbered anew each time; then work."""
    session = Copilot("7d1f2c1e-0000-4000-8000-000000000001")
    session.prompt("Upgrade the linter, and mend what it finds.")
    for number in range(26):
        if number in {9, 18}:
            session.prompt("", source="autopilot", isAutopilotContinuation=True)
        how = ("run the linter", "lint again", "see whether the linter passes")[number % 3]
        shown = f"config.yml:3: unknown rule `no-tabs`\n<shellId: {number} completed with exit code 2>"
        session.turn(("bash", {"command": "npm run lint", "description": how}, shown))
    session.turn()
    session.prompt("The rule is called `no-tab` now. Let a helper look for more of them.")
    session.turn(("edit", {"path": f"{CWD}/config.yml", "old_str": "no-tabs", "new_str": "no-tab"}, "File updated."))
    session.agent = "3c1a77d0-0000-4000-8000-000000000002"
    session.prompt("Find rules that were renamed.")
    session.turn(("grep", {"pattern": "no-"}, "config.yml"), ("view", {"path": f"{CWD}/config.yml"}, "rules: [no-tab]"))
    session.turn()
    session.agent = None
    session.event("session.compaction_complete", success=True, outcome="applied", messagesRemoved=50)
    session.turn(
        ("fix_all", {}, ""), success=False, error={"message": "Tool 'fix_all' does not exist.", "code": "failure"}
    )
    for left in (2, 1, 0):
        shown = f"{left} problems\n<shellId: {40 - left} completed with exit code {min(left, 1)}>"
        session.turn(("bash", {"command": "npm run lint"}, shown))
    session.turn()
    yield from session.events


class OpenCode:
    """Messages of a session that opencode exports."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def _message(self, role: str, parts: list[dict[str, Any]], **info: Any) -> None:
        number = len(self.messages)
        info = {"id": f"msg_{number:04}", "role": role, **info}
        self.messages.append({"info": info, "parts": [{"id": f"prt_{number:04}", **part} for part in parts]})

    def user(self, **part: Any) -> None:
        """The user writes, or opencode in the user's place."""
        self._message("user", [{"type": "text", **part}], agent="build")

    def say(self, *parts: dict[str, Any], **info: Any) -> None:
        """The model answers."""
        read = 8_000 + 90 * len(self.messages)
        tokens = {"total": read + 40, "input": read, "output": 40, "reasoning": 0, "cache": {"read": 0, "write": 0}}
        self._message("assistant", list(parts), finish="stop", tokens=tokens, **info)

    def call(self, tool: str, given: dict[str, Any], **state: Any) -> None:
        """The model asks for a call, and it comes back."""
        state = {"status": "completed", "input": given, **state}
        self.say({"type": "tool", "tool": tool, "callID": f"call_{len(self.messages)}", "state": state})


def opencode() -> dict[str, Any]:
    """Two files that are read in turn, through a compaction and on; then, after a prompt, work that gets on."""
    session = OpenCode()
    session.user(text="Which of the two price lists is the right one?")

    def read_both() -> None:
        for name in ("prices.csv", "prices-old.csv"):
            session.call("read", {"filePath": f"{CWD}/{name}"}, output=f"tea,4\ncoffee,{len(name)}\n")

    for _ in range(4):
        read_both()
    session.user(type="compaction", auto=True)
    session.say({"type": "text", "text": "Two price lists differ."}, summary=True)
    session.user(text="Continue if you have next steps.", synthetic=True)
    for _ in range(3):
        read_both()
    session.user(text="The newer one. Take the other away.")
    command = {"command": "git log -1 --format=%as prices.csv", "description": "Tell how old the list is"}
    session.call("bash", command, output="2026-08-30\n", metadata={"exit": 0})
    missing = "Model tried to call unavailable tool 'remove'. Available tools: bash, edit, read, write."
    told = f"The arguments provided to the tool are invalid: {missing}"
    session.call("invalid", {"tool": "remove", "error": missing}, output=told, metadata={"truncated": False})
    session.call("bash", {"command": "git rm -q prices-old.csv"}, output="", metadata={"exit": 0})
    session.say({"type": "text", "text": "Done."})
    return {"info": {"id": "ses_0001", "version": "1.18.33", "directory": CWD}, "messages": session.messages}


LINES: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {"copilot-cli.jsonl": copilot_cli}


def sessions() -> Iterator[tuple[str, str]]:
    """Give the name and the text of each file."""
    for name, make in LINES.items():
        yield name, "".join(json.dumps(line) + "\n" for line in make())
    yield "opencode.json", json.dumps(opencode(), indent=1) + "\n"


def main() -> None:
    """Write the files."""
    for name, text in sessions():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()
