"""The user's files on disk: where they are, and how to change them safely."""
