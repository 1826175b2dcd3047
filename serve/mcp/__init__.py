"""The door for MCP clients, `/mcp`."""
