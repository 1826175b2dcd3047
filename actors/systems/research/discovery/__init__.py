"""Finding pages that may be read for a question: queries, providers, near-duplicates, scores."""
