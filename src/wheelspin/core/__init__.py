"""
The engine: events in, verdicts out.

It has no I/O, no clock and no threads, and it keeps digests, never arguments or results.
"""
