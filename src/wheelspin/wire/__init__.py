"""Message formats that several hosts share: what in a message is a call, and what an outcome."""
