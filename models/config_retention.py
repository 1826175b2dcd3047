"""How long what has happened is kept."""

from models.config_fields import Count, Positive, Section


class RetentionConfig(Section):
    """Days that ended work is kept for; what an approval rests on is kept for ever.

    `documents_days` is of workflows that succeeded or were cancelled: one that failed may be begun again
    from its documents. `conversations_days` null: until their owners delete them. A step deletes up to
    `step_rows`, then rests for `pause_seconds`; a sweep over everything begins `every_seconds`.
    """

    events_days: Positive
    tool_calls_days: Positive
    deliveries_days: Positive
    model_calls_days: Positive
    documents_days: Positive
    conversations_days: Positive | None
    step_rows: Count
    pause_seconds: Positive
    every_seconds: Positive
