"""What a caller may see and touch, and the topic of a call. Every tool asks here; seed 000 §5.

Readers see published versions only. Drafts take editor (or more) on the article's topic.
"""

from typing import Any

from actors.platform.tools.tool import ToolContext
from models.config import Config
from models.content.articles import Article, ArticleVersion, Resource
from models.errors import ArticleNotFound, InputInvalid, PermissionMissing, ResourceNotFound
from models.people.users import UserContext
from models.store import approval_inbox
from models.store.content import articles, resources


def known_topic(config: Config, topic: str) -> str:
    """The topic, if this site has it."""
    if topic not in config.publishing.topics:
        raise InputInvalid(f"topic: there is no {topic!r}: use one of {', '.join(config.publishing.topics)}")
    return topic


async def topic_in_request(context: ToolContext, request: Any) -> str:
    """The topic that the request names."""
    return known_topic(context.config, request.topic)


async def topic_of_article(context: ToolContext, request: Any) -> str:
    """The topic of the article that the request names. ArticleNotFound if the caller can't see it."""
    return (await visible_article(context, request.article_id)).topic


async def visible_article(context: ToolContext, article_id: int) -> Article:
    """An article of which the caller may see some version; else it is as if it did not exist."""
    article = await articles.get(context.connection, article_id)
    if not sees(context.caller, article):
        raise ArticleNotFound(f"there is no article {article_id}")
    return article


def sees_drafts(caller: UserContext, topic: str) -> bool:
    """Whether the caller may see unpublished texts of a topic."""
    return caller.has("editor", topic)


def sees(caller: UserContext, article: Article) -> bool:
    """Whether the caller may see the article at all."""
    if sees_drafts(caller, article.topic):
        return True
    return article.published_version is not None and caller.has("reader", article.topic)


async def visible_version(
    context: ToolContext, article: Article, version: int | None = None
) -> ArticleVersion:
    """The version asked for, if the caller may see it; by default the newest that he may."""
    if sees_drafts(context.caller, article.topic):
        return await articles.get_version(context.connection, article.id, version or article.version)
    if version not in (None, article.published_version) or article.published_version is None:
        raise ArticleNotFound(f"article {article.id} has no version {version}")
    return await articles.get_version(context.connection, article.id, article.published_version)


async def visible_resource(context: ToolContext, resource_id: int) -> Resource:
    """A resource in a topic whose drafts the caller sees, or one that a published article rests on.

    Or one that becomes readable by what the caller is asked to approve, for as long as that waits.
    """
    resource = await resources.get(context.connection, resource_id)
    caller = context.caller
    if sees_drafts(caller, resource.topic):
        return resource
    shown = await resources.shown_with_published(context.connection, resource_id)
    if any(caller.has("reader", topic) for topic in shown):
        return resource
    asked = await approval_inbox.revealing(context.connection, resource_id)
    if any(approval.met_by(caller.scopes) for approval in asked):
        return resource
    raise ResourceNotFound(f"there is no resource {resource_id}")


async def attachable_resource(context: ToolContext, resource_id: int, topic: str) -> Resource:
    """A resource that the caller may attach to an article of a topic.

    A draft of another topic is published with it, so it takes the right to decide on publishing there.

    Raises:
        ResourceNotFound, and PermissionMissing: another topic keeps it.
    """
    resource = await visible_resource(context, resource_id)
    if resource.topic == topic or resource.status == "published":
        return resource
    role = context.config.publishing.policy(resource.topic).role
    if not context.caller.has(role, resource.topic):
        wanted = f"{resource.topic}:{role}"
        raise PermissionMissing(
            f"resource {resource_id} is a draft of {resource.topic}: attaching it to an article of {topic} "
            f"takes the scope {wanted}, or that {resource.topic} publishes it first",
            scope=wanted,
        )
    return resource
