"""Replies of the protocol."""

from __future__ import annotations

import json
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from inhabit.envs.entries import first_problem
from inhabit.envs.virtualhome.unity.protocol import ProtocolReply, ProtocolRequest

_M = TypeVar("_M", bound=BaseModel)


class RefusedError(ValueError):
    """A request cannot be executed. One sentence."""


def done(message: str = "") -> ProtocolReply:
    """A success."""
    return ProtocolReply(success=True, message=message)


def json_reply(value: object) -> ProtocolReply:
    """A reply in JSON."""
    return ProtocolReply(success=True, message=json.dumps(value))


def read(model: type[_M], request: ProtocolRequest, number: int = 0) -> _M:
    """A parameter in JSON."""
    if len(request.stringParams) <= number:
        raise RefusedError(f"{request.action} lacks its string parameter {number}.")
    try:
        return model.model_validate_json(request.stringParams[number])
    except ValidationError as error:
        raise RefusedError(f"{request.action}, {first_problem(error)}.") from error
