"""The agents of research."""
