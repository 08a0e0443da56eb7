"""A model on loopback that follows a script: it calls tools, turn by turn, and then ends the task."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.agents.dialect import Dialect, Reply, Shown, ToolCalled, Turn, as_json
from tests.agents.dialects import anthropic, gemini, openai_chat, openai_responses

__all__ = ["Ask", "ScriptedModel"]

Ask = tuple[str, dict[str, Any]]
"""Name of a tool, and its arguments."""
_DIALECTS: list[Dialect] = [
    anthropic.DIALECT,
    gemini.DIALECT,
    openai_chat.DIALECT,
    openai_responses.DIALECT,
]
_TO_SHORTEN = ("Your task is to create a detailed summary", "TEXT ONLY", "CONTEXT CHECKPOINT", "state_snapshot")
_ASIDE = 9999
"""Number of turns that are not part of the task, such as summaries."""
_OTHERS = {
    "/count_tokens": {"input_tokens": 10},
    ":countTokens": {"totalTokens": 10},
    "/models": {"object": "list", "data": [{"id": "scripted", "object": "model"}], "models": []},
}


class ScriptedModel:
    """
    A server that speaks all dialects.

    Args:
        script: Returns the calls of a turn, counted from 0; an empty list ends the task.
        tokens: Returns the input tokens reported for a turn. A large number makes an agent compact its context.
        to_shorten: Texts by which a request for a summary is recognised, in addition to the known ones.
        summary_tokens: Input tokens reported for a summary. Some agents calculate from it how much context is left.
    """

    def __init__(
        self,
        script: Callable[[int], list[Ask]],
        tokens: Callable[[int], int] = lambda _: 100,
        to_shorten: tuple[str, ...] = (),
        summary_tokens: int = 50,
    ) -> None:
        self._script = script
        self._tokens = tokens
        self._to_shorten = (*_TO_SHORTEN, *to_shorten)
        self._summary_tokens = summary_tokens
        self.turns = 0
        self.requests: list[dict[str, Any]] = []
        """Bodies of the requests that belong to the task."""
        self.shortened = 0
        """Number of requests for a summary."""
        self._dialect = _DIALECTS[0]
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def shown(self) -> list[Shown]:
        """Return the tool results in the newest request."""
        return self._dialect.shown(self.requests[-1]) if self.requests else []

    def heard(self) -> str:
        """Return the newest request as one text."""
        return json.dumps(self.requests[-1]) if self.requests else ""

    def _turn(self, dialect: Dialect, body: dict[str, Any]) -> Turn:
        last = json.dumps(dialect.last(body))
        with self._lock:
            if any(sign in last for sign in self._to_shorten):
                self.shortened += 1
                return Turn(_ASIDE, [], "<summary>the same command again and again</summary>", self._summary_tokens)
            if not dialect.has_tools(body):
                return Turn(_ASIDE, [], "ok", 50)
            turn, self.turns = self.turns, self.turns + 1
            self.requests.append(body)
            self._dialect = dialect
        asked = [
            ToolCalled(f"call_{turn:04}_{place}", tool, given) for place, (tool, given) in enumerate(self._script(turn))
        ]
        return Turn(turn, asked, "done", self._tokens(turn))

    def _answer(self, path: str, body: dict[str, Any]) -> Reply:
        for dialect in _DIALECTS:
            if dialect.speaks(path):
                return dialect.write(self._turn(dialect, body), body, path)
        return _other(path)

    def _handler(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - the handler is the inner self
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                """Log nothing."""

            def _send(self, reply: Reply) -> None:
                self.send_response(200)
                self.send_header("Content-Type", reply.kind)
                self.send_header("Content-Length", str(len(reply.content)))
                self.end_headers()
                self.wfile.write(reply.content)

            def do_HEAD(self) -> None:
                self._send(Reply(b"", "text/plain"))

            def do_GET(self) -> None:
                self._send(_other(self.path.split("?")[0]))

            def do_POST(self) -> None:
                content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.headers.get("Content-Encoding") == "gzip":
                    content = gzip.decompress(content)
                self._send(model._answer(self.path.split("?")[0], json.loads(content or b"{}")))

        return Handler


def _other(path: str) -> Reply:
    """Answer a request that is not for the model."""
    return as_json(next((answer for end, answer in _OTHERS.items() if path.endswith(end)), {}))
