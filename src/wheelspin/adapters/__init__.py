"""The adapters, one file per framework. Importing an adapter imports its framework; importing this package does not."""

from __future__ import annotations

__all__ = ["ADAPTERS"]

ADAPTERS = (
    "agent_framework",
    "callables",
    "claude_agent_sdk",
    "google_adk",
    "langchain",
    "litellm",
    "mcp",
    "openai_agents",
    "pydantic_ai",
    "strands",
)
"""Names of the adapter modules."""
