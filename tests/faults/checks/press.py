"""An article is published once, exactly if that was approved, as it was shown; and every message arrives.

Pure functions over rows of articles, approvals and deliveries, and over what the webhooks' target got.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.faults.site.target import Taken


def published(
    article: Mapping[str, Any], approvals: Sequence[Mapping[str, Any]], messages: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """What is wrong with an article.

    Args:
        article: id, status, published_version, the content of that version as `text`, and `told`: how many
            events tell that it was published.
        approvals: what its publication was asked for by: id, status, content, and `ended`, the status of the
            workflow that waited for it.
        messages: the deliveries that tell of it: id, event_type and body.
    """
    name = f"article {article['id']} ({article['status']})"
    is_out = article["status"] == "published"
    # One that was stopped may have been published before; if not, it was given back.
    done = ("succeeded", "cancelled") if is_out else ("succeeded",)
    yes = [a for a in approvals if a["status"] == "approved" and a["ended"] in done]
    if is_out != (len(yes) == 1) or article["told"] != len(yes):
        came_to = [(approval["status"], approval["ended"]) for approval in approvals]
        yield f"{name}: told {article['told']} times, its approvals: {came_to}"
    elif is_out:
        shown = yes[0]["content"]["article"]
        if (shown["version"], shown["content"]) != (article["published_version"], article["text"]):
            yield f"{name}: version {article['published_version']} is out, approved was {shown['version']}"
    bodies = [(message["event_type"], json.loads(message["body"])) for message in messages]
    asked = Counter(str(body["approval"]["id"]) for type_, body in bodies if type_ == "approval_required")
    for approval in approvals:
        if (count := asked[approval["id"]]) != 1:
            yield f"{name}: {count} messages ask for approval {approval['id']}"
    types = Counter(type_ for type_, _ in bodies)
    expected = {"article_published": len(yes), "article_rejected": len(approvals) - len(yes)}
    for type_, count in expected.items():
        if types[type_] != count:
            yield f"{name}: {types[type_]} messages {type_}, not {count}"


def delivered(rows: Sequence[Mapping[str, Any]], taken: Sequence[Taken]) -> Iterator[str]:
    """What is to be sent was taken by the target at least once, always under the same id and as it stands."""
    known = {row["id"]: row["body"] for row in rows}
    accepted = {one.id for one in taken if one.status == 200}
    for row in rows:
        if row["status"] != "delivered":
            yield f"delivery {row['id']} is {row['status']}"
        if row["id"] not in accepted:
            yield f"delivery {row['id']} was never taken by its target"
    for one in taken:
        if one.id not in known:
            yield f"something arrived under the unknown id {one.id}"
        elif one.body.decode() != known[one.id]:
            yield f"delivery {one.id} arrived as something else: {one.body[:80]!r}"


def researched(task: str, status: str, result: Mapping[str, Any]) -> Iterator[str]:
    """A research that succeeded is completed, and has made each resource once."""
    if status == "succeeded" and result.get("status") != "completed":
        yield f"research {task} came to {result}"
    resources = result.get("resources_created", [])
    if len(set(resources)) != len(resources):
        yield f"research {task} made resources twice: {resources}"
