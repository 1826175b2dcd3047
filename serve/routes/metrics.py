"""`/metrics` for Prometheus, which has a token of its own: it lasts, and opens no other door."""

import hmac

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from models.config import HttpConfig
from models.errors import Unauthenticated
from serve.auth.caller import bearer_token
from serve.monitoring.metrics import Metrics
from serve.problems import problem_responses

router = APIRouter(tags=["health"])


@router.get("/metrics", response_class=Response, responses=problem_responses(401, 503))
async def metrics(request: Request) -> Response:
    """How workflows, steps, calls, scraping, approvals, deliveries, runners and requests are, in figures.

    Takes `http.scrape_token`.
    """
    settings: HttpConfig = request.app.state.config.http
    given, wanted = bearer_token(request.headers), settings.scrape_token.get_secret_value()
    if not hmac.compare_digest(given.encode(), wanted.encode()):
        raise Unauthenticated("this is not http.scrape_token of the configuration", error="invalid_token")
    counted: Metrics = request.app.state.metrics
    return Response(await counted.scrape(), media_type=CONTENT_TYPE_PLAIN_0_0_4)
