"""The answer key of configs/samples/operations: where it disagrees, what belongs together, what does not."""

from pathlib import Path
from typing import Any

import yaml

from models.record import Record
from serve.samples.data import SampleSet


class Place(Record):
    """Where one side of a conflict stands."""

    item: str
    field: str
    says: str


class PlantedConflict(Record):
    """A conflict; `number` is of an invoice in no bill. Items in `also` say what one of the places says."""

    id: str
    kind: str
    about: str
    places: tuple[Place, ...]
    also: tuple[str, ...] = ()
    number: str | None = None


class Correlation(Record):
    """Items about one invoice or vendor."""

    id: str
    about: str
    items: tuple[str, ...]


class Lookalike(Record):
    """Items that look alike and are not about the same."""

    id: str
    why: str
    both: str
    items: tuple[str, str]


class AnswerKey(Record):
    """All of it."""

    conflicts: tuple[PlantedConflict, ...]
    correlations: tuple[Correlation, ...]
    lookalikes: tuple[Lookalike, ...]
    hostile: tuple[str, ...]


def answer_key() -> AnswerKey:
    """Read the file beside this one."""
    text = (Path(__file__).parent / "conflicts.yaml").read_text(encoding="utf-8")
    return AnswerKey.model_validate(yaml.safe_load(text))


def items_of(samples: SampleSet) -> dict[str, dict[str, Any]]:
    """Every item of the data set as its server answers with it, by the name that the key gives it."""
    found: dict[str, Any] = {f"mail/{message.id}": message for message in samples.mail.messages}
    found |= {f"bills/{each.id}": each for each in (*samples.bills.vendors, *samples.bills.bills)}
    found |= {f"crm/{each.id}": each for each in (*samples.crm.accounts, *samples.crm.cases)}
    found |= {f"crm/{note.id}": note for account in samples.crm.accounts for note in account.notes}
    return {name: item.model_dump(mode="json") for name, item in found.items()}
