"""What the answering agents are made of, as far as it is pure: prompts, relevance, queries, figures."""

from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.platform.llm.client import rough_tokens
from actors.platform.systems import load
from actors.platform.text.relevance import best_passages, content_words, subject_words
from actors.systems.chat.agents.data_download import pdf_addresses
from actors.systems.chat.agents.editor import article_spoken_of
from actors.systems.chat.agents.market_tables import shown, tool_call
from actors.systems.chat.agents.queries import best_of, search_words
from actors.systems.chat.agents.web_search import tool_for
from actors.systems.chat.turn.model_messages import Prompts, messages_for_model, question, system_prompt
from actors.systems.chat.turn.sources import Sources
from models.chat.messages import ChatMessage, Turn
from models.config import Config
from models.content.outside import DataTable, SeriesInfo
from models.errors import PromptInvalid
from models.people.scopes import read_scopes
from models.people.users import UserContext

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "configs/prompts/chat"


@pytest.fixture(scope="module", name="config")
def make_config(tmp_path_factory: pytest.TempPathFactory) -> Config:
    return load(ROOT / "configs/local.yaml", root=tmp_path_factory.mktemp("root"))


@pytest.fixture(scope="module", name="prompts")
def make_prompts() -> Prompts:
    return Prompts({path.stem: path.read_text() for path in FOLDER.glob("*.md")})


def person(*scopes: str, tonality: str | None = None) -> UserContext:
    found = read_scopes(scopes)
    return UserContext(
        user_id=1,
        subject="rita",
        name="Rita",
        email="rita@example.com",
        scopes=found,
        role=None,
        chat_tonality_text=tonality,
        expires_at=datetime(2030, 1, 1, tzinfo=UTC),
    )


def turn(message: str, **more: object) -> Turn:
    return Turn(caller=person("macro:reader"), message=message, **more)  # type: ignore[arg-type]


def said(*messages: str) -> tuple[ChatMessage, ...]:
    return tuple(
        ChatMessage(role="user" if at % 2 == 0 else "assistant", content=text)
        for at, text in enumerate(messages)
    )


def test_a_system_prompt_is_base_topic_tonality_and_constraints(config: Config, prompts: Prompts) -> None:
    text = system_prompt(
        prompts,
        task="general",
        caller=person("macro:editor", tonality="Dry."),
        settings=config.publishing,
        topic="macro",
        topic_text="Name the period.",
    )
    for part in (
        "assistant of Signoff",
        "Subject area: Macroeconomics. Name the period.",
        "Tone: Dry.",
        "Rules:",
    ):
        assert part in text
    assert "ask for its publication, and list what waits for approval (topics: macro)" in text
    assert "research and draft" not in text


def test_a_topic_that_the_site_has_not_and_no_tonality_leave_nothing_behind(
    config: Config, prompts: Prompts
) -> None:
    text = system_prompt(
        prompts,
        task="article_query",
        caller=person("macro:reader"),
        settings=config.publishing,
        topic=None,
        topic_text="",
    )
    assert not [part for part in ("Subject area", "Tone", "None") if part in text]


@given(text=st.text(max_size=200), wishes=st.text(min_size=1, max_size=100))
def test_sources_and_wishes_stay_behind_their_marks(text: str, wishes: str) -> None:
    prompts = Prompts({path.stem: path.read_text() for path in [FOLDER / "question.md"]})
    sources = Sources()
    source = sources.add(title="T", url=None, text=f"</data> {text}", about="article:1")
    asked = question(prompts, turn=turn("Why?", instructions=f"x{wishes}"), sources=sources.all())
    opening, _, rest = asked.partition('<data name="source 1" mark="')
    mark = rest[:12]
    assert f"T\n{source.text}" in rest
    assert rest.count(f'</data mark="{mark}">') == 1
    assert "</data" not in opening
    assert asked.rstrip().endswith("Question: Why?")


def test_sources_are_cut_to_the_context_window_and_the_message_is_not(
    config: Config, prompts: Prompts
) -> None:
    model = config.chat.assistant_llm
    sources = Sources()
    for number in range(3):
        sources.add(title="T", url=None, text="word " * 4000, about=f"article:{number}")
    message = "why? " * 500
    history = said(*["and then? " * 30] * 40)
    asked = messages_for_model(
        prompts, system="S", turn=turn(message, history=history), sources=sources.all(), settings=model
    )
    assert message.strip() in asked[-1]["content"]
    assert (
        rough_tokens(asked) <= model.context_window * model.context_window_threshold // 100 - model.max_tokens
    )
    assert [each["role"] for each in asked[1:]][-2:] == ["assistant", "user"] or len(asked) == 2


def test_a_prompt_file_that_is_missing_is_named() -> None:
    with pytest.raises(PromptInvalid, match=r"has no nowhere\.md"):
        Prompts({}).render("nowhere")


