"""Models that the site serves itself: vLLM, the embedding model, and the key that opens them."""
