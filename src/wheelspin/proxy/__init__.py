"""The guard between an agent and what it talks to: an MCP server, or a model."""
