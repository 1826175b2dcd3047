"""The parts of a page: made ready, chosen, and written as Markdown."""
