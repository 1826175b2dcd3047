"""The door for OpenAI clients: the same assistant, under the user's token as the API key.

The client keeps the conversation; here nothing is stored but the model calls that an answer took. Errors
are problems as elsewhere, which `serve.openai.errors` puts into OpenAI's shape.
"""

from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from models.chat.messages import Done, Piece, Said
from models.config import Config
from models.errors import AgentDied, FeatureOff, InputInvalid, ModelNotFound, SignoffError
from models.people.users import UserContext
from models.record import reason_of
from models.store.database import Database
from models.store.runtime import model_calls
from models.tools import PlainText
from serve.answering import Answering, ClientGone, assistant_for
from serve.auth.caller import Caller
from serve.openai.background import Background
from serve.openai.errors import error_of, openai_responses
from serve.openai.request import CompletionRequest
from serve.openai.wire import Completion, Writing
from serve.problems import MOST_FAULTS, members_of
from serve.streams.sse import EVENTS, KEEP_ALIVE, EventStream

_MODEL = "signoff"
# Part of OpenAI's shape. When the site began has no bearing on anything.
_CREATED = 0
_CLIENT_CLOSED_REQUEST = 499
_CODES = {
    "missing": "missing_required_parameter",
    "extra_forbidden": "unknown_parameter",
    "json_invalid": "invalid_json",
}


class _OpenAIRoute(APIRoute):
    """Names the member of the request that is at fault as OpenAI does: `messages[0].content`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's documented way to see a request's errors."""
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError as error:
                raise _invalid(error) from None

        return handler


router = APIRouter(
    prefix="/v1",
    tags=["openai"],
    route_class=_OpenAIRoute,
    generate_unique_id_function=lambda route: route.name,
)


class Model(BaseModel):
    """A way to ask the assistant: about anything, or about one topic."""

    model_config = ConfigDict(frozen=True)

    id: str
    object: Literal["model"] = "model"
    created: int = _CREATED
    owned_by: str = "signoff"


class ModelList(BaseModel):
    """Those that the caller may use."""

    model_config = ConfigDict(frozen=True)

    object: Literal["list"] = "list"
    data: tuple[Model, ...]


@router.get("/models", responses=openai_responses(401, 500, 503))
async def list_openai_models(request: Request, caller: Caller) -> ModelList:
    """`signoff`, and `signoff-{topic}` for every topic that the caller may read."""
    return ModelList(data=tuple(Model(id=name) for name in _topics(request, caller)))


@router.get("/models/{model}", responses=openai_responses(400, 401, 404, 500, 503))
async def get_openai_model(request: Request, caller: Caller, model: Annotated[PlainText, Path()]) -> Model:
    """One of them."""
    _topic(request, caller, model)
    return Model(id=model)


@router.post(
    "/chat/completions",
    response_model=Completion,
    responses={
        200: {
            "description": "The answer whole or, with `stream: true`, its chunks.",
            "content": EVENTS,
        },
        **openai_responses(400, 401, 404, 413, 429, 500, 503, 504),
    },
)
async def create_chat_completion(
    request: Request,
    caller: Caller,
    asked: CompletionRequest,
    idempotency_key: Annotated[
        Annotated[PlainText, Field(min_length=1, max_length=200), AfterValidator(str.strip)] | None, Header()
    ] = None,
) -> Response | Completion:
    """Ask the assistant as an OpenAI client does. What it may do is what the caller may do.

    Beside OpenAI's members there is `signoff`: who answered, with which tools, and `task_id` where a task
    goes on by itself. The same `Idempotency-Key` again begins no second task. A `stop` cuts the text; the
    answer is made to its end all the same, so that its usage and its task are told. Hanging up stops it.
    What a client asks by itself, a title or the like, is answered without the assistant; where a message
    that quotes a conversation is no plain command, by the model alone.
    """
    topic = _topic(request, caller, asked.model)
    background: Background = request.app.state.background
    if (told := background.answer(asked, topic)) is not None:
        writing = Writing(asked)
        return EventStream(_at_once(told, writing)) if asked.stream else writing.whole(told)
    assistant = await assistant_for(request, caller)
    turn = asked.turn(
        caller,
        topic=topic,
        request_id=idempotency_key or None,
        beside=background.beside(asked),
        aside=background.is_aside(asked),
    )
    database: Database = request.app.state.database

    async def keep(done: Done) -> Done:
        if done.calls:
            await database.write(lambda connection: model_calls.put(connection, done.calls, step="answer"))
        return done

    answering: Answering[Done] = request.app.state.answers.begin(assistant, turn, keep)
    writing = Writing(asked)
    pieces = answering.follow(request)
    try:
        if not asked.stream:
            async with aclosing(pieces):
                async for _ in pieces:
                    pass
            return writing.whole(await _whole(answering))
        return EventStream(_chunks(answering, pieces, await _first(answering, pieces), writing))
    except ClientGone:
        return Response(status_code=_CLIENT_CLOSED_REQUEST)


