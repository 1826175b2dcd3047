"""Drafts of quotations: sentences of the sources, word for word, and figures that code computed from tables.

Called by the drafter. Code finds what may be quoted and orders it; the model chooses among that by number,
and no character of a draft is its own. Word for word is what is guaranteed: a choice can mislead too.
"""

import asyncio
from collections.abc import Sequence

from actors.platform.extractive.candidates import Candidate, in_order, ranked, shortlist
from actors.platform.extractive.choosing import Chooser
from actors.platform.extractive.headlines import headlines
from actors.platform.figures.table_figures import TableFigure, table_figures
from actors.platform.search.embedder import Embedder
from actors.platform.text.language import Language, language_of
from actors.platform.text.relevance import QuestionWords, content_words
from actors.platform.text.vectors import cosine
from actors.systems.drafting.draft import HEADLINE, Draft, DraftBrief, Source, Statement
from actors.systems.drafting.telling import QuestionSubject
from actors.systems.market.things_in_text import things_in
from models.content.quoting import SourcePlace
from models.errors import NothingToQuote
from models.llm import Answer
from models.text import one_line, shortened

# Sentences that are compared in meaning, that the model is shown, and that a draft has of them.
_COMPARED = 60
_OFFERED = 14
_LEAST, _MOST = 3, 8
# Figures of one table, and of all.
_OF_TABLE, _FIGURES = 5, 10
# How near a sentence of another language must be: MiniLM has half of what is on something else under this.
_ACROSS = 0.3
# Of a title's words, those that the request or a quotation has at least.
_TITLE = 1 / 2


class QuotedDrafts:
    """Puts drafts together. The `chooser` is the model's part, the `embedder` compares meanings.

    A sentence that shares no word with the request and whose cosine is under `floor` is not offered;
    nor is one on another measure, or on the measures of another place.
    """

    def __init__(self, *, chooser: Chooser, embedder: Embedder, floor: float) -> None:
        self._chooser = chooser
        self._embedder = embedder
        self._floor = floor

    async def put_together(self, brief: DraftBrief) -> Answer[Draft]:
        """A draft of the brief's sources.

        Raises:
            NothingToQuote: no source holds a sentence that can be quoted by itself, and none a figure.
            ModelUnavailable: the model, or that of the embeddings, is away.
        """
        language = language_of(brief.query)
        best, figures = await self._offered(brief)
        if not best and not figures:
            raise NothingToQuote(
                f"none of the {len(brief.sources)} sources holds a sentence on what was asked that can be "
                "quoted by itself, or figures: add sources with whole sentences or tables, or set "
                "drafting.llm.writes to prose"
            )
        titles = [brief.sources[one.source].finding.name for one in best]
        titles += [brief.sources[number].finding.name for number, _ in figures]
        offered = headlines(titles, [one.text for one in best], language)
        if not best:
            draft = _draft(offered[0], [], figures, language)
            return Answer(value=draft.model_copy(update={"chosen_by": "code"}))
        choice = await self._chooser.choose(
            brief.query, headlines=offered, offered=[one.text for one in best], least=_LEAST, most=_MOST
        )
        chosen = [best[n] for n in choice.value.sentences]
        fitting = _fitting(offered, brief, chosen, [number for number, _ in figures], language)
        wished = offered[choice.value.headline]
        headline = wished if wished in fitting else next(iter(fitting), one_line(chosen[0].text))
        draft = _draft(headline, chosen, figures, language)
        return Answer(value=draft.model_copy(update={"chosen_by": choice.value.by}), calls=choice.calls)

    async def enough(self, brief: DraftBrief) -> bool:
        """Whether there is a sentence or a figure to make a draft of."""
        best, figures = await self._offered(brief)
        return bool(best or figures)

    async def _offered(self, brief: DraftBrief) -> tuple[list[Candidate], list[tuple[int, TableFigure]]]:
        texts = [source.finding.content or "" for source in brief.sources]
        found = await asyncio.to_thread(shortlist, texts, brief.query, most=_COMPARED)
        best = await self._ranked(found, brief)
        return best, await asyncio.to_thread(_figures, brief.sources, language_of(brief.query))

    async def _ranked(self, found: Sequence[Candidate], brief: DraftBrief) -> list[Candidate]:
        telling = await asyncio.to_thread(QuestionSubject, brief.query)
        found = await asyncio.to_thread(
            lambda: [one for one in found if not telling.sentence_is_elsewhere(one.text)]
        )
        if not found:
            return []
        wanted, language = QuestionWords(brief.query), language_of(brief.query)
        foreign = {
            number
            for number in {one.source for one in found}
            if language_of(brief.sources[number].finding.content or "") != language
        }
        aim, *vectors = await self._embedder.embed([brief.query, *(one.text for one in found)])
        near = [
            (one, vector)
            for one, vector in zip(found, vectors, strict=True)
            if cosine(aim, vector) >= max(self._floor, _ACROSS * (one.source in foreign))
            or wanted.shared_with(one.text)
            or (one.source in foreign and telling.shared_with(one.text))
        ]
        return await asyncio.to_thread(
            ranked, [one for one, _ in near], vectors=[v for _, v in near], request=aim, most=_OFFERED
        )


