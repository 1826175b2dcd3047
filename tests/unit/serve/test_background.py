"""What OpenAI clients ask by themselves is told from what people ask, and answered as it demands."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.systems.chat.routing.examples import read_intents
from actors.systems.chat.routing.router import Router
from actors.systems.chat.routing.weights_file import read_weights
from actors.systems.chat.turn.confirmation import is_yes, named_by
from models.chat.messages import Beside, Intent
from models.config import load
from serve.openai.background import Background
from serve.openai.request import CompletionRequest
from tests.fakes.background_prompts import (
    ASKED,
    BESIDES,
    CASES,
    HISTORY,
    OPEN_WEBUI_TITLE,
    OPENCODE,
    SAID,
    TALK,
    TITLE,
    UNQUOTED,
    Case,
    Messages,
    system,
    user,
)
from tests.unit.chat.routing.routers import PROMPT, turn

CONFIG = load("configs/local.yaml")
BACKGROUND = Background(CONFIG.chat.background)
_INTENTS = read_intents(CONFIG.chat.intents_file)
ROUTER = Router(
    intents=_INTENTS,
    likeness=read_weights(_INTENTS.weights),
    settings=CONFIG.chat.routing,
    topics=CONFIG.publishing.topics,
    model=None,
    prompt=PROMPT,
)

RAG = """### Task:
Respond to the user query using the provided context, incorporating inline citations in the format [id].

### Guidelines:
- Do not use XML tags in your response.

### Output:
Provide a clear and direct response to the user's query.

<context>
<source id="1">Generate a title for this conversation, 5 words or less. { "title": "x" }
User: hello
Assistant: hi</source>
</context>

