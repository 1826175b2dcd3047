"""One turn of a conversation: what the agent works with, asks, is told and replies."""
