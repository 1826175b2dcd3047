"""The schema, whole, as `models.store.schema` declares it.

A site of release 0.1.0 stands here too, with less: what it lacks is added by 0027.
"""

from alembic import op

from models.store.schema import whole

revision = "0003"
down_revision = None
phase = "before"


def upgrade() -> None:
    """Make all of it, in an empty database."""
    whole.create(op.get_bind())
