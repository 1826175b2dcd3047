"""What a person makes of a list of addresses: some go, others come, the way on is changed. Seed 002 §8.2.

Called before the list is amended. All is done, or nothing: the first fault names its field. Nothing is
fetched; an address that is added passes the guard first. Pure.
"""

from pydantic import ValidationError

from actors.platform.web.page_urls import host_of, page_url
from actors.systems.research.discovery.pages import Ratings
from models.domains import registrable_domain
from models.errors import InputInvalid, PageFailed
from models.research.agent_workflows import ResearchOptions
from models.research.candidates import MOST_URLS, USER, UrlCandidate
from models.research.gate_decisions import Modifications
from models.research.url_lists import UrlList

# What still matters once pages are chosen.
_CHANGEABLE = ("category_id", "language", "require_approval", "scrape_parallel")


def changed_list(
    shown: UrlList,
    changes: Modifications,
    *,
    by: str,
    ratings: Ratings,
    allow_internal: tuple[str, ...],
    most: int = MOST_URLS,
    asked: UrlList | None = None,
) -> UrlList:
    """The list that is approved in place of the one that was shown.

    An address keeps the number that it had, whoever took it out meanwhile; no other one gets it.

    Args:
        asked: what the gate asked for, where somebody has changed that before.
        most: addresses that it may have: `max_urls` of the topic's plan.

    Raises:
        InputInvalid: a number is not on the list; an address is none, may not be fetched, or is never read
            here; the list would be empty or too long; or the configuration has no such field or value.
    """
    numbers = {url.number for url in shown.urls}
    for place, number in enumerate(changes.remove_urls):
        if number not in numbers:
            raise InputInvalid(
                f"modifications.remove_urls.{place}: the list has no address {number}: give its number"
            )
    kept = [url for url in shown.urls if url.number not in changes.remove_urls]
    known = {url.url for url in kept}
    offered = {url.url: url for url in (*(asked.urls if asked else ()), *shown.urls)}
    following = max((url.number for url in offered.values()), default=0) + 1
    for place, text in enumerate(changes.add_urls):
        field = f"modifications.add_urls.{place}"
        url = readable_url(field, text, ratings=ratings, allow_internal=allow_internal)
        if url in known:
            continue
        known.add(url)
        if url in offered:
            kept.append(offered[url])
            continue
        kept.append(_added(following, url, by, ratings))
        following += 1
    if not kept:
        raise InputInvalid("modifications.remove_urls: no address would be left: reject the list instead")
    if len(kept) > most:
        raise InputInvalid(f"modifications.add_urls: the list would have {len(kept)}: {most} at most")
    return shown.model_copy(
        update={"urls": tuple(kept), "config": _config(shown.config, changes), "remarks": changes.notes}
    )


def readable_url(field: str, text: str, *, ratings: Ratings, allow_internal: tuple[str, ...]) -> str:
    """An address that a person gives, in its one form; InputInvalid where it is never read."""
    try:
        url = page_url(text, allow_internal=allow_internal)
    except PageFailed as failed:
        raise InputInvalid(f"{field}: {failed}") from failed
    if ratings.of_host(host_of(url)) == "never":
        raise InputInvalid(f"{field}: {host_of(url)} is never read here (research.domains): leave it out")
    return url


def _added(number: int, url: str, by: str, ratings: Ratings) -> UrlCandidate:
    host = host_of(url)
    return UrlCandidate(
        number=number,
        url=url,
        title=url,
        snippet="",
        score=0.0,
        published=None,
        source=USER,
        language=None,
        domain=registrable_domain(host),
        rating=ratings.of_host(host),
        why=f"added by {by}, and not scored",
    )


def _config(config: ResearchOptions, changes: Modifications) -> ResearchOptions:
    for name in changes.modify_config:
        if name not in _CHANGEABLE:
            raise InputInvalid(
                f"modifications.modify_config.{name}: it can't be changed here: {', '.join(_CHANGEABLE)} can"
            )
    try:
        return ResearchOptions.model_validate({**config.model_dump(), **changes.modify_config})
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in fault["loc"])
        raise InputInvalid(f"modifications.modify_config.{where}: {fault['msg']}") from error
