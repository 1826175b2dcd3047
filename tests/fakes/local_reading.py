"""Pages read in this process, as a reader of pages would: to begin one takes a second of the processor."""

import asyncio
import pickle
from collections.abc import Callable

from actors.systems.knowledge.parsing.reading_pool import Found, ReadingPool, _raise
from actors.systems.knowledge.parsing.reading_process import _answer


class LocalReading(ReadingPool):
    """Stands for the pool where its processes are not the subject."""

    async def read(self, work: Callable[..., Found], *arguments: object, shape: type[Found]) -> Found:
        async with self._places:
            mark, answer = await asyncio.to_thread(_answer, pickle.dumps((work, arguments)))
        if mark == b"!":
            _raise(answer)
        return shape.model_validate_json(answer)
