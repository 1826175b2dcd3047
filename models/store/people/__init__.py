"""Who calls, what they may, what they said and what they did, in SQL."""
