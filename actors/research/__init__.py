"""Research: from a question to a tree of what sources say."""
