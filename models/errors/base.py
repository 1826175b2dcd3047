"""What every error raised on purpose is."""

from typing import Any, ClassVar

from models.redaction import redacted, redacted_within


class SignoffError(Exception):
    """Something Signoff refuses or could not do. `facts` are for programs: members of the problem details.

    It holds no secret, whatever it was made of: it is told to people, kept and logged.
    """

    http_status: ClassVar[int] = 500
    outage: ClassVar[bool] = False

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(redacted(message))
        self.facts: dict[str, Any] = {name: redacted_within(fact) for name, fact in facts.items()}
