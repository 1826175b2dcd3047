"""What a message to research is taken for: by examples and signs, in three languages, whatever is in it."""

import time
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.text.classifying.similarity import Block, Likeness
from actors.platform.text.classifying.weights_file import read_digest, write_weights
from actors.systems.research.intents.addresses import MARK, masked
from actors.systems.research.intents.classify import ResearchIntents, read_research_intents, required_tools
from actors.systems.research.intents.cues import notice, read_signs
from actors.systems.research.intents.training import fit, made_of, read_asked, training_files, unheard
from models.errors import ConfigInvalid
from models.research.intents import COMPLEXITIES, TASKS, AskedResearch, ResearchIntent, TaskType
from tests.examples import examples

ROOT = Path(__file__).resolve().parents[3]
SIGNS, WEIGHTS = ROOT / "configs/research/signs.yaml", ROOT / "configs/research/intents.npz"
MESSAGES = ROOT / "benchmarks/research_intents"


@cache
def shipped() -> ResearchIntents:
    return read_research_intents(SIGNS, WEIGHTS)


def classify(message: str) -> ResearchIntent:
    return shipped().classify(message)


def test_the_weights_belong_to_the_messages_and_signs_that_there_are() -> None:
    """Red after a change of training messages or signs: run `make train-research-intents`."""
    assert read_digest(WEIGHTS, remedy="") == made_of(MESSAGES, SIGNS)


@pytest.mark.parametrize(
    ("message", "task"),
    [
        ("find out who builds solid state batteries in Europe and how far they really are", "research"),
        ("poszukaj, jakie gminy w Polsce wprowadzily budzet obywatelski i z jakim skutkiem", "research"),
        ("Bitte recherchieren Sie, welche Länder ein Tempolimit eingeführt haben", "research"),
        ("download https://www.example.org/report and save it in project Water, nothing else", "scrape"),
        ("sciagnij strone https://gov.pl/a i zapisz w projekcie, bez analizy", "scrape"),
        ("speicher die drei seiten a.example/1 a.example/2 a.example/3 ab, nicht zusammenfassen", "scrape"),
        ("which of the reports we already have in the project contradict each other?", "analyze"),
        ("porównaj raporty, które już mamy w bazie, niczego nowego nie szukaj", "analyze"),
        ("bau aus den Quellen, die im Projekt liegen, einen Baum, nichts neu suchen", "analyze"),
        ("full pipeline on rare earths: search, scrape, extract the facts, knowledge tree", "full_pipeline"),
        (
            "od a do z: znajdz zrodla o smogu, pobierz, wyciagnij fakty i zbuduj drzewo wiedzy",
            "full_pipeline",
        ),
        (
            "von A bis Z: Quellen zu Wölfen suchen, laden, Fakten ziehen und einen Wissensbaum",
            "full_pipeline",
        ),
    ],
)
def test_plain_messages_are_taken_for_what_they_ask(message: str, task: str) -> None:
    assert classify(message).task_type == task


def test_a_question_about_a_page_is_research_that_reads_that_page_alone() -> None:
    found = classify("https://www.example.org/guide what does it say about the gap around the frame?")
    assert (found.task_type, found.tools) == ("research", ("scrape_urls",))


def test_what_is_noticed_is_told_in_words() -> None:
    found = classify("please download https://www.example.org/a and https://www.example.org/b and save both")
    assert found.task_type == "scrape"
    assert 0 < len(found.why) <= 3
    assert any("fetching" in each or "address" in each or "keeping" in each for each in found.why)


@pytest.mark.parametrize("message", ["", "   ", "???", "👍👍", "\x00"])
def test_a_message_that_says_nothing_is_a_guess_with_no_reasons(message: str) -> None:
    found = classify(message)
    assert (found.score, found.why) == (1 / len(TASKS), ())


@pytest.mark.parametrize("task", TASKS)
def test_where_the_task_type_is_known_tools_and_score_are_that_one_s(task: TaskType) -> None:
    message = "https://www.example.org/guide what does it say about the gap around the frame?"
    found = shipped().classify(message, task)
    assert found.task_type == task
    assert found.tools == required_tools(task, notice(message, read_signs(SIGNS)))
    assert (found.score > 0.5) == (task == classify(message).task_type)


def test_case_accents_and_what_an_address_says_do_not_count() -> None:
    plain = "sciagnij te strony i zapisz w projekcie https://a.example/x"
    marked = "ŚCIĄGNIJ TE STRONY I ZAPISZ W PROJEKCIE https://a.example/full-pipeline-knowledge-tree"
    assert classify(plain) == classify(marked)


@pytest.mark.parametrize(
    "word",
    [
        *("https://a.example/x?y=1", "http://10.0.0.1/", "www.gov.pl", "gov.pl/web/psp", "(bip.example.pl),"),
        *("Eli.Gov.PL/DU/2021/1390", "<https://a.example>", "stat.gov.pl:8080", '"ekai.pl"'),
    ],
)
def test_addresses_are_known_as_people_type_them(word: str) -> None:
    assert masked(f"see {word} please") == (f"see {MARK} please", 1)


@pytest.mark.parametrize(
    "word",
    ["e.g.", "z.B.", "report.pdf", "anna@example.org", "1.2", "https://", "www.", "...", "a..pl", "pl"],
)
def test_what_is_no_address_stays_a_word(word: str) -> None:
    assert masked(f"see {word} please").addresses == 0


