"""`/metrics` for Prometheus. Without a token, like `/health`: it names tools and counts, no one's content."""

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from serve.metrics import Metrics
from serve.problems import problem_responses

router = APIRouter(tags=["health"])


@router.get("/metrics", response_class=Response, responses=problem_responses(503))
async def metrics(request: Request) -> Response:
    """Tool calls by tool, door and status; workflows, approvals and deliveries by status."""
    counted: Metrics = request.app.state.metrics
    return Response(await counted.scrape(), media_type=CONTENT_TYPE_PLAIN_0_0_4)
