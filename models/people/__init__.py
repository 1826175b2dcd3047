"""People: who they are, what they may do, and which names are too alike."""
