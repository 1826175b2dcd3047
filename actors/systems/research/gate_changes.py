"""What a person makes of what a gate of a research shows, before it is approved. Seed 002 §8.2.

Called by `decide_research`. All changes are made, or none: the first fault names its field. What comes out is
what is approved, and goes on exactly as it is.
"""

from collections.abc import Callable, Mapping
from typing import Any

from actors.systems.research.discovery.pages import Ratings
from actors.systems.research.tree.editing import edited
from actors.systems.research.url_changes import changed_list, readable_url
from models.config import Config
from models.errors import InputInvalid
from models.research.gate_decisions import Modifications
from models.research.results import TreeReview
from models.research.url_lists import GivenInstead, UnreadableList, UrlList
from models.runtime.approvals import Approval

# What may be changed at each. A person's notes go with any change; on a list of addresses they are one.
_FIELDS: Mapping[str, frozenset[str]] = {
    "research_urls": frozenset({"add_urls", "remove_urls", "modify_config", "notes"}),
    "research_unreadable": frozenset({"instead"}),
    "research_tree": frozenset({"tree_edits"}),
}


def changed_content(
    approval: Approval, changes: Modifications | None, *, by: str, config: Config
) -> dict[str, Any]:
    """The content that is approved in place of what the approval shows.

    Raises:
        InputInvalid: nothing is changed, this gate shows nothing that could be, or a change can't be made.
    """
    change = _CHANGES.get(approval.kind)
    if change is None:
        raise InputInvalid(
            "decision: a result can't be changed here: approve it, or reject it with what is wrong in notes"
        )
    given = set() if changes is None else {name for name, value in changes if value}
    here = _FIELDS[approval.kind]
    if stray := sorted(given - here - {"notes"}):
        raise InputInvalid(
            f"modifications.{stray[0]}: nothing of that kind is shown; give {', '.join(sorted(here))}"
        )
    if changes is None or not given & here:
        raise InputInvalid(f"modifications: say what to change ({', '.join(sorted(here))}), or approve it")
    return change(approval, changes, by, config)


def _changed_urls(approval: Approval, changes: Modifications, by: str, config: Config) -> dict[str, Any]:
    shown = UrlList.model_validate(approval.subject)
    changed = changed_list(
        shown,
        changes,
        by=by,
        ratings=Ratings(config.research.domains),
        allow_internal=config.outgoing.allow_internal,
        most=config.research.limits.of(approval.topic or "").max_urls,
        asked=None if approval.asked is None else UrlList.model_validate(approval.asked),
    )
    return changed.model_dump(mode="json")


def _changed_unreadable(
    approval: Approval, changes: Modifications, by: str, config: Config
) -> dict[str, Any]:
    shown = UnreadableList.model_validate(approval.subject)
    numbers = {outcome.number for outcome in shown.unreadable}
    unread = {outcome.url for outcome in shown.unreadable}
    ratings, allow_internal = Ratings(config.research.domains), config.outgoing.allow_internal
    seen: set[int] = set()
    # What others gave stays, but for what this person gives in its place.
    replaced = {one.number for one in changes.instead}
    given = [one for one in shown.instead if one.number not in replaced]
    for place, one in enumerate(changes.instead):
        field = f"modifications.instead.{place}"
        if one.number not in numbers:
            raise InputInvalid(f"{field}.number: the list has no address {one.number}: give its number")
        if one.number in seen:
            raise InputInvalid(f"{field}.number: {one.number} is given twice: leave one out")
        seen.add(one.number)
        if one.url is not None:
            url = readable_url(f"{field}.url", one.url, ratings=ratings, allow_internal=allow_internal)
            if url in unread:
                raise InputInvalid(f"{field}.url: {url} is what could not be read: give another")
            if url in (other.url for other in given):
                raise InputInvalid(f"{field}.url: {url} is given for two of them: leave one out")
            one = one.model_copy(update={"url": url})
        given.append(GivenInstead(**dict(one), by=by))
    instead = tuple(sorted(given, key=lambda one: one.number))
    return shown.model_copy(update={"instead": instead}).model_dump(mode="json")


def _changed_tree(approval: Approval, changes: Modifications, by: str, config: Config) -> dict[str, Any]:
    shown = TreeReview.model_validate(approval.subject)
    try:
        tree = edited(shown.tree, changes.tree_edits)
    except InputInvalid as refused:
        number = refused.facts.get("edit")
        where = "" if number is None else f".{number - 1}"
        raise InputInvalid(f"modifications.tree_edits{where}: {refused}") from refused
    if not tree.nodes:
        raise InputInvalid("modifications.tree_edits: no category would be left: reject the tree instead")
    left = {node.id for node in tree.nodes}
    examples = {node: some for node, some in shown.examples.items() if node in left}
    return shown.model_copy(update={"tree": tree, "examples": examples}).model_dump(mode="json")


_CHANGES: Mapping[str, Callable[[Approval, Modifications, str, Config], dict[str, Any]]] = {
    "research_urls": _changed_urls,
    "research_unreadable": _changed_unreadable,
    "research_tree": _changed_tree,
}
