"""PostgreSQL from the wheel: its server and programs, and the backup and restoring of a site."""
