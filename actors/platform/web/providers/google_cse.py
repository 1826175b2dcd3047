"""Search by Google's Programmable Search Engine: the Custom Search JSON API, `cse.list`.

It knows no news: what is asked for is of the last month, newest first, and for financial news also holds a
word of finance. https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list
"""

from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from actors.platform.web.fetching import Fetched, fetch, read_json
from actors.platform.web.plain_text import plain_text
from actors.platform.web.providers.hits import PAGE, Hits, fitting, read_pages
from models.config import Config
from models.content.outside import DateRange, SearchAnswer, SearchKind
from models.errors import ProviderFailed, ProviderLimited

# One of them has to be in the document (`orTerms`); in English, Polish and German.
_FINANCE = "finance market stocks economy giełda gospodarka Börse Wirtschaft"
_NEWS = {"dateRestrict": "m1", "sort": "date"}
_EXTRA: dict[SearchKind, dict[str, str]] = {
    "web": {},
    "news": _NEWS,
    "financial_news": {**_NEWS, "orTerms": _FINANCE},
}
# `dateRestrict`: so many past days, weeks, months or years.
_RANGES: dict[DateRange, str] = {"day": "d1", "week": "w1", "month": "m1", "year": "y1"}
# `errors[].reason` with 403; quotas of a day end at midnight, Pacific time.
_LIMITS = ("dailylimitexceeded", "ratelimitexceeded", "userratelimitexceeded", "quotaexceeded")
_SETTINGS = "check outside.search.google_cse: api_key, search_engine_id"


class _GooglePart(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Item(_GooglePart):
    title: object = None
    link: object = None
    snippet: object = None
    pagemap: object = None


class _GoogleReply(_GooglePart):
    kind: Literal["customsearch#search"]
    # Absent where nothing was found.
    items: list[_Item] = []


class _Reason(_GooglePart):
    reason: str = ""


class _Error(_GooglePart):
    message: str = ""
    status: str = ""
    errors: list[_Reason] = []


class _Refusal(_GooglePart):
    error: _Error


class GoogleCse:
    """The engine of `outside.search.google_cse`. Each ten hits cost a query of its quota."""

    name: ClassVar[str] = "google_cse"

    def __init__(self, config: Config) -> None:
        self._config = config

    async def search(
        self, kind: SearchKind, query: str, limit: int, date_range: DateRange = "any"
    ) -> SearchAnswer:
        """See `SearchProvider.search`. A date range of news takes the place of its month."""
        words, cut = fitting(query)
        extra = dict(_EXTRA[kind])
        if date_range != "any":
            extra["dateRestrict"] = _RANGES[date_range]
        hits = Hits(self.name, limit, date_range)

        async def read(number: int) -> bool:
            start = 1 + PAGE * (number - 1)
            wanted = min(PAGE, limit + 1 - start)
            items = (await self._page(words, start, wanted, extra)).items
            for item in items:
                hits.add(
                    title=item.title,
                    url=item.link,
                    snippet=item.snippet,
                    published_at=_published(item.pagemap),
                )
            return len(items) == wanted

        missing = await read_pages(hits, read)
        return hits.answer(cut, missing)

    async def _page(self, words: str, start: int, wanted: int, extra: dict[str, str]) -> _GoogleReply:
        settings = self._config.outside.search.google_cse
        assert settings is not None, "it was asked for as configured"
        key = settings.api_key.get_secret_value()
        params = {
            "key": key,
            "cx": settings.search_engine_id,
            "q": words,
            "num": str(wanted),
            "start": str(start),
            **extra,
        }
        answer = await fetch(
            settings.url,
            config=self._config,
            provider=self.name,
            params=params,
            headers={"Accept": "application/json"},
            accept_statuses=(400, 403),
        )
        if answer.status != 200:
            raise self._refusal(answer, key)
        return read_json(answer, _GoogleReply, self.name)

    def _refusal(self, answer: Fetched, key: str) -> ProviderFailed | ProviderLimited:
        error = read_json(answer, _Refusal, self.name).error
        said = plain_text(error.message.replace(key, "…"), 200) or "no reason given"
        reasons = [each.reason for each in error.errors]
        if error.status == "RESOURCE_EXHAUSTED" or any(reason.lower() in _LIMITS for reason in reasons):
            return ProviderLimited(
                f"{self.name}: the quota of queries is used up: {said}; try again later, "
                "or raise the quota with Google"
            )
        return ProviderFailed(f"{self.name}: answered {answer.status}: {said}; {_SETTINGS}")


def _published(pagemap: object) -> object:
    """When a page says that it was published, in the ways of the Open Graph protocol and of schema.org."""
    if not isinstance(pagemap, dict):
        return None
    for part, name in (
        ("metatags", "article:published_time"),
        ("newsarticle", "datepublished"),
        ("article", "datepublished"),
    ):
        of_part = pagemap.get(part)
        first = of_part[0] if isinstance(of_part, list) and of_part else None
        if isinstance(first, dict) and first.get(name):
            return first[name]
    return None
