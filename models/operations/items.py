"""What agents of an operation found: each thing that a tool answered with, with its place there.

All of it is text from outside: it is shown and compared, and never followed.
"""

from collections.abc import Mapping
from typing import Any, Literal

from models.record import Record

SourceAgent = Literal["gmail", "accounts_payable", "crm"]


class SourceItem(Record):
    """One message, bill, account, or whatever it is: an object of a tool's answer, as it was given.

    `id` names it in this operation, such as `gmail/2`. `call` is the number of the agent's call that it came
    with, from 1; `path` is where it stood in that answer (RFC 6901). `mock`: it did not come from the server.
    """

    id: str
    agent: SourceAgent
    server: str
    tool: str
    call: int
    path: str
    data: Mapping[str, Any]
    mock: bool = False
