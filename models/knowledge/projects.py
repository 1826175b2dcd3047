"""Projects: what a body of knowledge belongs to. Seed 002 §10 (multi-tenant isolation)."""

from datetime import datetime

from models.record import Record


class Project(Record):
    """A project. Whoever is an analyst of its topic, or more, works in it; nobody else is told of it."""

    id: int
    topic: str
    name: str
    created_by: str
    created_at: datetime
