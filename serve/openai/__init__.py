"""The door for OpenAI clients, `/v1`: what they ask, what they are told, and their errors."""
