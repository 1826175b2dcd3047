"""How long what has happened is kept."""

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from models.config.fields import Count, Positive, Section, refuse_null

Forever = Literal["forever"]
# At most a century: Postgres has no time before 4713 BC to count back to.
_Days = Annotated[float, Field(gt=0, le=36_500)]
_DaysOrForever = Annotated[
    Annotated[_Days, Tag("days")] | Annotated[Forever, Tag("forever")],
    Discriminator(lambda said: "forever" if isinstance(said, str) else "days"),
    refuse_null("forever"),
]


class RetentionConfig(Section):
    """Days that ended work is kept for, at most 36,500; what an approval rests on is kept for ever.

    `documents_days` is of workflows that succeeded or were cancelled: one that failed may be begun again
    from its documents. `conversations_days: forever`: until their owners delete them. A step deletes up to
    `step_rows`, then rests for `pause_seconds`; a sweep over everything begins `every_seconds`.
    """

    events_days: _Days  # of what happened, in streams and histories
    tool_calls_days: _Days  # the audit trail
    deliveries_days: _Days  # after they were sent or given up
    model_calls_days: _Days  # tokens, latency and prompt digests
    documents_days: _Days
    conversations_days: _DaysOrForever
    step_rows: Count
    pause_seconds: Positive
    every_seconds: Positive
