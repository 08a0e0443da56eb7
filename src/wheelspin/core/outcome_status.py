"""The status of an outcome: what the answer of a tool says about itself, beyond its content."""

from __future__ import annotations

from enum import StrEnum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

__all__ = ["FAILED", "SUCCESSFUL", "OutcomeStatus"]


class OutcomeStatus(StrEnum):
    """
    How a call ended, as far as its outcome says.

    A failure that stays the same is a loop, where a success that stays the same may be good work. An outage passes by
    itself, a pending job is asked for again, and a refusal is somebody's decision.
    """

    SUCCESS = "success"
    """It worked, as far as one can see."""
    MUTATION = "mutation"
    """It worked, and the tool is declared to change something (`mutates`, SPEC 6.3)."""
    FAILURE = "failure"
    """It failed."""
    OUTAGE = "outage"
    """The service behind the tool is down or overloaded: 429, 5xx, a timeout, a refused connection."""
    REFUSAL = "refusal"
    """A person or a rule refused the call."""
    WAIT = "wait"
    """What it asks about is still pending."""


SUCCESS: Final = OutcomeStatus.SUCCESS
MUTATION: Final = OutcomeStatus.MUTATION
FAILURE: Final = OutcomeStatus.FAILURE
OUTAGE: Final = OutcomeStatus.OUTAGE
REFUSAL: Final = OutcomeStatus.REFUSAL
WAIT: Final = OutcomeStatus.WAIT

FAILED = (FAILURE, OUTAGE, REFUSAL)
"""The statuses of a call that did not work. A tuple: membership is then a matter of identity, not of hashing."""
SUCCESSFUL = (SUCCESS, MUTATION)
"""The statuses of a call that worked."""
