"""The tools of operations: to begin one, to follow it, to decide at its gates, and to hand its results over."""
