"""
The detectors, in the order in which they are asked (SPEC 6).

One file, one kind of loop. To add one, write its file and add it here.
"""

from wheelspin.core.detectors.base import Detector
from wheelspin.core.detectors.generic_repeat import GenericRepeat
from wheelspin.core.detectors.global_circuit_breaker import GlobalCircuitBreaker
from wheelspin.core.detectors.immediate_repeat import ImmediateRepeat
from wheelspin.core.detectors.known_poll_no_progress import KnownPollNoProgress
from wheelspin.core.detectors.near_repeat import NearRepeat
from wheelspin.core.detectors.ping_pong import PingPong
from wheelspin.core.detectors.same_failure import SameFailure
from wheelspin.core.detectors.stagnation import Stagnation
from wheelspin.core.detectors.unchanged_failure import UnchangedFailure
from wheelspin.core.detectors.unknown_tool_repeat import UnknownToolRepeat

__all__ = ["DETECTORS"]

DETECTORS: tuple[Detector, ...] = (
    UnknownToolRepeat(),
    GlobalCircuitBreaker(),
    KnownPollNoProgress(),
    GenericRepeat(),
    PingPong(),
    ImmediateRepeat(),
    UnchangedFailure(),
    SameFailure(),
    Stagnation(),
    NearRepeat(),
)
