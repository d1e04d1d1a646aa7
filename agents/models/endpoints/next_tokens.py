"""vLLM's answer about the tokens that may follow several prompts, and what makes it unusable.

Servers ignore fields that they don't know, and answer with status 200 all the same. So an answer is
taken only if it holds exactly what was asked for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WrapValidator

from inhabit.agents.core import ModelError
from inhabit.agents.models.endpoints.completion import Answered, PaidAnswer, or_none

_TOKEN = "token_id:"
_ROUNDED = 0.01
"""How far rounding may take a probability, or a sum of them, above 1."""


def _of_both_forms(logprobs: Any) -> Any:
    """The pairs of token and log-probability, of /chat/completions or of /completions."""
    if content := logprobs.get("content"):
        return [(one["token"], one["logprob"]) for one in content[0]["top_logprobs"]]
    return list(logprobs["top_logprobs"][0].items())


def _read(logprobs: Any) -> Any:
    try:
        return _of_both_forms(logprobs)
    except (AttributeError, KeyError, IndexError, TypeError) as error:
        raise ValueError("no log-probabilities of tokens") from error


class _Choice(Answered):
    index: Annotated[int | None, WrapValidator(or_none)] = None
    logprobs: Annotated[
        tuple[tuple[str, float], ...] | None, BeforeValidator(_read), WrapValidator(or_none)
    ] = None


class NextTokens(PaidAnswer):
    """An answer about several prompts."""

    choices: tuple[_Choice, ...] = Field(min_length=1)

    def following(self, prompts: int, tokens: Sequence[int]) -> list[Mapping[int, float]]:
        """For each of `prompts` the log-probabilities, in nats, of `tokens` after it.

        Raises:
            ModelError: the answer does not hold them, or they can't be probabilities.
        """
        if len(self.choices) != prompts:
            raise _unusable(f"scores {len(self.choices)} of {prompts} prompts")
        ordered = {choice.index: choice for choice in self.choices}
        if ordered.keys() != set(range(prompts)):
            raise _unusable("does not say which prompt each score belongs to")
        return [_checked(ordered[i].logprobs, tokens) for i in range(prompts)]


def _checked(
    pairs: Sequence[tuple[str, float]] | None, tokens: Sequence[int]
) -> Mapping[int, float]:
    if pairs is None:
        raise _unusable("gives no log-probabilities of the next token")
    found: dict[int, float] = {}
    for name, logprob in pairs:
        id = name.removeprefix(_TOKEN)
        if not name.startswith(_TOKEN) or not id.isdecimal():
            raise _unusable("names tokens by their text, not by their number")
        if math.isnan(logprob) or logprob > _ROUNDED:
            raise _unusable(f"gives a token the log-probability {logprob:g}")
        if found.setdefault(int(id), logprob) != logprob:
            raise _unusable(f"gives token {id} two log-probabilities")
    if missing := [id for id in tokens if id not in found]:
        raise _unusable(
            f"leaves out {len(missing)} of {len(tokens)} tokens that it was asked about (vLLM "
            "knows logprob_token_ids from 0.19 on)"
        )
    if (total := math.fsum(map(math.exp, found.values()))) > 1 + _ROUNDED:
        raise _unusable(f"gives tokens probabilities that sum to {total:.2f}")
    return found


def _unusable(why: str) -> ModelError:
    return ModelError(f"The endpoint {why}.")
