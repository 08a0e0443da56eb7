"""MCP: results of tools, and the schemas that they are held to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wheelspin.core.events import Outcome

__all__ = ["KEY", "advised", "outcome_of", "refusal", "widened"]

KEY = "wheelspin"
"""Where an advice stands in structured content."""
_VERSION = "io.modelcontextprotocol/protocolVersion"
_CLOSED = frozenset(
    {
        *("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "const", "enum"),
        *("dependentSchemas", "patternProperties", "propertyNames", "maxProperties", "unevaluatedProperties"),
    }
)
"""Keys of a schema of objects in which one more property may be wrong."""
_MEASURED = frozenset({"$ref", "allOf", "anyOf", "oneOf", "not", "const", "enum", "pattern", "format", "maxLength"})
"""Keys of a schema of texts in which a longer text may be wrong."""


def outcome_of(result: Mapping[str, Any]) -> Outcome | None:
    """
    Give the outcome that a result of `tools/call` tells.

    Args:
        result: The result, as it is on the wire. What is under `_meta` does not count.

    Returns:
        The outcome; `None` where it is none yet: the server asks the client for input, or goes on as a task.

    Example:
        >>> outcome_of({"content": [{"type": "text", "text": "found"}]}).value
        'found'
    """
    content, structured = result.get("content"), result.get("structuredContent")
    if result.get("resultType", "complete") != "complete" or (content is None and structured is None):
        return None
    said = _text_of(content)
    if result.get("isError") is True:
        return Outcome.error(said if structured is None else {"content": said, "structuredContent": structured})
    if structured is not None:
        return Outcome.result({"content": said, "structuredContent": structured})
    return Outcome.result(said if isinstance(said, str) else {"content": said})


def _text_of(content: Any) -> Any:
    """Give a lone block of text as its text, all else as it is."""
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        only = content[0]
        if only.get("type") == "text":
            return only.get("text")
    return content


def refusal(advice: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """
    Give the result of a call that must not run.

    Args:
        advice: The advice.
        params: The call's parameters: since 2026-07-28 they tell the protocol's version, and results say their type.

    Example:
        >>> refusal("Stop.", {"name": "read"})
        {'content': [{'type': 'text', 'text': 'Stop.'}], 'isError': True}
    """
    result = {"content": [_block(advice)], "isError": True}
    meta = params.get("_meta")
    return {**result, "resultType": "complete"} if isinstance(meta, dict) and _VERSION in meta else result


def advised(result: Mapping[str, Any], advice: str) -> dict[str, Any]:
    """
    Give a result with an advice: in a block of its own, and in the structured content, which some clients show alone.

    Args:
        result: The result, as it is on the wire.
        advice: The advice.

    Example:
        >>> advised({"content": [], "structuredContent": {"a": 1}}, "Stop.")["structuredContent"]
        {'wheelspin': 'Stop.', 'a': 1}
    """
    content, structured = result.get("content"), result.get("structuredContent")
    given = {**result, "content": [*(content if isinstance(content, list) else []), _block(advice)]}
    if isinstance(structured, dict):
        given["structuredContent"] = {KEY: advice, **structured}
    elif isinstance(structured, str):
        given["structuredContent"] = f"{structured}\n\n{advice}"
    else:
        given.pop("structuredContent", None)
    return given


def widened(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """
    Give a schema of structured content that an advice fits into, too.

    Args:
        schema: The schema that the server declares.

    Returns:
        The schema, with one more property if it is of objects; `None` where that cannot be told to be right: then the
        tool is to declare none, since clients refuse what does not fit.

    Example:
        >>> widened({"type": "object", "properties": {}, "additionalProperties": False})["properties"]
        {'wheelspin': {'type': 'string'}}
    """
    properties = schema.get("properties", {})
    if schema.get("type") == "string" and _MEASURED.isdisjoint(schema):
        return dict(schema)
    if schema.get("type") != "object" or not isinstance(properties, dict) or not _CLOSED.isdisjoint(schema):
        return None
    return {**schema, "properties": {KEY: {"type": "string"}, **properties}}


def _block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
