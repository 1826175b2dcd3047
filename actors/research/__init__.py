"""Research: from a question to approved sources, to what they say, to sentences that cite it."""
