"""Operations: a plan that a human approves, agents that ask MCP servers, results that a human approves."""
