"""What every error raised on purpose is."""

from typing import Any, ClassVar


class SignoffError(Exception):
    """Something Signoff refuses or could not do. `facts` are for programs: members of the problem details."""

    http_status: ClassVar[int] = 500
    outage: ClassVar[bool] = False

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.facts = facts
