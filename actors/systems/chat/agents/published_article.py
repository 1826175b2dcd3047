"""Reads an article as it is published, for agents that answer from articles; see `published_article`."""

from actors.platform.tools.articles import ArticleDetails, GetArticleResponse
from actors.systems.chat.turn.offered_tools import Call
from models.errors import ArticleNotFound


async def published_article(call: Call, article_id: int) -> ArticleDetails | None:
    """The article's published version; a draft that never was published only for editors of its topic.

    `get_article` shows those who may see drafts the newest version, which nobody has signed off. None where
    the caller sees no such article.
    """
    try:
        answer = await call("get_article", {"article_id": article_id})
        assert isinstance(answer, GetArticleResponse)
        if answer.article.published_version in (None, answer.article.version):
            return answer.article
        version = answer.article.published_version
        answer = await call("get_article", {"article_id": article_id, "version": version})
    except ArticleNotFound:
        return None
    assert isinstance(answer, GetArticleResponse)
    return answer.article
