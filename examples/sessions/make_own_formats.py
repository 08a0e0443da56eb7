"""
Write sample sessions of invented agents into this folder, in formats of single hosts.

Run `python examples/sessions/make_own_formats.py` from anywhere; its output is always the same.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
CWD = "/home/sam/shop"
MODEL = "sample-model"


def _time(step: int, day: int = 2) -> str:
    return f"2026-09-{day:02}T09:{step // 60 % 60:02}:{step % 60:02}.000Z"


class GeminiCli:
    """Lines of a Gemini CLI session, in which a message is written again when its call has returned."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = [
            {
                "sessionId": "7c1f2f5e-0000-4000-8000-000000000001",
                "projectHash": "5d41402abc4b2a76b9719d911017c592ae2b1e6f3c6b1e6f0c1c2b1f8a9d7e3f",
                "startTime": _time(0, 1),
                "lastUpdated": _time(0, 1),
                "kind": "main",
            }
        ]
        self._user("<session_context>\nThis is the Gemini CLI. We are setting up the context for our chat.")

    def _line(self, kind: str, content: Any, **fields: Any) -> None:
        number = len(self.lines)
        line = {"id": f"{number:08x}", "timestamp": _time(number, 1), "type": kind, "content": content, **fields}
        self.lines += [line, {"$set": {"lastUpdated": _time(number, 1)}}]

    def _user(self, text: str) -> None:
        self._line("user", [{"text": text}])

    def _model(self, text: str) -> dict[str, Any]:
        used = {"input": 6_000 + 90 * len(self.lines), "output": 40, "cached": 0, "thoughts": 0, "tool": 0}
        self._line("gemini", text, thoughts=[], tokens=used | {"total": sum(used.values())}, model=MODEL)
        return self.lines[-2]

    def prompt(self, text: str) -> None:
        """Add a message of the user."""
        self._user(text)

    def call(self, tool: str, arguments: dict[str, Any], **response: str) -> None:
        """Add a call of the model and its result."""
        message = self._model("")
        name = f"{tool}_{len(self.lines)}"
        result = [{"functionResponse": {"id": name, "name": tool, "response": response}}]
        status = "error" if "error" in response else "success"
        call = {"id": name, "name": tool, "args": arguments, "result": result, "status": status}
        self.lines.append({**message, "toolCalls": [call]})
        self._line("user", result)

    def shell(self, command: str, why: str, output: str, code: int = 0) -> None:
        """Add a shell command of the model and its result."""
        failed = f"Exit Code: {code}\n" if code else ""
        shown = f"Output: {output}\n{failed}Process Group PGID: {4000 + 2 * len(self.lines)}"
        output = f"<untrusted_context>\n{shown}\n</untrusted_context>"
        self.call("run_shell_command", {"command": command, "description": why}, output=output)

    def say(self, text: str) -> None:
        """Add a final message of the model."""
        self._model(text)


def gemini_cli() -> Iterator[dict[str, Any]]:
    """Yield a command that keeps failing in the same way, with varying descriptions; then a second run with work."""
    session = GeminiCli()
    session.prompt("The shop does not start any more. Find out why.")
    session.call("read_file", {"file_path": "shop/start.sh"}, error=f"File not found: {CWD}/shop/start.sh")
    for number in range(24):
        why = ("Start the shop", "Try to start the shop again", "Check whether the shop starts now")[number % 3]
        session.shell("make start", why, "Error: port 8080 is in use", 2)
    session.prompt("Stop what listens on that port first!")
    session.shell("fuser -k 8080/tcp", "Stop the other server", "8080/tcp: 3121")
    session.shell("make start", "Start the shop", "listening on 8080")
    edit = {"file_path": "Makefile", "old_string": "8080", "new_string": "8090"}
    session.call("replace", edit, output="Successfully modified file: Makefile (1 replacements).")
    session.shell("make start", "Start the shop on its new port", "listening on 8090")
    session.say("The shop runs on port 8090.")
    yield from session.lines


