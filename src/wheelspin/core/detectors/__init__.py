"""
The detectors, in the order in which they are asked (SPEC 6).

One file, one kind of loop. To add one, write its file and name it here.
"""

from wheelspin.core.detectors.generic_repeat import GenericRepeat
from wheelspin.core.detectors.global_circuit_breaker import GlobalCircuitBreaker
from wheelspin.core.detectors.known_poll_no_progress import KnownPollNoProgress
from wheelspin.core.detectors.ping_pong import PingPong
from wheelspin.core.detectors.unknown_tool_repeat import UnknownToolRepeat

__all__ = ["DETECTORS"]

DETECTORS = (
    UnknownToolRepeat(),
    GlobalCircuitBreaker(),
    KnownPollNoProgress(),
    GenericRepeat(),
    PingPong(),
)
