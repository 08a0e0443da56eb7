"""The user's files on disk: where they are, and how they are changed without harm."""
