"""Loading of room settings that were stored by this version or an earlier one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import structlog
from pydantic import TypeAdapter

from server.house_bots import HOUSE_BOTS
from server.settings import RoomSettings

ADAPTER = TypeAdapter(RoomSettings)
log = structlog.get_logger("server.settings")


def within(limits: Mapping[str, Any], value: Any) -> Any:
    """Return a number or list reduced to the maximum of a setting; other values are returned unchanged."""
    if "le" in limits and isinstance(value, int | float):
        return min(value, limits["le"])
    if "max_length" in limits and isinstance(value, list):
        return value[: limits["max_length"]]
    return value


def restore_settings(values: dict[str, Any]) -> RoomSettings:
    """Restore stored settings. Values beyond the limits, which earlier versions did not have, are clamped.

    Raises ValueError if the values are not valid settings.
    """
    limits = {field.name: field.metadata for field in fields(RoomSettings)}
    fitting = {name: within(limits.get(name, {}), value) for name, value in values.items()}
    for name in ("fill", "house_bot"):  # scales may have been measured anew
        if name in fitting:
            value, within_scale = fitting[name], HOUSE_BOTS.within_scale
            fitting[name] = [within_scale(bot) for bot in value] if isinstance(value, list) else within_scale(value)
    changed = {name: value for name, value in fitting.items() if value != values[name]}
    if changed:
        log.warning("stored settings are beyond what is allowed now, and are brought to it", **changed)
    return ADAPTER.validate_python(fitting)
