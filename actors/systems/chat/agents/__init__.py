"""The agents that people talk to, one module each, and what only they share."""
