"""
The engine: events in, verdicts out.

It opens nothing, waits for nothing, has no clock and starts no threads; it keeps digests, never arguments or results.
"""
