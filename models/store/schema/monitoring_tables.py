"""The schema of what `/metrics` counts; see `models.store.upkeep.observations`.

The rest of `models.store.schema.tables`, on the same metadata. What is observed of workflows, approvals,
deliveries, sources and model calls is written by `models.store.schema.triggers`.
"""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from models.store.schema.columns import PASSING, column_text, metadata

incoming_observations = sa.Table(
    "incoming_observations",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(), primary_key=True),
    column_text("measure"),
    sa.Column("labels", ARRAY(sa.Text), nullable=False),
    # By which its bucket is found, in seconds. `total` is that of all `times`.
    sa.Column("value", sa.Double, nullable=False),
    sa.Column("times", sa.BigInteger, nullable=False, server_default="1"),
    sa.Column("total", sa.Double, nullable=False),
    postgresql_with=PASSING,
)
observation_counts = sa.Table(
    "observation_counts",
    metadata,
    column_text("measure", primary_key=True),
    sa.Column("labels", ARRAY(sa.Text), primary_key=True),
    sa.Column("up_to", sa.Double, primary_key=True),
    sa.Column("times", sa.BigInteger, nullable=False),
    sa.Column("total", sa.Double, nullable=False),
)
