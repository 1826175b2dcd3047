"""Fetching pages: engines, the choice between them, and what an answer comes to."""
