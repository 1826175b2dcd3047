"""The research system: from a question to approved sources, and to what they say. Seed 002."""
