"""What the history counts as steps come and go: one file, one tally, each answered in constant time."""
