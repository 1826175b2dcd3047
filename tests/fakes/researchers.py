"""Agents of a research for tests with real processes: branches that report to a barrier, the rest as it is.

A brief's query ends with the barrier's address: `rates at 127.0.0.1:4711`.
"""

import os

from actors.platform import systems
from actors.platform.system import AgentRole
from models.content.drafting import Branch, Finding, Findings, SearchBrief
from tests.fakes.barrier import report


class Finder:
    """One branch: reports that it was asked, and finds one text of its own."""

    def __init__(self, *, branch: Branch) -> None:
        self._branch = branch

    async def find(self, brief: SearchBrief) -> Findings:
        """A text, once the barrier lets it through."""
        address = brief.query.rpartition(" ")[2]
        await report(address, workflow=brief.query, step=self._branch, pid=os.getpid())
        name = f"Found by {self._branch}"
        found = Finding(
            kind="text", name=name, description=None, content=f"{name}: {brief.query}.", source="test"
        )
        return Findings(branch=self._branch, found=(found,))


def _finder(branch: Branch) -> AgentRole:
    return "tests.fakes.researchers:Finder", lambda config, directory: {"branch": branch}


ROLES: dict[str, AgentRole] = {
    "web_search": _finder("web_search"),
    "data_download": _finder("data_download"),
    "resource_query": _finder("resource_query"),
    "drafter": systems.roles()["drafter"],
}
