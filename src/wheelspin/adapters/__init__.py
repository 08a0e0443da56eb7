"""The adapters: one file, one framework. Each imports its framework; nothing here does."""

from __future__ import annotations

__all__ = ["ADAPTERS"]

ADAPTERS = (
    "agent_framework",
    "callables",
    "claude_agent_sdk",
    "google_adk",
    "langchain",
    "mcp",
    "pydantic_ai",
    "strands",
    "openai_agents",
    "litellm",
    "mcp",
)
"""The members of the family, by the names of their files."""
