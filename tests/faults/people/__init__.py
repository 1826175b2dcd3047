"""Who uses the site meanwhile: they ask, decide, submit batches and read."""
