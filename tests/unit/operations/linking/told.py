"""How well conflicts are told: small cases, what should be told of each, and precision and recall."""

from pathlib import Path
from typing import Any, NamedTuple

import yaml

from actors.systems.operations.linking.link import link
from models.operations.items import SourceAgent, SourceItem

_CASES = Path(__file__).parent / "cases"
_AGENTS: dict[str, SourceAgent] = {"mail": "gmail", "bills": "accounts_payable", "crm": "crm"}


class Case(NamedTuple):
    """Items, and the kinds of conflict that should be told of them."""

    name: str
    told: list[str]
    items: list[SourceItem]


class Telling(NamedTuple):
    """How many conflicts were told rightly and wrongly, and how many were not."""

    right: int
    wrong: int
    missed: int

    @property
    def precision(self) -> float:
        """The share of those told that are right, 0 to 1."""
        return self.right / max(self.right + self.wrong, 1)

    @property
    def recall(self) -> float:
        """The share of those to be told that are, 0 to 1."""
        return self.right / max(self.right + self.missed, 1)


def cases(which: str) -> list[Case]:
    """The cases of a file: `open`, `locked` or `further`."""
    said = yaml.safe_load((_CASES / f"{which}.yaml").read_text())
    return [Case(case["id"], case["told"], _items(case["items"])) for case in said]


def told_of(case: Case) -> list[str]:
    """The kinds of conflict that are told of a case."""
    return sorted(conflict.kind for conflict in link(case.items).conflicts)


def telling(some: list[Case]) -> Telling:
    """How well all cases do."""
    right = wrong = missed = 0
    for case in some:
        told, meant = told_of(case), list(case.told)
        for kind in told:
            if kind in meant:
                meant.remove(kind)
                right += 1
            else:
                wrong += 1
        missed += len(meant)
    return Telling(right, wrong, missed)


def _items(said: list[dict[str, dict[str, Any]]]) -> list[SourceItem]:
    made = []
    for place, one in enumerate(said, 1):
        ((system, data),) = one.items()
        agent = _AGENTS[system]
        made.append(
            SourceItem(
                id=f"{agent}/{place}",
                agent=agent,
                server=system,
                tool="list",
                call=1,
                path=f"/{place}",
                data=_json(data),
            )
        )
    return made


def _json(value: Any) -> Any:
    """As a tool answers: a day is a text there."""
    if isinstance(value, dict):
        return {str(key): _json(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_json(each) for each in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
