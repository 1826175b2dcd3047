"""The sentences of a research in Postgres, each with the points that it cites, and what came of it."""

from models.research.following import ResultSentence
from models.research.synthesis import Synthesis
from models.store.database import Connection


async def put(connection: Connection, research_id: int, synthesis: Synthesis) -> int:
    """Keep all sentences in their order; how many there are."""
    rows = [
        (section.node, section.heading, one.text, list(one.points), one.outcome, one.reason)
        for section in synthesis.sections
        for one in section.sentences
    ]
    async with connection.cursor() as cursor:
        await cursor.executemany(
            """INSERT INTO research_sentences
                   (research_id, number, node, heading, text, points, outcome, reason)
               VALUES (%s, %s, %s, %s, %s, %s, %s, %s)""",
            [(research_id, number, *row) for number, row in enumerate(rows, 1)],
        )
    return len(rows)


async def get_all(connection: Connection, research_id: int) -> tuple[ResultSentence, ...]:
    """All of a research in their order, those that were dropped, too."""
    cursor = await connection.execute(
        """SELECT number, node, heading, text, points, outcome, reason FROM research_sentences
           WHERE research_id = %s ORDER BY number""",
        (research_id,),
    )
    return tuple(ResultSentence.model_validate(row) for row in await cursor.fetchall())
