"""Intents of research: what a message asks for, by examples and by signs. Seed 002, FR1 and §5."""
