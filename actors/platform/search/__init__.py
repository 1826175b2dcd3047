"""Finding by words and by meaning: hybrid search, the article index, the knowledge base."""