async def _at_once(done: Done, writing: Writing) -> AsyncGenerator[str, None]:
    """An answer that is there already, as a stream."""
    yield writing.begins() + writing.goes_on(done.response) + writing.ends(done)


async def _first(answering: Answering[Done], pieces: AsyncGenerator[Piece | None, None]) -> str:
    """The text that the answer begins with; what goes wrong before it is an error over HTTP.

    It is empty where there is no text, and where it is long in coming: then the client must hear something.
    """
    try:
        async for piece in pieces:
            if piece is None or isinstance(piece, Said):
                return piece.text if piece else ""
        await _whole(answering)
    except BaseException:
        await pieces.aclose()
        raise
    return ""


async def _chunks(
    answering: Answering[Done],
    pieces: AsyncGenerator[Piece | None, None],
    first: str,
    writing: Writing,
) -> AsyncGenerator[str, None]:
    """The answer as server-sent events; an error that comes this late is an event as well."""
    async with aclosing(pieces):
        yield writing.begins() + writing.goes_on(first)
        try:
            async for piece in pieces:
                if piece is None:
                    yield KEEP_ALIVE
                elif isinstance(piece, Said) and (chunk := writing.goes_on(piece.text)):
                    yield chunk
            yield writing.ends(await _whole(answering))
        except ClientGone:
            return
        except SignoffError as error:
            yield f"data: {error_of(members_of(error)).model_dump_json()}\n\n"


async def _whole(answering: Answering[Done]) -> Done:
    done = await answering.kept()
    if done.status == "interrupted":
        raise AgentDied("the site stopped before the answer was whole: send the same request again")
    return done


def _topics(request: Request, caller: UserContext) -> dict[str, str | None]:
    """The names of the models that the caller may use, with the topic of each."""
    config: Config = request.app.state.config
    if not config.features.enable_new_agent_system:
        raise FeatureOff("the chat is switched off: set features.enable_new_agent_system to true")
    topics = [topic for topic in config.publishing.topics if caller.has("reader", topic)]
    return {_MODEL: None, **{f"{_MODEL}-{topic}": topic for topic in topics}}


def _topic(request: Request, caller: UserContext, model: str) -> str | None:
    models = _topics(request, caller)
    if model not in models:
        raise ModelNotFound(
            f"the model {model[:80]!r} does not exist or you do not have access to it: use one of "
            f"{', '.join(models)}",
            param="model",
        )
    return models[model]


def _invalid(error: RequestValidationError) -> InputInvalid:
    """What is wrong first, with the rest in the message."""
    faults = error.errors()
    told = [f"{_param(fault['loc']) or 'body'}: {_reason(fault)}" for fault in faults[:MOST_FAULTS]]
    return InputInvalid(
        "; ".join(told), param=_param(faults[0]["loc"]), code=_CODES.get(faults[0]["type"], "invalid_value")
    )


def _reason(fault: dict[str, Any]) -> str:
    if fault["type"] == "extra_forbidden":
        return "is no parameter of this endpoint: leave it out"
    return reason_of(fault)


def _param(loc: tuple[int | str, ...]) -> str | None:
    place, *path = loc
    if place == "body" and path and isinstance(path[0], int):  # a place in a text that is no JSON
        return None
    told = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return told.lstrip(".") or None
