"""Looking after a database: what it holds, what is too old, what it is busy with."""
