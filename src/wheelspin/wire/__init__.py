"""Message formats that several hosts share: how calls and outcomes are read from their messages."""
