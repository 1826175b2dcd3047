"""Operations: a plan that a person approves, agents that read systems over MCP, results that a person approves."""
