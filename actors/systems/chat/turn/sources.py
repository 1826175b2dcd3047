"""Sources: what an answer rests on, numbered as the model cites them and as people see them listed.

Called by the agents that answer from sources. Only what a tool gave is a source, and the link to it is made
here, from its number or its address.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from actors.platform.text.markdown import escaped, link, web_address
from models.config import PublishingConfig
from models.text import shortened
from models.webhooks.payloads import article_link


@dataclass(frozen=True)
class CitedSource:
    """One source. `text` is untrusted and already cut; `url` is where people find it; `about` names it.

    `computed` are the sentences of its text that code made of its table: nobody's words.
    """

    number: int
    title: str
    url: str | None
    text: str
    about: str
    computed: frozenset[str] = frozenset()


class Sources:
    """The sources of one answer. `numbers` and `urls` grow with it."""

    def __init__(self) -> None:
        self._found: dict[str, CitedSource] = {}
        self.numbers: set[int] = set()
        self.urls: set[str] = set()

    def __len__(self) -> int:
        return len(self._found)

    def all(self) -> tuple[CitedSource, ...]:
        """Those there are, by number."""
        return tuple(self._found.values())

    def add(
        self, *, title: str, url: str | None, text: str, about: str, computed: Iterable[str] = ()
    ) -> CitedSource:
        """A source, numbered; one that is there already keeps its number and its text."""
        if about not in self._found:
            number = len(self._found) + 1
            target = web_address(url)
            self._found[about] = CitedSource(
                number, shortened(title), target, text, about, frozenset(computed)
            )
            self.numbers.add(number)
            if target is not None:
                self.urls.add(target)
        return self._found[about]

    def listed(self, cited: Collection[int]) -> str:
        """A Markdown list of the sources cited, or of all where none was: a link each, or only the title."""
        shown = [source for source in self.all() if source.number in cited] or list(self.all())
        return "\n".join(f"- [{source.number}] {_shown(source)}" for source in shown)


def _shown(source: CitedSource) -> str:
    return link(source.title, source.url) if source.url else escaped(source.title)


def resource_link(settings: PublishingConfig, resource_id: int) -> str:
    """Where a resource is read."""
    return f"{settings.public_url.rstrip('/')}/api/tools/resources/{resource_id}"


def stored_link(settings: PublishingConfig, about: str) -> str | None:
    """Where `article:17` or `resource:5` is read; None for anything else."""
    noun, number = stored_thing(about)
    if noun == "article":
        return article_link(settings, number)
    return resource_link(settings, number) if noun == "resource" else None


def stored_thing(about: str | None) -> tuple[str, int]:
    """The noun and the number of `article:17` or `resource:5`; an empty noun for anything else."""
    noun, _, number = (about or "").partition(":")
    is_one = noun in ("article", "resource") and number.isascii() and number.isdigit()
    return (noun, int(number)) if is_one else ("", 0)
