"""The tools of operations: they begin one, follow it, decide at its gates, and hand its results over."""
