"""New sources into the index at once, for the tools that bring a few; a batch does it for many.

What can't be indexed now is kept all the same, and the next batch indexes it.
"""

import asyncio
import logging
from collections.abc import Sequence

from actors.platform.tools.tool import ToolContext
from models.error_lines import logged
from models.errors import SignoffError

# What a caller waits for at most.
_SECONDS = 20.0
_LATER = "kept, and found by search once `signoff submit index_knowledge_base` has run"
_log = logging.getLogger(__name__)


async def index_now(context: ToolContext, source_ids: Sequence[int]) -> str | None:
    """Index some sources; None, or why they are not found by search yet."""
    if not source_ids:
        return None
    try:
        async with asyncio.timeout(_SECONDS):
            index = context.agent("knowledge_index")
            for source_id in source_ids:
                await index.put_source(source_id)
    except TimeoutError:
        return f"{_LATER}: the index took over {_SECONDS:g} s"
    except Exception as error:  # noqa: BLE001  # whatever an agent's process fails of: the source is kept
        told = logged(error, _log, "a source could not be indexed at once")
        return f"{_LATER}: {told if isinstance(error, SignoffError) else type(error).__name__}"
    return None
