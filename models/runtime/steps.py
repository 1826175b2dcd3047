"""What a step keeps whose outcome is rows of the database: that they are written."""

from models.record import Record


class StepKept(Record):
    """That a step's rows are written; `count` is of what it came to."""

    count: int = 0
