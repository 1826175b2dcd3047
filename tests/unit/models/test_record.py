"""Records travel between processes, and while a site goes up between two releases."""

import pickle

from pydantic import Field

from models.record import Record


class Travelling(Record):
    """One that this release has given two fields more."""

    name: str
    whole: bool = False
    parts: list[str] = Field(default_factory=list)


def test_what_the_last_release_did_not_know_has_its_default() -> None:
    old = Travelling(name="a")
    del old.__dict__["whole"], old.__dict__["parts"]
    arrived = pickle.loads(pickle.dumps(old))
    assert (arrived.name, arrived.whole, arrived.parts) == ("a", False, [])


def test_what_it_said_stays() -> None:
    said = Travelling(name="a", whole=True, parts=["b"])
    assert pickle.loads(pickle.dumps(said)) == said
