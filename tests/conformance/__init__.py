"""The official conformance suite of MCP, against our own door and our own client."""
