"""What publishing an article would show its readers beyond its text, and what approving that takes.

The resources that it rests on become readable with it. Whoever wrote one is involved as an author is; a draft
that another topic keeps goes out on the right of whoever attached it, and takes what publishing there takes.
Asked when publication is asked for, and again when it happens.
"""

from collections.abc import Sequence

from models.config import PublishingConfig
from models.content.articles import Article, RevealedResource
from models.errors import ArticleConflict
from models.record import Record
from models.runtime.approvals import Approval
from models.runtime.workflows import Permission
from models.store.content import articles
from models.store.database import Connection
from models.store.people import users


class Demand(Record):
    """What approving takes: `quorum` people, each with `also_takes` beside the article's own scope."""

    quorum: int
    four_eyes: bool
    also_takes: tuple[str, ...]


def kept_elsewhere(article: Article, shown: Sequence[RevealedResource]) -> list[RevealedResource]:
    """Those that are drafts of other topics."""
    return [each for each in shown if each.topic != article.topic and each.status != "published"]


def demand(article: Article, shown: Sequence[RevealedResource], settings: PublishingConfig) -> Demand:
    """What the article's topic asks for, and each topic whose drafts become readable, whichever is more."""
    own = settings.policy(article.topic)
    others = {each.topic: settings.policy(each.topic) for each in kept_elsewhere(article, shown)}
    policies = (own, *others.values())
    return Demand(
        quorum=max(policy.quorum for policy in policies),
        four_eyes=any(policy.four_eyes for policy in policies),
        also_takes=tuple(sorted(f"{topic}:{policy.role}" for topic, policy in others.items())),
    )


def authors(shown: Sequence[RevealedResource]) -> frozenset[str]:
    """Who wrote what becomes readable, and who attached it."""
    return frozenset(person for each in shown for person in (each.created_by, each.attached_by) if person)


async def check_embargo(
    connection: Connection, article: Article, shown: Sequence[RevealedResource], settings: PublishingConfig
) -> None:
    """A draft of another topic is shown on the right of whoever attached it to publish there, now.

    Raises:
        ArticleConflict: they do not have it.
    """
    for resource in kept_elsewhere(article, shown):
        right = Permission(role=settings.policy(resource.topic).role, topic=resource.topic)
        if not await users.still_has(connection, resource.attached_by, right):
            raise ArticleConflict(
                f"resource {resource.id} is a draft of {resource.topic}, and {resource.attached_by}, who "
                f"attached it to article {article.id}, does not have {right.topic}:{right.role}: detach it, "
                "or have it attached by who has"
            )


async def check_approved(
    connection: Connection, article: Article, approval: Approval, settings: PublishingConfig
) -> None:
    """What would become readable now must have been shown, and approved as that takes.

    Raises:
        ArticleConflict: it was not; asking again mends it.
    """
    now = await articles.revealed(connection, article)
    shown = {each["id"] for each in approval.content.get("becomes_readable", approval.content["resources"])}
    again = "ask for publication again"
    if hidden := [each for each in now if each.id not in shown]:
        raise ArticleConflict(
            f"resource {hidden[0].id} would become readable with article {article.id}, and approval "
            f"{approval.id} did not show that: {again}"
        )
    await check_embargo(connection, article, now, settings)
    if kept := kept_elsewhere(article, now):
        wanted = demand(article, kept, settings)
        if approval.quorum < wanted.quorum or not set(wanted.also_takes) <= set(approval.also_takes):
            raise ArticleConflict(
                f"resource {kept[0].id} is a draft of {kept[0].topic}, and approval {approval.id} took less "
                f"than publishing there does ({wanted.quorum} people, with {', '.join(wanted.also_takes)}): "
                f"{again}"
            )
    voters = {vote.voter for vote in approval.votes if vote.decision == "approve"}
    if approval.four_eyes and (own := [each for each in now if each.created_by in voters]):
        raise ArticleConflict(
            f"{own[0].created_by}, who wrote resource {own[0].id}, is among those who approved its becoming "
            f"readable: {again}, and someone else must approve"
        )