@examples(150)
@given(st.text(max_size=3000))
def test_no_text_raises_and_every_intent_is_whole(message: str) -> None:
    found = classify(message)
    assert 0 <= found.score <= 1
    assert found.tools


_PIECES = [
    "a.",
    "https://",
    "nie ",
    "no no ",
    "www.a.pl/",
    "ﷺ",
    "é",
    "a-",
    "\u0301",
    "project ",
    "((((",
    "\n",
]


@examples(60)
@given(st.lists(st.sampled_from(_PIECES), max_size=600))
def test_no_mixture_of_what_is_looked_for_raises(pieces: list[str]) -> None:
    classify("".join(pieces))


@pytest.mark.parametrize(
    "piece", ["a.", "https://", "nie ", "no tree ", "www.a.pl ", "ﷺ", "é", "a-", "((", "w" * 50]
)
def test_a_long_message_costs_no_more_than_2000_characters(piece: str) -> None:
    shipped()

    def seconds(size: int) -> float:
        long = (piece * (size // len(piece) + 1))[:size]
        taken = []
        for _ in range(3):
            begun = time.process_time()
            classify(long)
            taken.append(time.process_time() - begun)
        return min(taken)

    assert seconds(2_000) < 0.2
    assert seconds(200_000) < 0.2


@examples(60)
@given(st.text(max_size=200))
def test_what_comes_after_2000_characters_is_not_read(more: str) -> None:
    begun = ("find out who builds batteries " * 80)[:2000]
    assert classify(begun) == classify(begun + more)


def test_a_no_turns_a_sign_round_before_it_and_after_it() -> None:
    signs = read_signs(SIGNS)
    assert notice("build a tree", signs).has("tree")
    assert not notice("please do not build a tree", signs).has("tree")
    assert not notice("einen baum brauch ich nicht", signs).has("tree")


def test_tools_are_those_that_the_task_needs() -> None:
    signs = read_signs(SIGNS)
    named = notice("https://a.example/x", signs)
    plain = notice("berries", signs)
    assert required_tools("scrape", named) == ("scrape_urls", "save_to_database")
    assert required_tools("scrape", notice("read it out, don't save it", signs)) == ("scrape_urls",)
    assert required_tools("analyze", plain) == ("query_knowledge_base",)
    assert required_tools("analyze", notice("tree of it", signs)) == ("create_knowledge_tree",)
    assert "search_web" in required_tools("full_pipeline", plain)
    assert "search_web" not in required_tools("full_pipeline", named)
    assert required_tools("research", notice("https://a.example/x and search further", signs)) == (
        "search_web",
        "scrape_urls",
    )


def test_words_of_signs_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "signs.yaml"
    for fault in ("tree: ['*']", "tree: ['know* tree']", "nonsense: [a]", "tree: ['?']"):
        path.write_text(fault)
        with pytest.raises(ConfigInvalid, match=r"signs\.yaml"):
            read_signs(path)


def test_a_broken_or_foreign_file_of_weights_is_told(tmp_path: Path) -> None:
    path = tmp_path / "intents.npz"
    path.write_bytes(b"PK\x03\x04 nonsense")
    with pytest.raises(ConfigInvalid, match="make train-research-intents"):
        read_research_intents(SIGNS, path)
    keys = np.array([1], np.uint32)
    block = Block(keys, np.ones(1, np.float32), np.ones((1, 2), np.float32), 0.0)
    write_weights(path, Likeness(("publish", "general"), block, block, 0.1), "0")
    with pytest.raises(ConfigInvalid, match="task types"):
        read_research_intents(SIGNS, path)


def test_a_file_of_weights_keeps_the_classifier(tmp_path: Path) -> None:
    path = tmp_path / "intents.npz"
    write_weights(path, shipped().likeness, "0")
    again = read_research_intents(SIGNS, path)
    for message in ("find out who builds batteries", "zapisz https://a.example/x"):
        assert again.classify(message) == classify(message)


def asked(number: int, person: str) -> AskedResearch:
    task = TASKS[number % len(TASKS)]
    said = ("find out about", "download and save", "in our project compare", "full pipeline and tree on")
    return AskedResearch(
        text=f"{said[number % len(TASKS)]} subject{number}",
        language="en",
        task_type=task,
        complexity=COMPLEXITIES[number % len(COMPLEXITIES)],
        tools=("search_web",),
        person=person,
    )


def test_training_learns_and_each_writer_is_left_out_once() -> None:
    signs = read_signs(SIGNS)
    messages = [asked(number, f"writer{number // 12}") for number in range(36)]
    trained = fit(messages, signs, temperature=0.1)
    assert trained.classify("find out about whales").task_type == "research"
    assert trained.classify("full pipeline and tree on whales").task_type == "full_pipeline"
    groups = list(unheard(messages, signs))
    assert [{each.person for each in left} for _, left in groups] == [{"writer0"}, {"writer1"}, {"writer2"}]
    assert sum(len(left) for _, left in groups) == len(messages)


def test_messages_that_can_not_be_read_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="no training"):
        training_files(tmp_path)
    (tmp_path / "training.yaml").write_text("- {text: x, language: en}")
    with pytest.raises(ConfigInvalid, match=r"training\.yaml"):
        read_asked(tmp_path / "training.yaml")
