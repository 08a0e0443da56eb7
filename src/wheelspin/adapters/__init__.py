"""The adapters: one file, one framework. Each imports its framework; nothing here does."""

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
"""The members of the family, by the names of their files."""
