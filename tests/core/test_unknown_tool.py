"""Unknown tools: recognised by the error text, if it names the called tool (SPEC 4.3)."""

from __future__ import annotations

import pytest

from wheelspin.core.unknown_tool import says_unknown_tool

SAYS = [
    "unknown tool: frobnicate",
    "Unknown tool 'frobnicate'",
    "Tool frobnicate not found",
    'Tool "frobnicate" not found in registry.',
    "tool 'frobnicate' is not available",
    "Tool frobnicate does not exist.",
    "<tool_use_error>Error: No such tool available: frobnicate</tool_use_error>",
    "Error: frobnicate is not a valid tool, try one of [read, write].",
    "Model tried to call unavailable tool 'frobnicate'. Available tools: read.",
    "There is no tool named `Frobnicate`",
    "Unknown function: frobnicate.",
    "tool not found: frobnicate",
]
SAYS_NOT = [
    "tool cmake not found",
    "Tool frobnicate2 not found",
    "frobnicate: command not found",
    "unknown tool",
    "Tool frobnicate failed: file not found",
    "",
    "x" * 1000 + " tool frobnicate not found",
    None,
    ["unknown tool: frobnicate"],
]


@pytest.mark.parametrize("text", SAYS)
def test_a_text_that_names_the_called_tool_is_recognised(text: str) -> None:
    """Hosts word it in many ways."""
    assert says_unknown_tool(("Frobnicate", "frobnicate"), text)


@pytest.mark.parametrize("text", SAYS_NOT)
def test_any_other_text_is_an_ordinary_error(text: object) -> None:
    """A command that misses another command, and a tool that fails, are there."""
    assert not says_unknown_tool(("frobnicate",), text)


@pytest.mark.parametrize("name", ["mcp__server__tool", "developer__shell", "functions.read", "a-b", "a/b:c"])
def test_names_with_any_usual_signs_are_recognised(name: str) -> None:
    """Hosts build names with dots, dashes, slashes and colons."""
    assert says_unknown_tool((name,), f"Tool {name} not found")
