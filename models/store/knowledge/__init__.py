"""Projects, sources and what is known from them, in Postgres."""
