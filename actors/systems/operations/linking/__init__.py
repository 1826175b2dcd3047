"""What agents found, linked by code: which items are about the same, by what, and where they contradict."""
