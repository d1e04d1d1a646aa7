"""What a run may say of a chat endpoint."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, field_validator

from inhabit.agents.models.core import Ability
from inhabit.envs.marks import NoEffect, Place


def _or_none(value: object) -> object:
    return None if value == "none" else value


def _words(value: object) -> object:
    return [w for w in value.replace(",", " ").split() if w] if isinstance(value, str) else value


def _parsed(value: object) -> object:
    return json.loads(value) if isinstance(value, str) else value


class OpenAISettings(BaseModel):
    """How an endpoint is asked. Keys are no setting: they stand in INHABIT_API_KEY or
    OPENAI_API_KEY, and are never written down.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: Annotated[str | None, Place()] = None
    """Where it is; None for OpenAI itself."""
    temperature: Annotated[float | None, BeforeValidator(_or_none)] = Field(default=0.0, ge=0.0)
    """`none` leaves it to the endpoint; some models can't be told."""
    max_tokens: int = Field(default=1024, ge=1)
    """After which an answer is cut off."""
    lacks: Annotated[frozenset[Ability], BeforeValidator(_words)] = frozenset()
    """What this model can't do, of images, n_best, tools, schema and logprobs."""
    prompt_logprobs: bool = False
    """The endpoint scores the tokens of prompts as vLLM does, so that texts can be ranked. It is
    asked once, when the model is loaded, whether it really does."""
    extra: Annotated[Mapping[str, JsonValue], BeforeValidator(_parsed)] = {}
    """What this endpoint understands beside all that, as a JSON object: {"top_k": 20}."""
    timeout: Annotated[float, NoEffect()] = Field(default=120.0, gt=0)
    """Seconds for a whole answer."""
    attempts: Annotated[int, NoEffect()] = Field(default=6, ge=1)
    """How often one thing is asked, where what went wrong may pass."""
    backoff: Annotated[float, NoEffect()] = Field(default=0.5, ge=0)
    """Seconds before the second try, on average; twice that before the third, and so on."""
    longest_wait: Annotated[float, NoEffect()] = Field(default=120.0, gt=0)
    """Seconds between two tries; an endpoint whose Retry-After wants more is given up."""
    in_flight: Annotated[int, NoEffect()] = Field(default=32, ge=1)
    """Calls at once."""
    budget_calls: int | None = Field(default=None, ge=0)
    """Calls, in all episodes together, after which the run ends. Those that were answered before it
    was cut off count when it goes on."""
    budget_tokens: int | None = Field(default=None, ge=0)
    """The same for tokens read and written."""
    cache: Annotated[Path | None, NoEffect()] = None
    """A file that keeps answers, for whoever asks the same again."""
    cache_samples: bool = False
    """Keep answers that were drawn by lot, too."""

    @field_validator("base_url")
    @classmethod
    def _plain(cls, url: str | None) -> str | None:
        if url is None:
            return None
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("it begins with http:// or https://")
        if parts.username or parts.password or parts.query:
            raise ValueError("a key is no part of it: put it in INHABIT_API_KEY")
        return url
