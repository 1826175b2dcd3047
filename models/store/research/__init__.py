"""Research in Postgres: what was asked for, found, decided, done and said. Seed 002 §4."""
