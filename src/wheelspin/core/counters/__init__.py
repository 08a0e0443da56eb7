"""What the history counts as calls come and go: one file, one counter, each answered in constant time."""
