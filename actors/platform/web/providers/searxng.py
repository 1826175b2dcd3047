"""Search by a SearXNG of the site's own: `GET /search?format=json`.

News are its category `news`; for financial news a word of finance is added, as it has no category of them.
It skips, without a word, engines that know no `time_range` or no second page (its `EngineProcessor`).
https://docs.searxng.org/dev/search_api.html
"""

from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from actors.platform.web.fetching import fetch, read_json
from actors.platform.web.plain_text import plain_text
from actors.platform.web.providers.hits import Hits, fitting, read_pages
from models.config import Config
from models.content.outside import DateRange, SearchAnswer, SearchKind
from models.errors import ProviderFailed

_CATEGORIES: dict[SearchKind, str] = {"web": "general", "news": "news", "financial_news": "news"}
_MOST_ENGINES = 5
_BY_DATE = "only those of its engines were asked that filter by date"


class _Result(BaseModel):
    """What we read of a result. Engines fill the fields in as they like."""

    model_config = ConfigDict(extra="ignore")

    title: object = None
    url: object = None
    content: object = None
    publishedDate: object = None  # the API's name


class _SearxngReply(BaseModel):
    model_config = ConfigDict(extra="ignore")

    results: list[_Result]
    # Pairs of an engine's name and what was wrong with it.
    unresponsive_engines: list[object] = []


class Searxng:
    """The SearXNG of `outside.search.searxng`."""

    name: ClassVar[str] = "searxng"

    def __init__(self, config: Config) -> None:
        self._config = config

    async def search(
        self, kind: SearchKind, query: str, limit: int, date_range: DateRange = "any"
    ) -> SearchAnswer:
        """See `SearchProvider.search`."""
        words, cut = fitting(f"{query} finance" if kind == "financial_news" else query)
        params = {"q": words, "format": "json", "categories": _CATEGORIES[kind]}
        if date_range != "any":
            # `week` is not in its documentation, and in its code (`parse_time_range`).
            params["time_range"] = date_range
        hits = Hits(self.name, limit, date_range)
        silent: list[str | None] = []

        async def read(number: int) -> bool:
            reply = await self._page(params if number == 1 else {**params, "pageno": str(number)})
            before = hits.seen
            for result in reply.results:
                hits.add(
                    title=result.title,
                    url=result.url,
                    snippet=result.content,
                    published_at=result.publishedDate,
                )
            silent.append(_silent(reply.unresponsive_engines))
            return hits.seen > before

        missing = await read_pages(hits, read)
        return hits.answer(cut, None if date_range == "any" else _BY_DATE, *silent, missing)

    async def _page(self, params: dict[str, str]) -> _SearxngReply:
        settings = self._config.outside.search.searxng
        assert settings is not None, "it was asked for as configured"
        answer = await fetch(
            settings.url.rstrip("/") + "/search",
            config=self._config,
            provider=self.name,
            params=params,
            headers={"Accept": "application/json"},
            accept_statuses=(403,),
        )
        if answer.status == 403:
            raise ProviderFailed(
                f"{self.name}: answered 403 Forbidden: its JSON format is switched off; "
                "add json to search.formats in its settings.yml"
            )
        return read_json(answer, _SearxngReply, self.name)


def _silent(engines: list[object]) -> str | None:
    """Which engines it asked in vain."""
    told = []
    for engine in engines[:_MOST_ENGINES]:
        parts = engine if isinstance(engine, list) else [engine]
        name, *why = [plain_text(part, 60) for part in parts] or [""]
        if name:
            told.append(f"{name} ({why[0]})" if why and why[0] else name)
    if not told:
        return None
    more = f" and {len(engines) - _MOST_ENGINES} more" if len(engines) > _MOST_ENGINES else ""
    return f"engines that did not answer: {', '.join(told)}{more}"
