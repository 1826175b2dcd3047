"""The client of the MCP servers that a site is configured to use (`mcp.servers`); it knows no system."""
