"""MCP: results of tools, and the schemas of their structured content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wheelspin.core.events import Outcome
from wheelspin.wire.advice import KEY

__all__ = ["advised", "outcome_of", "refusal", "widened"]

_VERSION = "io.modelcontextprotocol/protocolVersion"
_CLOSED = frozenset(
    {
        *("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "const", "enum"),
        *("dependentSchemas", "patternProperties", "propertyNames", "maxProperties", "unevaluatedProperties"),
    }
)
"""Keys with which an object schema may reject an additional property."""
_MEASURED = frozenset({"$ref", "allOf", "anyOf", "oneOf", "not", "const", "enum", "pattern", "format", "maxLength"})
"""Keys with which a string schema may reject a longer text."""


def outcome_of(result: Mapping[str, Any]) -> Outcome | None:
    """
    Return the outcome of a result of `tools/call`.

    Args:
        result: The result as it is on the wire. Its `_meta` is not part of the outcome.

    Returns:
        The outcome; `None` if there is none yet because the server asks for input or continues as a task.

    Example:
        >>> outcome_of({"content": [{"type": "text", "text": "found"}]}).value
        'found'
    """
    content, structured = result.get("content"), result.get("structuredContent")
    if result.get("resultType", "complete") != "complete" or (content is None and structured is None):
        return None
    shown = _text_of(content)
    if result.get("isError") is True:
        return Outcome.error(shown if structured is None else {"content": shown, "structuredContent": structured})
    if structured is not None:
        return Outcome.result({"content": shown, "structuredContent": structured})
    return Outcome.result(shown if isinstance(shown, str) else {"content": shown})


def _text_of(content: Any) -> Any:
    """Return a single text block as its text, everything else unchanged."""
    if isinstance(content, list) and len(content) == 1 and isinstance(content[0], dict):
        only = content[0]
        if only.get("type") == "text":
            return only.get("text")
    return content


def refusal(advice: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the result of a blocked call.

    Args:
        advice: The advice.
        params: The parameters of the call. From protocol version 2026-07-28 they contain the version, and results
            have a type.

    Example:
        >>> refusal("Stop.", {"name": "read"})
        {'content': [{'type': 'text', 'text': 'Stop.'}], 'isError': True}
    """
    result = {"content": [_block(advice)], "isError": True}
    meta = params.get("_meta")
    return {**result, "resultType": "complete"} if isinstance(meta, dict) and _VERSION in meta else result


def advised(result: Mapping[str, Any], advice: str) -> dict[str, Any]:
    """
    Return a result with advice in a block of its own and in the structured content, which some clients show alone.

    Args:
        result: The result as it is on the wire.
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
    Return a schema of structured content that also allows advice.

    Args:
        schema: The schema that the server declares.

    Returns:
        The schema, with an additional property if it describes objects; `None` if it may reject advice. The tool must
        then declare no schema, since clients reject content that does not match.

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
