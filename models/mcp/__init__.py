"""What MCP servers offer and answer, as records. Who speaks with them is `actors.platform.mcp`."""
