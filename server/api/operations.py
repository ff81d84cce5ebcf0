"""Health check and metrics, for operators."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, HTTPException
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import BaseModel
from starlette.responses import Response

from server.api.common import LobbyHere, Route, problems

router = APIRouter(tags=["operations"], route_class=Route)


class Healthy(BaseModel):
    """The server works."""

    status: Literal["ok"] = "ok"


@router.get("/healthz", summary="Health check", responses=problems(503))
async def get_health(lobby: LobbyHere) -> Healthy:
    """503 if the database or the journals cannot be written, or finished games could not be stored yet.

    Writes to both, at most every few seconds.
    """
    if await lobby.storing.checked_problem():
        raise HTTPException(503, "nothing can be stored, no new games start; see the server's log")
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
