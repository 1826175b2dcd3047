"""Articles of quotations: sentences of a topic's source text, word for word, put together by code.

Called by the writer where a topic is written in quotes. The model chooses among numbered sentences and
headlines; no character of the article is its own. A revision leaves out what verdicts are against.
"""

import asyncio
import re
from collections.abc import Collection, Sequence
from datetime import date

from babel.dates import format_date

from actors.platform.extractive.candidates import Candidate, in_order, ranked, shortlist
from actors.platform.extractive.choosing import Chooser
from actors.platform.extractive.fit_length import count_for, fitted, length_of
from actors.platform.extractive.headlines import headlines
from actors.platform.extractive.places import characters
from actors.platform.extractive.quotable import quotable
from actors.platform.extractive.sections import sections
from actors.platform.search.embedder import Embedder
from actors.platform.text.language import Language, language_of
from actors.platform.text.markdown import opening, unlinked
from actors.platform.text.quotation_marks import quoted
from actors.platform.text.sentences.sentences import Sentence
from actors.systems.editorial.agents.footnotes import NOTES
from models.content.editorial import ArticleResponse, SourceMetadata, TopicInput, WrittenArticle
from models.errors import NothingToQuote
from models.llm import Answer
from models.text import shortened

# Sentences whose meanings are compared, and that a model is shown at most.
_COMPARED = 120
_OFFERED = 36
_PLACE = re.compile(r"^\[\^\d+\]: .* (\d+)–(\d+)$", re.MULTILINE)
_TITLE = 200


class QuotedArticles:
    """Puts articles together. The `chooser` is the model's part, the `embedder` compares meanings."""

    def __init__(self, *, chooser: Chooser, embedder: Embedder) -> None:
        self._chooser = chooser
        self._embedder = embedder

    async def put_together(
        self, topic: TopicInput, *, without: Collection[str] = ()
    ) -> Answer[WrittenArticle]:
        """An article of about the topic's length, without sentences that hold one of `without`.

        Raises:
            NothingToQuote: no sentence of the source can be quoted by itself, or all are to be left out.
            ModelUnavailable: the model, or that of the embeddings, is away.
        """
        source, language = topic.source_text, language_of(topic.source_text)
        request = _request(topic)
        found = await asyncio.to_thread(shortlist, [source], request, most=_COMPARED)
        found = [one for one in found if not any(words in one.text for words in without)]
        if not found:
            raise NothingToQuote(
                f"{topic.source_metadata.source_file}: source_text holds no sentence that can be quoted by "
                "itself: give one with whole sentences, or set writer_llm.writes to prose"
            )
        aim, *vectors = await self._embedder.embed([request, *(one.text for one in found)])
        best = await asyncio.to_thread(
            ranked, found, vectors=vectors, request=aim, most=len(found), central=True
        )
        length = length_of(topic.target_length_words)
        count = min(count_for(best, length), _OFFERED * 2 // 3)
        offered = best[: min(count + count // 2 + 1, _OFFERED)]
        titles = headlines(_titles(topic), [one.text for one in offered], language)
        texts, least = [one.text for one in offered], (count + 1) // 2
        choice = await self._chooser.choose(request, headlines=titles, offered=texts, least=least, most=count)
        chosen = fitted([offered[n] for n in choice.value.sentences], best, length)
        headline = titles[choice.value.headline]
        other = next((title for title in titles if title != headline), headline)
        article = _article(topic, chosen, headline, other, language)
        told = WrittenArticle(**article.model_dump(), chosen_by=choice.value.by)
        return Answer(value=told, calls=choice.calls)


def quotations_of(article: ArticleResponse, topic: TopicInput) -> list[Sentence]:
    """The sentences of its source that an article of quotations is put together of, in the source's order."""
    source = topic.source_text
    places = {(int(start), int(end)) for start, end in _PLACE.findall(article.articleBody)}
    return [one for one in quotable(source, language_of(source)) if (one.start, one.end) in places]


def said_on(metadata: SourceMetadata) -> date | None:
    """The source's date; None where there is none, or none that can be read."""
    try:
        return date.fromisoformat((metadata.publish_date or "")[:10])
    except ValueError:
        return None


def _request(topic: TopicInput) -> str:
    told = (topic.source_metadata.topic_title, topic.optional_angle)
    return ". ".join(part.strip() for part in told if part and part.strip())


def _titles(topic: TopicInput) -> list[str]:
    return [topic.source_metadata.topic_title, topic.source_metadata.video_title]


def _article(
    topic: TopicInput, chosen: Sequence[Candidate], headline: str, other: str, language: Language
) -> ArticleResponse:
    ordered = in_order(chosen)
    where = _where(topic.source_metadata, language)
    blocks: list[str] = []
    notes: list[str] = []
    for heading, part in sections(ordered, language):
        if heading is not None:
            blocks.append(f"## {heading}")
        before: int | None = None
        for one in part:
            mark, place = f"[^{len(notes) + 1}]", one.sentence
            notes.append(f"{mark}: {where}, {characters(place.start, place.end, language)}")
            text = quoted(unlinked(one.text), language) + mark
            if before == one.sentence.paragraph:
                blocks[-1] += f" {text}"
            else:
                blocks.append(text if len(notes) > 1 else f"{opening(where)}: {text}")
            before = one.sentence.paragraph
    return ArticleResponse(
        headline=headline,
        alternativeHeadline=other,
        articleBody="\n\n".join([*blocks, NOTES, *notes]),
        description=quoted(ordered[0].text, language),
    )


def _where(metadata: SourceMetadata, language: Language) -> str:
    """The source by its title, which is its own words as well, and its date."""
    told = shortened(metadata.video_title, _TITLE) or shortened(metadata.source_file, _TITLE)
    title = unlinked(quoted(told, language))
    when = said_on(metadata)
    if when is None:
        return title
    form = "d. MMMM y" if language == "de" else "d MMMM y"
    locale = {"en": "en_GB", "pl": "pl", "de": "de"}[language]
    return f"{title}, {format_date(when, form, locale)}"
