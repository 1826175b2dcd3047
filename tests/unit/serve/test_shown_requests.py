"""Each text of a request is taken only as people would see it, by its declaration; the rest is named here."""

from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from tests.unit.serve.test_request_records import REQUESTS

HIDING = ("\u202e", "\x1b", "\u200b", "\u3164", "\ufe0f")
# Names of something that there is, each compared with what is known and shown to nobody by itself.
NAMES = {
    *("topic", "plan_id", "request_id", "approval_id", "conversation_id", "provider", "series_id", "symbol"),
    *("scope", "subject", "node", "nodes", "into", "under", "headers", "secret", "modify_config"),
}
# Words that are looked for; a tree's name, which is cleaned as it is given; what goes to a server as it was
# given; documents and messages, which are kept as they were given, shown without what can't be seen in
# exports, and written out at a terminal.
KEPT_AS_GIVEN = {
    *(("ArticleSearch", "query"), ("ResourceSearch", "query"), ("QueryKnowledgeBase", "query")),
    *(("SearchWeb", "query"), ("SeriesSearch", "query"), ("WebSearch", "query"), ("ListEntities", "name")),
    *(("RenameNode", "name"), ("AgentDecision", "given"), ("DecideOperationAgent", "given")),
    *(("WriteArticle", "content"), ("CreateTextResource", "content"), ("CreateTableResource", "rows")),
    *(("ScrapeUrls", "urls"), ("DownloadPdf", "url"), ("NewWebhook", "url"), ("WebhookChange", "url")),
    *(("PastedText", "text"), ("SaveToDatabase", "data"), ("Chat", "message")),
}
# The door that speaks OpenAI's API takes what OpenAI takes.
OF_OPENAI = "serve.openai."


def texts_in(annotation: Any, checks: tuple[Any, ...] = ()) -> Iterator[Any]:
    """Each text in an annotation, with its own checks; records in it are looked through by themselves."""
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        yield from texts_in(inner, (*more, *checks))
    elif annotation is str:
        for check in checks:
            annotation = Annotated[annotation, check]
        yield annotation
    elif not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        for inner in get_args(annotation):
            yield from texts_in(inner)


def takes(text: Any, value: str) -> bool:
    """Whether a text with its checks is valid."""
    try:
        TypeAdapter(text).validate_python(value)
    except ValidationError:
        return False
    return True


def texts_of(field: FieldInfo) -> Iterator[Any]:
    """Those that a field may bring."""
    annotation: Any = field.annotation
    for each in field.metadata:
        annotation = Annotated[annotation, each]
    return texts_in(annotation)


def unchecked() -> set[tuple[str, str]]:
    """The fields of requests that take what can't be seen, but for names, by their record."""
    return {
        (model.__name__.removesuffix("Body").removesuffix("Request"), name)
        for model in REQUESTS
        if not model.__module__.startswith(OF_OPENAI)
        for name, field in model.model_fields.items()
        if name not in NAMES
        for text in texts_of(field)
        if any(takes(text, f"what is held{hidden} up") for hidden in HIDING)
    }


def test_no_text_that_others_read_takes_what_they_can_not_see() -> None:
    assert unchecked() == KEPT_AS_GIVEN


@pytest.mark.parametrize("hidden", HIDING, ids=ascii)
def test_the_walk_finds_texts_in_lists_and_options(hidden: str) -> None:
    class Fresh(BaseModel):
        plain: str | None = None
        many: dict[str, Annotated[tuple[str, ...], "of no matter"]] = {}

    found = [text for field in Fresh.model_fields.values() for text in texts_of(field)]
    assert len(found) == 3
    assert all(takes(text, f"a{hidden}b") for text in found)
