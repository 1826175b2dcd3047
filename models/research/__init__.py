"""Research: what is asked for, found, approved, read and put together. Seed 002."""
