"""Webhooks: their records, what they say, and their sealed secrets."""
