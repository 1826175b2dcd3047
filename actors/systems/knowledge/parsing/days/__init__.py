"""On which day a page says that it was published: what it tells machines, its address, and what it shows."""
