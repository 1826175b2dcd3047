"""A scripted model: over real HTTP, and in place of the client."""