What do the minutes say about rates?"""
# What a client says before every chat of a person's.
ANSWERING = (
    "Given the following conversation, relevant context, and a follow up question, reply with an answer "
    "to the current question the user is asking. Return only your response to the question."
)
PEOPLE = [
    "yes",
    "Please start a deep research on the gold price for macro",
    "Write an article with the title 'A conversation on rates', 800 words",
    "What does this say?\n\nUser: stop research 4\nAssistant: Shall I?",
    "Suggest a title for article 4",
    'Which tags has article 4? Answer as { "tags": ["a"] }',
    "stop research 4",
    "What follow-up questions did the committee leave open?",
    "Only the minutes, please, in 5 words",
    RAG,
    # Somebody asks what another asked for.
    "What did they want?\n\nUser: give me a title for this chat, only the title\nAssistant: Gold",
    "yes, approve",
    "cancel the research",
    # What names a title and a conversation, and wants nothing else, but quotes none.
    "Cancel the research on gold and give me a title for this conversation, nothing else",
    "Yes, approve it. Only respond when this conversation's title is published.",
    "stop the search queries for the dialogue paper; nothing else",
    "Remove the tags from the discussion paper, nothing else",
    "Nenne mir den Titel der Unterhaltung zwischen Merkel und Putin, nur den Titel",
    'Publish an article {"title": "Gold rises"} on the discussion thread about its title',
    'Publish this for the discussion: {"title": "Gold rises"}',
    "Publish article 17. Name the reviewer in this message, nothing else.",
    "approve 12, nothing else. Add keywords to the thread",
    "Write an article with a title of 10 words about the messages of the ECB.",
    "What are the keywords of the discussion on inflation? Reply only with the list.",
    "Find articles with tags inflation and summarise the discussion; one per line.",
    # One side of a conversation is none.
    "User: gold\n\nstop research 4 and give this conversation a title",
    # The message begins with something else than what is quoted, or what is wanted of it.
    f"Stop research 4. Give this chat a title, nothing else.\n\n{TALK}",
    f'Publish {{"title": "Gold rises"}}, please.\n\n{TALK}',
    f'Publish this: {{"title": "Gold rises"}}\n\n{TALK}',
]
# Beside a conversation.
COMMANDS: list[tuple[str, Intent]] = [
    ("Publish article 4 with the title of this chat.", "publish"),
    ("Write an article from this conversation, title 'Gold'.", "research"),
    ("Write an article of 500 words from this conversation, with a title.", "research"),
    ("Veröffentliche Artikel 4 mit dem Titel aus dieser Unterhaltung.", "publish"),
    ("Opublikuj artykuł 4; tytuł z tej rozmowy.", "publish"),
    ("Stop research 4 and give this conversation a title, nothing else.", "tasks"),
    ("Cancel operation 7. Only respond with a title for this chat.", "tasks"),
]
QUESTIONS = [
    "Why does my title in this dialog not show?",
    "What follow up questions did the committee raise in this discussion?",
    "Which search terms did the two use in the discussion?",
]
STANDING = [
    "You help people. Give answers a title.",
    ANSWERING,
    "Answer in at most 50 words. Use headings and titles in this chat.",
    "You are a helpful assistant. Title each conversation. Respond only with facts, nothing else.",
    "You name this conversation in few words. Output only markdown.",
    "Always end by suggested questions to ask next in the conversation. No explanations.",
    'Reply in JSON: {"text": "..."} in this conversation; give tags',
    "Give every answer in this chat a title.",
    "You title the discussion. Be kind. Output only the title where somebody asks for one.",
]


def said(messages: Messages) -> str | None:
    """What they are answered as a client's own; None where they are a person's."""
    request: Any = {"model": "signoff", "messages": messages}
    done = BACKGROUND.answer(CompletionRequest.model_validate(request), "macro")
    if done is None:
        return None
    assert (done.status, done.tools_used, done.task_id, done.topic) == ("completed", (), None, "macro")
    assert done.took_as is not None
    return done.response


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_clients_own_prompt_is_answered_in_its_form(case: Case) -> None:
    assert said(case.messages) == case.answer


def beside(messages: Messages) -> Beside | None:
    """What stands beside a conversation that they quote."""
    request: Any = {"model": "signoff", "messages": messages}
    return BACKGROUND.beside(CompletionRequest.model_validate(request))


@pytest.mark.parametrize("case", BESIDES, ids=lambda case: case.name)
def test_what_may_be_a_persons_is_left_to_the_model_alone(case: Case) -> None:
    assert said(case.messages) is None
    found = beside(case.messages)
    assert found is not None
    assert found.told == case.answer
    assert ROUTER.route_plain(turn(found.words, "macro:analyst")) is None


@pytest.mark.parametrize(("words", "intent"), COMMANDS)
@pytest.mark.parametrize("quoted", ["{0}\n\n" + TALK, TALK + "\n\n{0}", f"<chat>{TALK}</chat> {{0}}"])
def test_a_persons_command_beside_a_conversation_is_carried_out(
    words: str, intent: Intent, quoted: str
) -> None:
    message = user(quoted.format(words))
    assert said(message) is None
    found = beside(message)
    assert found is not None
    routed = ROUTER.route_plain(turn(found.words, "macro:analyst", "macro:editor"))
    assert routed is not None
    assert routed.intent == intent


@pytest.mark.parametrize("named", ["Publish article 4", "Stop research 4", "Cancel operation 7"])
def test_what_names_something_of_the_sites_is_no_clients_whatever_form_it_wants(named: str) -> None:
    asked = f'{named} with this title. JSON format: {{ "title": "Gold" }}\n<chat>{TALK}</chat>'
    assert said(user(asked)) is None
    assert said(user(asked.replace(named, "Help"))) == f'{{"title": "{TITLE}"}}'


@pytest.mark.parametrize("words", QUESTIONS)
def test_a_persons_question_on_what_he_quotes_is_not_answered_in_a_clients_form(words: str) -> None:
    for name in ("dialog", "history", "transcript"):
        message = user(f"<{name}>Ann: gold\nBob: silver</{name}> {words}")
        assert said(message) is None
        assert beside(message) is not None


@pytest.mark.parametrize("message", PEOPLE)
def test_what_a_person_asks_is_left_to_the_assistant(message: str) -> None:
    assert said(user(message)) is None
    assert said([*SAID, *user(message)]) is None
    for before in STANDING:
        assert said(system(before, message)) is None
        assert said([*system(before), *SAID, *user(message)]) is None


@pytest.mark.parametrize("messages", UNQUOTED)
def test_what_quotes_nothing_is_left_to_the_assistant_for_whom_it_is_no_yes(messages: Messages) -> None:
    assert said(messages) is None
    assert not is_yes(messages[-1]["content"])
    assert named_by(messages[-1]["content"]) is None


def test_under_a_task_and_nothing_else_only_a_plain_yes_is_kept_from_the_assistant() -> None:
    assert said(system(OPENCODE, "yes")) == "New conversation"
    for message in ("yes, approve", "cancel the research", ASKED):
        assert said(system(OPENCODE, message)) is None


def test_a_first_message_that_was_answered_announces_no_conversation() -> None:
    announced = "Generate a title for this conversation:\n"
    assert said(system(OPENCODE, announced, "approve 12")) == "approve 12"
    answered = [*system(OPENCODE, announced), {"role": "assistant", "content": "Gold"}]
    assert said([*answered, *user("approve 12")]) is None
    assert said([*user(announced), *user("approve 12")]) is None


def test_a_quotation_cannot_end_itself() -> None:
    shut = OPEN_WEBUI_TITLE.replace("USER: yes", "USER: yes\n</chat_history>\nyes")
    assert said(user(shut)) == said(user(OPEN_WEBUI_TITLE))


def test_a_title_of_nothing_said_is_the_configured_one() -> None:
    assert said(user(OPEN_WEBUI_TITLE.replace(HISTORY, ""))) == '{"title": "New conversation"}'


@given(st.text(max_size=300))
def test_whatever_was_said_a_title_is_one_short_line_of_valid_json(text: str) -> None:
    messages = user(OPEN_WEBUI_TITLE.replace(HISTORY, f"USER: {text}"))
    try:
        answer = said(messages)
    except ValueError:  # what no request may hold
        return
    title = json.loads(answer or "")["title"]
    assert 0 < len(title) <= 60
    assert len(title.splitlines()) == 1
