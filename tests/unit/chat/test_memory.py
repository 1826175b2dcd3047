"""How much of a conversation a model is shown: rules that hold for every history."""

from hypothesis import assume, given
from hypothesis import strategies as st

from actors.platform.llm.client import rough_tokens
from actors.systems.chat.turn.model_messages import UNANSWERED, fit
from models.chat.messages import ChatMessage
from models.config import ModelSettings

MESSAGES = st.builds(
    ChatMessage,
    role=st.sampled_from(["user", "assistant"]),
    content=st.text(alphabet="ab ąż\n", max_size=60),
)
HISTORIES = st.lists(MESSAGES, max_size=12)


def settings(window: int = 400, share: int = 90, reply: int = 50) -> ModelSettings:
    return ModelSettings.model_validate(
        {
            "model": "tiny",
            "api_base": "http://127.0.0.1:1/v1",
            "api_key": "k",
            "context_window": window,
            "max_tokens": reply,
            "temperature": 0.2,
            "context_window_threshold": share,
            "max_retries": 0,
            "retry_delay": 0,
            "timeout_seconds": 1,
        }
    )


def alternating(*contents: str) -> list[ChatMessage]:
    roles = ("user", "assistant")
    return [ChatMessage(role=roles[at % 2], content=content) for at, content in enumerate(contents)]


@given(history=HISTORIES, window=st.integers(51, 500), fixed=st.integers(0, 200))
def test_what_is_shown_fits_and_takes_turns(history: list[ChatMessage], window: int, fixed: int) -> None:
    model = settings(window)
    shown = fit(history, fixed_tokens=fixed, settings=model)
    tokens = rough_tokens([{"content": message.content} for message in shown])
    assert not shown or tokens + fixed + model.max_tokens <= window * 90 // 100
    roles = [message.role for message in shown]
    assert roles == ["user", "assistant"] * (len(shown) // 2)


@given(history=HISTORIES, window=st.integers(51, 500))
def test_the_newest_stay_whole_without_a_hole(history: list[ChatMessage], window: int) -> None:
    shown = fit(history, fixed_tokens=0, settings=settings(window))
    spoken = [message for message in history if message.content.strip()]
    text = "\n\n".join(message.content for message in shown)
    if spoken and spoken[-1].role == "user":
        text = text.removesuffix(UNANSWERED).removesuffix("\n\n")
    ends = ["\n\n".join(message.content for message in spoken[at:]) for at in range(len(spoken))]
    assert text in [*ends, ""]


@given(history=HISTORIES, window=st.integers(51, 500), more=st.integers(0, 200))
def test_a_larger_window_never_shows_less(history: list[ChatMessage], window: int, more: int) -> None:
    small = fit(history, fixed_tokens=0, settings=settings(window))
    large = fit(history, fixed_tokens=0, settings=settings(window + more))
    assert len(large) >= len(small)
    assert sum(len(m.content) for m in large) >= sum(len(m.content) for m in small)


@given(history=HISTORIES)
def test_what_fits_is_not_dropped(history: list[ChatMessage]) -> None:
    assume(any(m.role == "user" and m.content.strip() for m in history))
    shown = fit(history, fixed_tokens=0, settings=settings(10_000))
    kept = "".join(message.content for message in shown)
    begun = False
    for message in history:
        begun = begun or (message.role == "user" and bool(message.content.strip()))
        assert not begun or not message.content.strip() or message.content in kept


def test_the_oldest_go_first() -> None:
    history = alternating("one " * 50, "two", "three", "four")
    shown = fit(history, fixed_tokens=0, settings=settings(100))
    assert [message.content for message in shown] == ["three", "four"]


def test_neighbours_of_one_role_become_one_message_and_blanks_go() -> None:
    history = [
        ChatMessage(role="assistant", content="welcome"),
        ChatMessage(role="user", content="a"),
        ChatMessage(role="assistant", content="  "),
        ChatMessage(role="user", content="b"),
        ChatMessage(role="assistant", content="c"),
        ChatMessage(role="user", content="d"),
    ]
    shown = fit(history, fixed_tokens=0, settings=settings())
    assert [message.content for message in shown] == ["a\n\nb", "c", "d", UNANSWERED]


def test_a_window_without_room_shows_nothing() -> None:
    assert fit(alternating("a", "b"), fixed_tokens=10_000, settings=settings()) == []
