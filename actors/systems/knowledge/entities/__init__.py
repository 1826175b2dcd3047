"""Entities: which of them are one and the same, across sources."""