def _fitting(
    offered: Sequence[str],
    brief: DraftBrief,
    chosen: Sequence[Candidate],
    computed: Sequence[int],
    language: Language,
) -> list[str]:
    """The headlines that come from what the text says.

    A sentence that is quoted; the title of a table whose figures are told; or the title of a text that is
    quoted, if half of its words are the request's or a quotation's, and it names nothing that they do not:
    an article on something else may hold these.
    """
    said = headlines([], [one.text for one in chosen], language, most=len(chosen))
    wanted = QuestionWords("\n".join([brief.query, *(one.text for one in chosen)]))
    telling = QuestionSubject(brief.query)
    named = things_in("\n".join([brief.query, *(one.text for one in chosen)]))
    titles = {one_line(brief.sources[number].finding.name) for number in computed}
    quoted = {one_line(brief.sources[one.source].finding.name) for one in chosen}
    titles |= {
        title
        for title in quoted
        if wanted.shared_with(title) >= _TITLE * max(1, len(content_words(title)))
        and not telling.is_elsewhere(title)
        and things_in(title).within(named)
    }
    return [one for one in offered if one in said or one in titles]


def _figures(sources: Sequence[Source], language: Language) -> list[tuple[int, TableFigure]]:
    """The figures of the tables among the sources, with the number of their source, from 0."""
    found: list[tuple[int, TableFigure]] = []
    for number, source in enumerate(sources):
        told = source.finding
        if told.rows and told.columns and len(found) < _FIGURES:
            made = table_figures(told.name, told.description, told.columns, told.rows, language)
            found += [(number, figure) for figure in made[:_OF_TABLE]]
    return found[:_FIGURES]


def _draft(
    headline: str, chosen: Sequence[Candidate], figures: Sequence[tuple[int, TableFigure]], language: Language
) -> Draft:
    statements = []
    before: int | None = None
    for number, figure in figures:
        place = SourcePlace(source=number + 1, cells=figure.cells)
        new = before is None
        statements.append(
            Statement(text=figure.sentence, sources=(number + 1,), place=place, new_paragraph=new)
        )
        before = number
    before = None
    for one in in_order(chosen):
        sentence = one.sentence
        place = SourcePlace(source=one.source + 1, start=sentence.start, end=sentence.end)
        new = one.source != before
        statements.append(Statement(text=one.text, sources=(one.source + 1,), place=place, new_paragraph=new))
        before = one.source
    return Draft(
        headline=shortened(headline, HEADLINE),
        statements=tuple(statements),
        written="quotes",
        language=language,
    )
