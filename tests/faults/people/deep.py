"""Deep researches in the campaign: what is asked for, each kind with its own share."""

import random
from dataclasses import dataclass
from typing import Any

from tests.faults.site.pages import NAMES, NEVER, SLOW

AT = "/api/v1/agent-workflows"
# As the first of a run, which has its project alone; as those after it, which share one that holds a page
# already; and as one that is stopped.
_SHARES: tuple[dict[str, int], ...] = (
    {"scrape": 3, "full_pipeline": 1},
    {"full_pipeline+": 5, "analyze+": 4, "full_pipeline": 1, "scrape": 2},
    {"analyze+": 5, "full_pipeline+": 3, "analyze": 1, "scrape": 1},
    {"scrape": 2, "full_pipeline+": 1, "analyze+": 1, "slow": 4},
)
_GROWS = "+"
_ALONE = {0}


@dataclass(frozen=True)
class DeepResearch:
    """A research that was begun: its number, its workflow, and the tree that it grows."""

    number: int
    workflow_id: str
    grows: int | None


@dataclass(frozen=True)
class AskedFor:
    """What somebody wants: a task type, in a project that others use too, to grow that project's tree.

    `slow`: pages that come slowly are read one after the other, so that it can be stopped meanwhile.
    """

    number: int
    task_type: str
    shared: bool
    grows: bool
    slow: bool

    def body(self, run: int, origin: str, never: str, *, project: int, tree: int) -> dict[str, Any]:
        """The request: the pages of this run, on a site at `origin`; the project and tree that are there.

        One is on a host that is never read, at the origin `never`.
        """
        config = {"language": "any", "scrape_parallel": not self.slow}
        asked: dict[str, Any] = {
            "task_type": self.task_type,
            "user_query": f"How do watermills turn in winter, and who runs them? Run {run}",
            "config": config | ({"category_id": tree} if self.grows else {}),
            "request_id": f"run-{run}-{self.number}",
        }
        asked |= {"project_id": project} if self.shared else {"topic": "macro"}
        if self.task_type != "analyze":
            names = [f"{origin}/{run}/{name}" for name in (SLOW if self.slow else NAMES)]
            asked["urls"] = [*names, f"{never}/{run}/{NEVER}"]
        return asked


def asked(number: int, rng: random.Random) -> AskedFor:
    """What the one of this number in its run is asked for."""
    shares = _SHARES[number]
    [kind] = rng.choices(list(shares), list(shares.values()))
    slow, grows = kind == "slow", kind.endswith(_GROWS)
    return AskedFor(
        number=number,
        task_type="scrape" if slow else kind.removesuffix(_GROWS),
        shared=number not in _ALONE and not slow,
        grows=grows,
        slow=slow,
    )
