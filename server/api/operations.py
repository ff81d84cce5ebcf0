"""Health check and metrics, for operators."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, HTTPException
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel
from starlette.responses import Response

from server.api.common import LobbyHere, Route, ServiceHere, problems

router = APIRouter(tags=["operations"], route_class=Route)


class Healthy(BaseModel):
    """The server works."""

    status: Literal["ok"] = "ok"


@router.get("/healthz", summary="Health check", responses=problems(503))
async def get_health(service: ServiceHere) -> Healthy:
    """503 if the database does not answer within a second."""
    if problem := await service.health.problem():
        raise HTTPException(503, problem)
    return Healthy()


@router.get(
    "/metrics",
    summary="Metrics for Prometheus",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
)
async def get_metrics(lobby: LobbyHere) -> Response:
    """Prometheus' text format."""
    return Response(generate_latest(lobby.metrics.registry), media_type=CONTENT_TYPE_LATEST)
