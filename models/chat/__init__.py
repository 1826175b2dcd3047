"""The chat's records: messages, acts that wait for a yes, conversations, intents."""