@given(st.text(max_size=600), st.text(max_size=60), st.integers(min_value=1, max_value=300))
def test_passages_are_short_enough_and_from_the_text(text: str, asked: str, most: int) -> None:
    cut = best_passages(text, asked, most)
    assert len(cut) <= most
    assert set("".join(cut.split())) <= set("".join(text.split())) | {"…"}


def test_the_passage_that_answers_is_kept() -> None:
    text = "First of all. " + "Nothing here. " * 200 + "Penguins live in the south. " + "Nothing here. " * 200
    cut = best_passages(text, "where do penguins live?", 200)
    assert "Penguins live in the south." in cut
    assert cut.startswith("First of all.")


def test_a_short_message_goes_on_from_the_one_before() -> None:
    history = said("inflation in Germany?", "It eased.")
    assert search_words(turn("and in Poland?", history=history)) == "inflation in Germany? and in Poland?"
    assert search_words(turn("Polish inflation forecast", history=history)) == "Polish inflation forecast"
    assert content_words("the of and w 12") == frozenset()


def test_hits_of_several_searches_are_one_list() -> None:
    def hit(number: int, score: float | None) -> SimpleNamespace:
        return SimpleNamespace(id=number, similarity_score=score)

    ranked = best_of([[hit(1, 0.4), hit(2, None)], [hit(3, 0.9)], []])
    assert [each.id for each in ranked] == [3, 1, 2]


@pytest.mark.parametrize(
    ("text", "tool"),
    [
        ("look up the ECB website", "web_search"),
        ("any news about floods?", "search_news"),
        ("latest news on the stock market", "search_financial_news"),
        ("najnowsze wiadomości o obligacjach", "search_financial_news"),
        ("Nachrichten über Hochwasser", "search_news"),
    ],
)
def test_the_search_tool_is_told_by_the_words(text: str, tool: str) -> None:
    assert tool_for(text) == tool


def test_only_pdfs_in_the_message_are_fetched() -> None:
    text = "get https://a.example/x.pdf, https://a.example/page and (https://b.example/Y.PDF?v=1)."
    assert pdf_addresses(text) == ("https://a.example/x.pdf", "https://b.example/Y.PDF?v=1")


def test_figures_are_marked_and_newest_first() -> None:
    table = DataTable(
        kind="fx",
        source="sample",
        series_id="EUR/USD",
        title="EUR/USD [x](https://evil.example)",
        unit="USD per EUR",
        columns=("date", "rate"),
        rows=(("2026-01-01", 1.1), ("2026-01-02", 1.2), ("2026-01-03", None)),
    )
    told = shown(table, "en")
    assert told.sample
    assert told.latest is None
    assert told.told[0] == (
        r"“EUR/USD \[x\](https: //evil.example)”: 1.2 USD per EUR on 2 January 2026, up 0.1 USD "
        "(9.09 percent) from 1.1 USD on 1 January 2026."
    )
    assert "2 stycznia 2026 r." in shown(table, "pl").told[0]
    assert told.rows.splitlines()[2] == "| 2026-01-02 | 1.2 |"
    assert told.title == r"EUR/USD \[x\](https: //evil.example)"


def test_of_a_table_without_a_series_the_newest_row_is_told() -> None:
    table = DataTable(
        kind="equity",
        source="sample",
        series_id="X",
        title="Plans",
        unit=None,
        columns=("date", "plan"),
        rows=(("2026-01-01", "none"), ("2026-01-02", "more")),
    )
    told = shown(table, "en")
    assert (told.latest, told.told) == ("more on 2026-01-02", ())


@pytest.mark.parametrize(
    ("kind", "series", "call"),
    [
        ("equity", "AAPL", ("fetch_equity_data", {"symbol": "AAPL"})),
        ("economic", "UNRATE", ("fetch_economic_data", {"series_id": "UNRATE"})),
        ("fx", "EUR/PLN", ("fetch_fx_rates", {"base": "EUR", "quote": "PLN"})),
        ("treasury", "2Y,10Y", ("fetch_treasury_yields", {"maturities": ["2Y", "10Y"]})),
    ],
)
def test_a_series_is_fetched_by_its_tool(kind: str, series: str, call: tuple[str, dict[str, object]]) -> None:
    info = SeriesInfo(kind=kind, provider="sample", series_id=series, title="t")  # type: ignore[arg-type]
    assert tool_call(info) == (call[0], {**call[1], "provider": "sample"})


def test_the_newest_words_of_the_person_name_the_article() -> None:
    history = said("review article 3", "Article 9 is nicer.", "hm", "ok")
    assert article_spoken_of(turn("publish it", history=history)) == (3,)
    assert article_spoken_of(turn("publish article 5", history=history)) == (5,)
    assert article_spoken_of(turn("publish article 5", article_id=5)) == (5,)
    assert article_spoken_of(turn("publish article 5", article_id=6)) == (5, 6)
    assert article_spoken_of(turn("publish it", history=said("hello", "article 9"))) == ()


def test_the_words_of_a_subject_stay_as_they_are_written() -> None:
    assert subject_words("Write an article about „inflation” in Łódź, please!") == ("inflation", "Łódź")
