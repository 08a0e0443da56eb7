"""
Proxies that guard an agent from the outside: between it and an MCP server, or between it and a model.

`mcp_relay` guards the messages of one MCP session. `base` defines the endpoints of a session and forwards messages
between them. `mcp_stdio` holds the endpoints over stdin and stdout, `mcp_http` those over HTTP. `model_request` guards
the conversation in a request to a model.
"""
