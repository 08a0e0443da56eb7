"""The status that an outcome has."""

from __future__ import annotations

import pytest

from wheelspin import Outcome, ToolHint
from wheelspin.core.outcome_status import FAILURE, MUTATION, OUTAGE, REFUSAL, SUCCESS, WAIT
from wheelspin.core.status_reading import status_of
from wheelspin.core.tools import Tool

TOOL = Tool("any")
STATUSES = [
    (Outcome.result("the text of a file"), SUCCESS),
    (Outcome.result(""), SUCCESS),
    (Outcome.result(None), SUCCESS),
    (Outcome.result(429), SUCCESS),
    (Outcome.result([1, 2]), SUCCESS),
    (Outcome.result({"ok": True}), SUCCESS),
    (Outcome.result("429 rows were updated in 503 tables"), SUCCESS),
    (Outcome.result("def retry_on_503():\n    wait()\n" * 20), SUCCESS),
    (Outcome.result("3 tests are running in parallel mode, all passed"), SUCCESS),
    (Outcome.result({"status": "completed", "exitCode": 0}), SUCCESS),
    (Outcome.shell("done", exit_code=0), SUCCESS),
    (Outcome.missing(), SUCCESS),
    (Outcome.error("no such file"), FAILURE),
    (Outcome.error({"why": "no"}), FAILURE),
    (Outcome.unknown_tool("unknown tool: x"), FAILURE),
    (Outcome.result("Error: no such file"), FAILURE),
    (Outcome.result("Traceback (most recent call last):\n  …"), FAILURE),
    (Outcome.result({"ok": False}), FAILURE),
    (Outcome.result({"success": False, "message": "no"}), FAILURE),
    (Outcome.result({"isError": True, "content": []}), FAILURE),
    (Outcome.result({"details": {"status": "failed", "exitCode": 1}, "content": []}), FAILURE),
    (Outcome.result({"returncode": 2, "output": "x"}), FAILURE),
    (Outcome.shell("boom", status="failed", exit_code=1), FAILURE),
    (Outcome.shell("", timed_out=True), FAILURE),
    (Outcome.error("503 upstream unavailable"), OUTAGE),
    (Outcome.error("429 rate limited"), OUTAGE),
    (Outcome.error("HTTP 502: bad gateway"), OUTAGE),
    (Outcome.error("connect ECONNREFUSED 10.0.0.1:80"), OUTAGE),
    (Outcome.error("Request timed out"), OUTAGE),
    (Outcome.error("the model is currently overloaded"), OUTAGE),
    (Outcome.result("HTTP 429 Too Many Requests"), OUTAGE),
    (Outcome.result({"content": [{"type": "text", "text": "Error: 503 Service Unavailable"}]}), OUTAGE),
    (Outcome.result({"success": False, "message": "connection refused"}), OUTAGE),
    (Outcome.error("TimeoutError is not defined in module x " * 80), FAILURE),
    (Outcome.error("401 Unauthorized"), FAILURE),
    (Outcome.error("network unreachable"), FAILURE),
    (Outcome.denied("no"), REFUSAL),
    (Outcome.error("declined by user"), REFUSAL),
    (Outcome.error("The user doesn't want to proceed with this tool use"), REFUSAL),
    (Outcome.error("Permission denied"), FAILURE),
    (Outcome.result("check: pending"), WAIT),
    (Outcome.result("status: running"), WAIT),
    (Outcome.result("The job is still running"), WAIT),
    (Outcome.result({"state": "running"}), WAIT),
    (Outcome.result({"status": "in-progress", "done": 3}), WAIT),
    (Outcome.shell("not finished yet", status="running"), WAIT),
]


@pytest.mark.parametrize(("outcome", "status"), STATUSES, ids=[f"{outcome.value!r:.40}" for outcome, _ in STATUSES])
def test_an_outcome_says_what_it_is(outcome: Outcome, status: str) -> None:
    """By the host's word, by its own fields, or by a text that is nothing but a remark."""
    assert status_of(TOOL, outcome) == status


def test_a_success_of_a_tool_that_mutates_is_a_change() -> None:
    """A failure of it is none."""
    tool = TOOL.hinted(ToolHint(mutates=True))

    assert status_of(tool, Outcome.result("updated")) == MUTATION
    assert status_of(tool, Outcome.error("no")) == FAILURE
