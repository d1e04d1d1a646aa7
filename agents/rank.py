"""Takes the candidate that a model holds most likely to be said next."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agents.asker import Asker
from agents.core import Agent, Decision, Ranked, View
from agents.history import untried
from agents.models.core import Ability, Image, Message, Model
from agents.models.registry import require
from agents.prompt import Prompt, pictures
from agents.registry import AgentRegistration


class RankSettings(BaseModel):
    """How candidates are compared."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    score: Literal["sum", "mean"] = "sum"
    """`sum` is the log-probability of the whole text. `mean` divides it by the number of tokens, so
    that no text loses by its length alone: the way of EgoPlan-Bench (Chen et al., 2023)."""
    top: int = Field(default=5, ge=1)
    """How many of the best candidates a record keeps."""
    history: int = Field(default=8, ge=0)
    """How many past steps the prompt tells of."""
    bare: bool = False
    """Ask the goal alone, after films and picture: for benchmarks whose goal is the whole question,
    such as EgoPlan-Bench's."""


class Rank(Asker):
    """Exact likelihoods of all candidates, which the prompt does not list.

    A candidate that has just failed is left out until something works. Of equals the first wins.
    """

    def __init__(self, model: Model, settings: RankSettings) -> None:
        super().__init__(model)
        self._settings = settings
        self._prompt = Prompt("rank", history=settings.history)

    async def decide(self, view: View) -> Decision:
        """The likeliest candidate; stops where there is none."""
        candidates = untried(view)
        if not candidates:
            return Decision(None, stop=True)
        prompt = self._asked(view)
        ranking = await self._model.rank(prompt, [a.text for a in candidates])
        order = sorted(range(len(candidates)), key=lambda i: -self._value(ranking.scores[i]))
        return Decision(
            candidates[order[0]],
            ranked=tuple(ranking.scores[i] for i in order[: self._settings.top]),
            calls=(ranking.call,),
            images=pictures(prompt),
        )

    def _asked(self, view: View) -> tuple[Message, ...]:
        sees = Ability.IMAGES in self._model.abilities
        if not self._settings.bare:
            return self._prompt.messages(view, images=sees)
        seen = view.observation
        frames = [frame for clip in seen.clips for frame in clip.frames]
        frames += [] if seen.rgb is None else [seen.rgb]
        return (Message("user", (*(Image(f) for f in frames if sees), view.goal)),)

    def _value(self, ranked: Ranked) -> float:
        if self._settings.score == "mean":
            return ranked.logprob / ranked.tokens
        return ranked.logprob


def _make(settings: RankSettings, model: Model | None) -> Agent:
    return Rank(require(model, "rank", Ability.RANK), settings)


REGISTRATION = AgentRegistration(
    name="rank",
    summary="takes the candidate that a model holds most likely",
    settings=RankSettings,
    make=_make,
    model="local:smollm2",
)
