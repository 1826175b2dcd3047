"""Telling what a text asks for by examples: features, the arithmetic, its training, and a file of weights."""
