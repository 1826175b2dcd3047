"""Operations: agents read systems over MCP by a plan that a person approved, who approves what came of it."""
