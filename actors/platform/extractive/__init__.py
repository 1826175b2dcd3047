"""Quoting: texts made of sentences of their sources, word for word, and of figures that code computed."""
