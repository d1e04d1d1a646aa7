"""What a run may say of a chat endpoint."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BeforeValidator, Field, JsonValue, field_validator

from inhabit.agents.models.core import Ability
from inhabit.envs.marks import NoEffect, Place
from inhabit.envs.settings import SettingsModel


def _or_none(value: object) -> object:
    return None if value == "none" else value


def _words(value: object) -> object:
    return [w for w in value.replace(",", " ").split() if w] if isinstance(value, str) else value


def _parsed(value: object) -> object:
    return json.loads(value) if isinstance(value, str) else value


class OpenAISettings(SettingsModel):
    """How an endpoint is asked. Keys are no setting: they stand in INHABIT_API_KEY or
    OPENAI_API_KEY, and are never written down.
    """

    base_url: Annotated[str | None, Place(), NoEffect()] = None
    """URL of the endpoint. By default OpenAI's. A server may move while a run goes on; that it
    serves the same model there is the user's word."""
    temperature: Annotated[float | None, BeforeValidator(_or_none)] = Field(default=0.0, ge=0.0)
    """Sampling temperature; none leaves it to the endpoint, which some models require."""
    max_tokens: int = Field(default=1024, ge=1)
    """Maximum number of tokens of an answer."""
    lacks: Annotated[frozenset[Ability], BeforeValidator(_words)] = frozenset()
    """What the model does not support, of: images, n_best, tools, schema, logprobs."""
    prompt_logprobs: bool = False
    """The endpoint returns log-probabilities of prompt tokens as vLLM does, so that candidates can
    be ranked. Checked when the model is loaded, in about ten short requests."""
    extra: Annotated[Mapping[str, JsonValue], BeforeValidator(_parsed)] = {}
    """Further request fields as a JSON object, such as {"top_k": 20}."""
    timeout: Annotated[float, NoEffect()] = Field(default=120.0, gt=0)
    """Seconds for one answer."""
    attempts: Annotated[int, NoEffect()] = Field(default=6, ge=1)
    """Attempts at a request that failed for a temporary reason."""
    backoff: Annotated[float, NoEffect()] = Field(default=0.5, ge=0)
    """Mean delay before the second attempt, in seconds; it doubles for each next one."""
    longest_wait: Annotated[float, NoEffect()] = Field(default=120.0, gt=0)
    """Maximum delay between two attempts, in seconds; a longer Retry-After is not waited for."""
    in_flight: Annotated[int, NoEffect()] = Field(default=32, ge=1)
    """Maximum number of concurrent requests."""
    budget_calls: Annotated[int | None, NoEffect()] = Field(default=None, ge=0)
    """Maximum number of calls of the whole run, including those before an interruption. For a data
    set, of each command that goes on with it."""
    budget_tokens: Annotated[int | None, NoEffect()] = Field(default=None, ge=0)
    """Maximum number of tokens read and written in the whole run, including those before an
    interruption. For a data set, of each command that goes on with it."""
    cache: Annotated[Path | None, NoEffect()] = None
    """File that caches answers to identical requests."""
    cache_samples: bool = False
    """Also cache sampled answers (temperature above 0)."""

    @field_validator("base_url")
    @classmethod
    def _plain(cls, url: str | None) -> str | None:
        if url is None:
            return None
        parts = urlsplit(url)
        _ = parts.port  # raises ValueError where it is none
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("it begins with http:// or https://")
        if not url.isprintable():
            raise ValueError("it must not contain unprintable characters, such as a line's end")
        if parts.username or parts.password or parts.query:
            raise ValueError("it must not contain a key: put the key in INHABIT_API_KEY")
        return url
