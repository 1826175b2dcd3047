"""What makes agents durable: directory, model client, prompts, runner, checkpoints, gate, vector index."""
