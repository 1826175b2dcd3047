"""What makes agents durable: directory, model client, prompts, runner, journal, gate, vector index."""
