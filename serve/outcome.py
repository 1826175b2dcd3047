"""What a decision led to. The decision is kept at once; a runner then publishes, or gives back."""

import asyncio

from models.store.content import articles
from models.store.database import Database

_PATIENCE_SECONDS = 10.0
_POLL_SECONDS = 0.1


async def article_status_after(database: Database, article_id: int, approval_id: str) -> str:
    """The article's status once it no longer waits for this approval, or after some seconds as it is then."""
    deadline = asyncio.get_running_loop().time() + _PATIENCE_SECONDS
    while True:
        async with database.connection() as connection:
            article = await articles.get(connection, article_id)
        if article.approval_id != approval_id or asyncio.get_running_loop().time() > deadline:
            return article.status
        await asyncio.sleep(_POLL_SECONDS)
