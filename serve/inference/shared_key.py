"""The door of `/llm`, `/embeddings` and `/samples`: agents show `serving.api_key`, and nobody else comes in.

ASGI middleware around a whole application. These endpoints know no people, so one key opens them all; a
browser has no business there, and gets no CORS headers.
"""

import hmac

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from serve.admission.bodies import BodyRefused, ClientLeft, closing, has_body, read_body, told_again

# A prompt of 128,000 tokens, or 2,048 texts to embed, fit many times over.
MOST_BYTES = 16 * 1024 * 1024
_BODY_SECONDS = 60.0


class SharedKey:
    """The middleware: 401 without the key, before a byte of the body is read; 413 and 408 for bodies."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self._app = app
        self._expected = f"bearer {key}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it in OpenAI's shape."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if not self._knows(scope):
            refusal = _refusal(401, "give serving.api_key as the API key", "invalid_api_key")
            await refusal(scope, receive, closing(send))
            return
        if not has_body(scope):
            await self._app(scope, receive, send)
            return
        try:
            body = await read_body(
                scope, receive, most=MOST_BYTES, seconds=_BODY_SECONDS, setting="of this endpoint"
            )
        except BodyRefused as error:
            await _refusal(error.status, error.detail, "invalid_request_error")(scope, receive, closing(send))
        except ClientLeft:
            return
        else:
            await self._app(scope, told_again(body, receive), send)

    def _knows(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        scheme, _, token = (given[0] if len(given) == 1 else b"").partition(b" ")
        return hmac.compare_digest(scheme.lower() + b" " + token.strip(), self._expected)


def _refusal(status: int, message: str, code: str) -> JSONResponse:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return JSONResponse({"error": error}, status_code=status, headers=headers)
