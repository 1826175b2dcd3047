"""Signoff over HTTP as one person, with a token of their own; never through the database.

The commands that people type use it. What an endpoint refuses is raised with its problem's `detail`
(RFC 9457). Redirects are not followed: the token goes nowhere else.
"""

import ssl
from collections.abc import Generator, Iterator
from typing import Any, Self, TypeVar

import httpx2
from pydantic import TypeAdapter

from cluster.plain_text import one_line
from models.errors import ClusterProblem, ConfigInvalid, InputInvalid, RequestRefused

_T = TypeVar("_T")
# A stream that goes on says so every 15 s.
_SILENCE_SECONDS = 60.0
_NO_TEXT = "what you wrote is no text in UTF-8: write it again"


class ConnectionBroken(ClusterProblem):
    """An answer that had begun did not come to its end."""


class Door:
    """The endpoints of the Signoff at `url`; a context manager. `up` is the command that brings it up."""

    def __init__(self, url: str, token: str, *, up: str = "signoff up") -> None:
        self.url = url.rstrip("/")
        self._up = up
        try:
            address = httpx2.URL(self.url)
            if address.scheme not in ("http", "https") or not address.host:
                raise httpx2.InvalidURL("write one such as http://127.0.0.1:8000")
            # Never through the site's proxy; certificates as the system trusts them, its own CA's too.
            self._client = httpx2.Client(
                base_url=address,
                headers={"Authorization": f"Bearer {token}"},
                timeout=30,
                trust_env=False,
                verify=ssl.create_default_context(),
            )
        except (httpx2.InvalidURL, UnicodeEncodeError) as error:
            raise ConfigInvalid(f"--url {url!r} is no address: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def ask(self, expected: type[_T], method: str, path: str, *, unsure: str = "", **request: Any) -> _T:
        """What an endpoint answers, read as `expected`. `unsure`: how to see whether a lost call was done.

        Raises:
            RequestRefused: it refuses. ClusterProblem: nobody answers there, or not to the end.
            InputInvalid: the request holds what is no text.
        """
        answer = self._answer(method, path, unsure=unsure, **request)
        try:
            answer.raise_for_status()
            return TypeAdapter(expected).validate_python(answer.json())
        except (httpx2.HTTPStatusError, ValueError) as error:
            raise self._stranger(answer, method, path) from error

    def file(self, path: str, *, media_type: str, params: dict[str, Any]) -> bytes:
        """What an endpoint hands over as a file of that type. Raises as `ask` does."""
        answer = self._answer("GET", path, params=params)
        if answer.status_code != 200 or not answer.headers.get("Content-Type", "").startswith(media_type):
            raise self._stranger(answer, "GET", path)
        content: bytes = answer.content
        return content

    def events(self, path: str, body: dict[str, Any]) -> Generator[tuple[str, Any], None, None]:
        """The server-sent events that an endpoint answers with, as they come: their names and data.

        Closing it hangs up.

        Raises:
            RequestRefused, ClusterProblem: as `ask`. ConnectionBroken: it broke off after it had begun.
            InputInvalid: the body holds what is no text.
        """
        timeout = httpx2.Timeout(30, read=_SILENCE_SECONDS)
        try:
            with self._client.stream("POST", path, json=body, timeout=timeout) as answer:
                if _is_problem(answer):
                    answer.read()
                    raise _refusal(answer)
                if not answer.headers.get("Content-Type", "").startswith("text/event-stream"):
                    raise self._stranger(answer, "POST", path)
                yield from _events(answer)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise self._nobody(error) from error
        except httpx2.HTTPError as error:
            raise ConnectionBroken(
                f"{self.url} did not answer to the end ({error or type(error).__name__})"
            ) from error
        except UnicodeEncodeError as error:
            raise InputInvalid(_NO_TEXT) from error

    def _answer(self, method: str, path: str, *, unsure: str = "", **request: Any) -> httpx2.Response:
        """An answer that is no refusal; it may be a stranger's."""
        try:
            answer = self._client.request(method, path, **request)
        except UnicodeEncodeError as error:
            raise InputInvalid(_NO_TEXT) from error
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise self._nobody(error) from error
        except httpx2.HTTPError as error:
            told = f"{self.url} did not answer to the end ({error or type(error).__name__})"
            raise ClusterProblem(told + (f": {unsure}" if unsure else "")) from error
        if _is_problem(answer):
            raise _refusal(answer)
        return answer

    def _nobody(self, error: httpx2.HTTPError) -> ClusterProblem:
        remedy = f"run `{self._up}`" if "refused" in str(error) else str(error)
        return ClusterProblem(f"no Signoff answers at {self.url}: {remedy}")

    def _stranger(self, answer: httpx2.Response, method: str, path: str) -> ClusterProblem:
        return ClusterProblem(
            f"{self.url} answers {answer.status_code} to {method} {path}, and not as Signoff does: "
            f"see that this is its address, and run `{self._up}`"
        )


def _events(answer: httpx2.Response) -> Iterator[tuple[str, Any]]:
    """Events as `serve.streams.sse` writes them: an answer may be one long line."""
    for event in httpx2.EventSource(answer, max_event_size=None):
        try:
            if event.data:
                yield event.event, event.json()
        except ValueError as error:
            raise ClusterProblem("an event is not as Signoff writes them: see --url") from error


def _is_problem(answer: httpx2.Response) -> bool:
    return bool(answer.headers.get("Content-Type") == "application/problem+json")


def _refusal(answer: httpx2.Response) -> RequestRefused:
    try:
        return refusal_of(answer.json())
    except ValueError:
        return RequestRefused(f"{answer.request.url} answers {answer.status_code}")


def refusal_of(problem: Any) -> RequestRefused:
    """A problem's `detail` on one line, with its members. Raises ValueError where it is no problem."""
    try:
        return RequestRefused(one_line(str(problem["detail"])), **{str(k): v for k, v in problem.items()})
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("no problem") from error
