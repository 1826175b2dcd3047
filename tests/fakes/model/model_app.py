"""The scripted model server's HTTP side: the OpenAI endpoints, and the endpoints that drive it.

`tests.fakes.model.model_server` runs it. A call that waits also watches its connection, so a client that
leaves is recorded as cancelled at once. State is in the `Book`; nothing is kept here.
"""

import asyncio
import base64
import json
import struct
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from tests.fakes.model.model_replies import AgentKinds, count_tokens, default_reply, embed
from tests.fakes.model.model_script import Book, Call, Calls, Release, Rule, Script, State

EMBEDDING_DIMENSIONS = 384
_CLIENT_CLOSED_REQUEST = 499


def make_app(*, latency: float, prompts: Path) -> FastAPI:
    """The server's ASGI app; `latency` is seconds per call, `prompts` what agents are recognised by."""
    app = FastAPI(openapi_url=None)
    book = Book(latency=latency)
    kinds = AgentKinds(prompts)

    @app.post("/v1/chat/completions")
    async def chat(request: Request, body: dict[str, Any]) -> Response:
        prompt = "\n".join(_text_of(message) for message in body.get("messages", []))
        form = (body.get("response_format") or {}).get("json_schema")
        name = form["name"] if form else None
        call, rule = book.begin(
            kind=kinds.of(prompt, name), schema_name=name or "text", prompt=prompt, body=body
        )

        def reply() -> Response:
            text = _reply_of(rule, prompt, form)
            if body.get("stream"):
                pieces = _stream(book, call, rule, text, request)
                return StreamingResponse(pieces, media_type="text/event-stream")
            book.end(call, status=200)
            return JSONResponse(_completion(call, rule, text))

        return await _serve(request, book, call, rule, reply)

    @app.post("/v1/embeddings")
    async def embeddings(request: Request, body: dict[str, Any]) -> Response:
        texts = _inputs(body["input"])
        call, rule = book.begin(kind="embeddings", schema_name=None, prompt="\n".join(texts), body=body)

        def reply() -> Response:
            book.end(call, status=200)
            return JSONResponse(_vectors(body, texts))

        return await _serve(request, book, call, rule, reply)

    @app.get("/v1/models")
    async def models() -> dict[str, Any]:
        return {"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "tests"}]}

    @app.post("/script")
    async def script(script: Script) -> None:
        book.add(script)

    @app.post("/release")
    async def release(what: Release) -> int:
        return book.release(what)

    @app.post("/reset")
    async def reset() -> None:
        book.reset()

    @app.get("/calls")
    async def calls(
        newer_than: int = -1,
        at_least: int = 0,
        kind: str | None = None,
        state: State = "started",
        timeout: float = 0.0,
    ) -> Calls:
        return await book.wait(
            newer_than=newer_than, at_least=at_least, kind=kind, state=state, timeout=timeout
        )

    return app


async def _serve(
    request: Request, book: Book, call: Call, rule: Rule, reply: Callable[[], Response]
) -> Response:
    """Let the call take its time, watching for a client that leaves; then answer as the rule says."""
    work = asyncio.ensure_future(book.pause(call, rule))
    gone = asyncio.ensure_future(_disconnected(request))
    await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
    left = gone.done()
    for task in (work, gone):
        task.cancel()
    await asyncio.gather(work, gone, return_exceptions=True)
    if left:
        book.end(call, cancelled=True)
        return Response(status_code=_CLIENT_CLOSED_REQUEST)
    if rule.drop:
        book.end(call, dropped=True)
        _reset_connection(request)
        return Response()
    if rule.status is not None:
        book.end(call, status=rule.status)
        error = {"message": rule.reply or "scripted error", "type": "scripted", "code": rule.status}
        pause = {} if rule.retry_after is None else {"Retry-After": f"{rule.retry_after:g}"}
        return JSONResponse({"error": error}, status_code=rule.status, headers=pause)
    if rule.raw is not None:
        book.end(call, status=200)
        return Response(rule.raw, media_type=rule.raw_type)
    return reply()


def _reset_connection(request: Request) -> None:
    # ASGI has no word for it, so this reaches for uvicorn's own transport.
    request.receive.__self__.transport.abort()  # type: ignore[attr-defined]


def _reply_of(rule: Rule, prompt: str, form: dict[str, Any] | None) -> str:
    if rule.pieces is not None:
        return "".join(rule.pieces)
    if rule.reply is not None or rule.tool_calls:
        return rule.reply or ""
    return default_reply(prompt, form and form["schema"])


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _text_of(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def _head(call: Call, kind: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{call.number}",
        "object": kind,
        "created": int(time.time()),
        "model": call.body.get("model", "scripted"),
    }


def _usage(prompt: str, reply: str = "") -> dict[str, int]:
    asked, said = count_tokens(prompt), count_tokens(reply)
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def _completion(call: Call, rule: Rule, text: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if rule.tool_calls:
        calls = [_tool_call(call, at, asked.name, asked.text) for at, asked in enumerate(rule.tool_calls)]
        message |= {"content": text or None, "tool_calls": calls}
    return {
        **_head(call, "chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": rule.ending}],
        **({"usage": _usage(call.prompt, _said(rule, text))} if rule.usage else {}),
        **rule.extra,
    }


def _tool_call(call: Call, at: int, name: str, arguments: str) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"id": f"call-{call.number}-{at}", "type": "function", "function": function}


def _said(rule: Rule, text: str) -> str:
    return " ".join([text, *(f"{asked.name} {asked.text}" for asked in rule.tool_calls)])


def _deltas(call: Call, rule: Rule, text: str) -> list[dict[str, Any]]:
    """What a stream sends: the text by words, then each tool call, its arguments in two halves."""
    pieces = rule.pieces
    if pieces is None:
        words = text.split(" ")
        pieces = (*(word + " " for word in words[:-1]), words[-1])
    deltas: list[dict[str, Any]] = [{"content": piece} for piece in pieces if piece or not rule.tool_calls]
    for at, asked in enumerate(rule.tool_calls):
        half = len(asked.text) // 2
        deltas.append({"tool_calls": [{"index": at, **_tool_call(call, at, asked.name, "")}]})
        for part in (asked.text[:half], asked.text[half:]):
            deltas.append({"tool_calls": [{"index": at, "function": {"arguments": part}}]})
    return deltas


async def _stream(book: Book, call: Call, rule: Rule, text: str, request: Request) -> AsyncIterator[str]:
    head = _head(call, "chat.completion.chunk")
    dropped = whole = False
    try:
        for sent, delta in enumerate(_deltas(call, rule, text)):
            if sent == rule.drop_after:
                dropped = True
                _reset_connection(request)
                return
            choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": None}
            yield f"data: {json.dumps({**head, 'choices': [choice]})}\n\n"
            await asyncio.sleep(rule.chunk_delay)
        last = {"index": 0, "delta": {}, "finish_reason": rule.ending}
        yield f"data: {json.dumps({**head, 'choices': [last], **rule.extra})}\n\n"
        if rule.usage and (call.body.get("stream_options") or {}).get("include_usage"):
            usage = _usage(call.prompt, _said(rule, text))
            yield f"data: {json.dumps({**head, 'choices': [], 'usage': usage})}\n\n"
        whole = True
        yield "data: [DONE]\n\n"
    finally:
        if dropped:
            book.end(call, dropped=True)
        else:
            book.end(call, status=200, cancelled=not whole)


def _inputs(given: Any) -> list[str]:
    """The texts of an embeddings request; token ids count as words."""
    if isinstance(given, str):
        return [given]
    if given and isinstance(given[0], int):
        return [" ".join(map(str, given))]
    return [text if isinstance(text, str) else " ".join(map(str, text)) for text in given]


def _vectors(body: dict[str, Any], texts: list[str]) -> dict[str, Any]:
    data: list[dict[str, Any]] = []
    for index, text in enumerate(texts):
        vector: Any = embed(text, body.get("dimensions") or EMBEDDING_DIMENSIONS)
        if body.get("encoding_format") == "base64":
            vector = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
        data.append({"object": "embedding", "index": index, "embedding": vector})
    usage = _usage("\n".join(texts))
    return {"object": "list", "data": data, "model": body.get("model", "scripted"), "usage": usage}
