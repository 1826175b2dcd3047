"""Edited articles become drafts of the article lifecycle, and their publication is asked for.

Called by the editorial batch. One draft per editorial workflow, whichever batch edited it, so that
submitting again drafts nothing twice. A batch has no token: whoever may submit jobs may draft with it,
and a human still decides on every publication.
"""

import functools
from collections.abc import AsyncIterator
from dataclasses import dataclass

from psycopg.errors import UniqueViolation

from models.config import Config
from models.content.articles import Article, findings_of
from models.content.editorial import ArticleGenerationResult
from models.error_lines import error_line
from models.errors import TopicUnknown
from models.store.content import articles, publishing
from models.store.database import Database


@dataclass(frozen=True)
class Asked:
    """What came of asking for one publication, in a line."""

    line: str
    refused: bool


@dataclass(frozen=True)
class Drafting:
    """Whether edited articles become drafts in a subject area, `topic`, and are to be published."""

    topic: str | None = None
    request_publication: bool = False
    requests_at_most: int | None = None


class Drafts:
    """Where a batch's articles go: into `topic`, a subject area of the site, asked for by its submitter."""

    def __init__(self, *, config: Config, database: Database, topic: str, submitter: str) -> None:
        if topic not in config.publishing.topics:
            known = ", ".join(config.publishing.topics)
            raise TopicUnknown(
                f"--draft-in: there is no topic {topic!r} in publishing.topics: use one of {known}"
            )
        self._settings = config.publishing
        self._database = database
        self._topic = topic
        self._submitter = submitter
        self._made: dict[str, int] = {}

    async def file(self, name: str, workflow_id: str, result: ArticleGenerationResult | None) -> str | None:
        """Make a draft of an edited article, its report with it; a line that says so, or None without one."""
        if result is None or result.article is None:
            return None
        article, fresh = await self._database.steadily(lambda: self._draft(workflow_id, result))
        self._made[name] = article.id
        return f"article {article.id}, {'a new draft' if fresh else f'drafted before, {article.status}'}"

    async def _draft(self, workflow_id: str, result: ArticleGenerationResult) -> tuple[Article, bool]:
        edited = result.article
        assert edited is not None, "only an edited article is drafted"
        try:
            async with self._database.transaction() as connection:
                if found := await articles.drafted_by(connection, workflow_id):
                    return found, False
                made = await articles.create(
                    connection,
                    topic=self._topic,
                    headline=edited.headline[:500],
                    keywords=None,
                    author=self._submitter,
                    content=edited.articleBody,
                    editor_report=findings_of(result),
                    written=result.metadata.written if result.metadata else "prose",
                    drafted_by=workflow_id,
                )
                return made, True
        except UniqueViolation:
            # Another batch, or our own attempt whose answer was lost.
            async with self._database.connection() as connection:
                drafted = await articles.drafted_by(connection, workflow_id)
            assert drafted is not None, "it was there a moment ago"
            return drafted, False

    async def request_publication(self, at_most: int | None) -> AsyncIterator[Asked]:
        """Ask for the publication of the drafts, by name, that nobody has taken further; told one by one.

        With `at_most`, those that wait already count. One that is refused ends no other, and takes no room.
        """
        found = await self._database.steadily(self._find)
        room = len(found) if at_most is None else at_most
        room -= sum(article.status == "pending_approval" for article in found.values())
        for name, article in found.items():
            if room <= 0 or article.status != "draft" or article.published_version is not None:
                continue
            try:
                said = await self._database.steadily(functools.partial(self._ask, article.id))
            except Exception as error:  # noqa: BLE001  # one article's trouble ends no other
                why = f"{name}: the publication of article {article.id} is not asked for: {error_line(error)}"
                yield Asked(line=why, refused=True)
            else:
                room -= 1
                yield Asked(line=f"{name}: {said}", refused=False)

    async def _find(self) -> dict[str, Article]:
        async with self._database.connection() as connection:
            return {name: await articles.get(connection, n) for name, n in sorted(self._made.items())}

    async def _ask(self, article_id: int) -> str:
        async with self._database.transaction() as connection:
            article = await articles.lock(connection, article_id)
            approval_id = article.approval_id
            # Otherwise our own attempt whose answer was lost, or another batch's.
            if article.status != "pending_approval":
                await publishing.submit(connection, article_id, by=self._submitter)
                _, approval, _ = await publishing.ask(
                    connection,
                    article_id,
                    by=self._submitter,
                    editor_notes="Drafted by the editorial desk.",
                    settings=self._settings,
                    permission=None,
                )
                approval_id = approval.id
        return f"article {article_id} waits for approval {approval_id}"
