"""Sentences: where they end, and those of a source with their places."""
