"""The schema, as SQLAlchemy sees it, and how a database is brought to it."""