class QwenCode:
    """Lines of a Qwen Code session."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []

    def _line(self, kind: str, provenance: str, **fields: Any) -> None:
        number = len(self.lines)
        self.lines.append(
            {
                "uuid": f"u{number}",
                "parentUuid": f"u{number - 1}" if number else None,
                "sessionId": "3b9d6c52-0000-4000-8000-000000000001",
                "timestamp": _time(number, 1),
                "type": kind,
                "provenance": provenance,
                "cwd": CWD,
                "version": "0.24.4",
                **fields,
            }
        )

    def _model(self, part: dict[str, Any]) -> None:
        read = 9_000 + 110 * len(self.lines)
        used = {"promptTokenCount": read, "candidatesTokenCount": 45, "totalTokenCount": read + 45}
        message = {"role": "model", "parts": [part]}
        self._line("assistant", "assistant_output", model=MODEL, message=message, usageMetadata=used)

    def prompt(self, text: str) -> None:
        """Add a message of the user."""
        self._line("user", "real_user", message={"role": "user", "parts": [{"text": text}]})

    def call(self, tool: str, arguments: dict[str, Any], kind: str = "", **response: str) -> None:
        """Add a call of the model and its result."""
        name = f"call_{len(self.lines)}"
        self._model({"functionCall": {"id": name, "name": tool, "args": arguments}})
        told = {"callId": name, "status": "error" if "error" in response else "success"}
        told |= {"errorType": kind} if kind else {}
        parts = [{"functionResponse": {"id": name, "name": tool, "response": response}}]
        self._line("tool_result", "tool_result", message={"role": "user", "parts": parts}, toolCallResult=told)

    def shell(self, command: str, output: str, code: int = 0) -> None:
        """Add a shell command of the model and its result."""
        shown = f"Command: {command}\nDirectory: (root)\nOutput: {output}\nError: (none)\nExit Code: {code}\n"
        response = {"error" if code else "output": f"{shown}Signal: (none)\nProcess Group PGID: (none)"}
        kind = "shell_execute_error" if code else ""
        self.call("run_shell_command", {"command": command, "description": "Run the build"}, kind, **response)

    def compacted(self) -> None:
        """Add a compaction."""
        history = [{"role": "user", "parts": [{"text": "<summary>The build fails.</summary>"}]}]
        payload = {"info": {"compressionStatus": 1}, "compressedHistory": history}
        self._line("system", "system", subtype="chat_compression", systemPayload=payload)

    def say(self, text: str) -> None:
        """Add a final message of the model."""
        self._model({"text": text})


def qwen_code() -> Iterator[dict[str, Any]]:
    """Yield work, then a build that fails as before, three times after a compaction."""
    session = QwenCode()
    session.prompt("Show the stock of each article on its page.")
    for number in range(4):
        page = {"file_path": f"{CWD}/pages/{number}.ts", "old_string": "price", "new_string": "price, stock"}
        session.call("edit", page, output=f"The file: {CWD}/pages/{number}.ts has been updated.")
    session.shell("npm run build", "built 4 pages")
    session.say("Each page shows the stock.")
    session.prompt("Now with the size of the parcel.")
    session.call("parcel_size", {}, "tool_not_registered", error='Tool "parcel_size" not found in registry.')
    for _ in range(3):
        session.shell("npm run build", "error TS2304: Cannot find name 'parcel'.", 2)
    session.compacted()
    for _ in range(5):
        session.shell("npm run build", "error TS2304: Cannot find name 'parcel'.", 2)
    yield from session.lines


class Copilot:
    """Events of a Copilot CLI session."""

    def __init__(self, session: str) -> None:
        self.events: list[dict[str, Any]] = []
        self.agent: str | None = None
        self._turn = 0
        self.event("session.start", sessionId=session, version=1, producer="copilot-agent", copilotVersion="1.0.102")

    def event(self, kind: str, **data: Any) -> None:
        """Add an event."""
        number = len(self.events)
        entry: dict[str, Any] = {"type": kind, "data": data, "id": f"{number:08x}-0000-4000-8000-000000000000"}
        if self.agent is not None:
            entry["agentId"] = self.agent
        self.events.append(entry | {"timestamp": _time(number), "parentId": self.events[-1]["id"] if number else None})

    def prompt(self, text: str, **more: Any) -> None:
        """Add a message of the user, or one on behalf of the user."""
        self._turn = 0
        self.event("user.message", content=text, delivery="idle", **more)

    def turn(self, *calls: tuple[str, dict[str, Any], str], **ended: Any) -> None:
        """Add a message of the model, with calls that run in parallel or with a text."""
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
    """Yield a linter that keeps failing in the same way, in a shell with a new number each time; then work."""
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
        """Add a message of the user, or one of opencode on behalf of the user."""
        self._message("user", [{"type": "text", **part}], agent="build")

    def say(self, *parts: dict[str, Any], **info: Any) -> None:
        """Add a final message of the model."""
        read = 8_000 + 90 * len(self.messages)
        tokens = {"total": read + 40, "input": read, "output": 40, "reasoning": 0, "cache": {"read": 0, "write": 0}}
        self._message("assistant", list(parts), finish="stop", tokens=tokens, **info)

    def call(self, tool: str, given: dict[str, Any], **state: Any) -> None:
        """Add a call of the model and its result."""
        state = {"status": "completed", "input": given, **state}
        self.say({"type": "tool", "tool": tool, "callID": f"call_{len(self.messages)}", "state": state})


def opencode() -> dict[str, Any]:
    """Yield two files that are read in turn before and after a compaction; then a second run with work."""
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


LINES: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {
    "gemini-cli.jsonl": gemini_cli,
    "qwen-code.jsonl": qwen_code,
    "copilot-cli.jsonl": copilot_cli,
}


def sessions() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file."""
    for name, make in LINES.items():
        yield name, "".join(json.dumps(line) + "\n" for line in make())
    yield "opencode.json", json.dumps(opencode(), indent=1) + "\n"


def main() -> None:
    """Write the files."""
    for name, text in sessions():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()
