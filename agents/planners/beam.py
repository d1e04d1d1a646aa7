"""Beam search over the tokens of one action, or over plans of several actions."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from inhabit.agents.core import Agent, Decision, View
from inhabit.agents.dialogue.answer import read
from inhabit.agents.dialogue.choices import Choices, Problem
from inhabit.agents.dialogue.history import offered, pictures
from inhabit.agents.models.core import Ability, Model
from inhabit.agents.models.registry import require
from inhabit.agents.planners.model_agent import ScoringAgent
from inhabit.agents.planners.plan_beam import PlanBeam, PlanSettings
from inhabit.agents.registry import AgentRegistration


class BeamSettings(PlanSettings):
    """What is searched, and how widely."""

    free: bool = False
    """Let the model generate freely, as EgoPlan-Bench does, and find the action in the first line
    of the result. An answer that matches none is a step without effect."""
    words: int = Field(default=24, ge=1)
    """Maximum number of tokens of a freely generated answer."""
    plan: bool = False
    """Search over plans of several actions instead of the words of one. With the lookahead grant
    each prefix is tried in a copy of the scene; without it the model alone judges it."""
    end: bool = False
    """Score the end-of-answer token after each candidate as well. With end=true and
    length_penalty=1 the results are those of transformers' generate(num_beams=WIDTH) held to the
    candidates."""
    length_penalty: float = 0.0
    """Order candidates by log-probability / tokens ** length_penalty; above 0 favours longer ones.
    generate of transformers has 1 by default."""

    @model_validator(mode="after")
    def _one_search(self) -> Self:
        if self.free and self.plan:
            raise ValueError("a beam is free or over plans, not both: leave out free or plan")
        if (self.end or self.length_penalty) and (self.free or self.plan):
            raise ValueError("end and length_penalty need a beam over candidates: leave them out")
        return self


class Beam(ScoringAgent[BeamSettings]):
    """The best result of a beam search constrained to the candidates.

    With a beam as wide as there are candidates, this equals the planner `rank`. A candidate that
    has just failed is left out until another action works.
    """

    async def decide(self, view: View) -> Decision:
        """The best candidate found; stops where there is none."""
        candidates = offered(view, repeats=self._settings.repeats)
        if not candidates:
            return Decision(None, stop=True)
        texts = [action.text for action in candidates]
        prompt = self._asked(view, texts)
        settings = self._settings
        found = await self._model.beam(
            prompt,
            texts,
            width=settings.width,
            end=settings.end,
            length_penalty=settings.length_penalty,
        )
        best = next(a for a in candidates if a.text == found.scores[0].text)
        return Decision(
            best,
            description=await self._detected(view),
            ranked=found.scores,
            calls=(found.call,),
            images=pictures(prompt),
        )


class FreeBeam(Beam):
    """The best result of an unconstrained beam search, matched to a candidate."""

    async def decide(self, view: View) -> Decision:
        """The action of the best reply; none if it matches no candidate, which the scores count as
        unmatched.
        """
        candidates = offered(view, repeats=self._settings.repeats)
        if not candidates:
            return Decision(None, stop=True)
        prompt = self._asked(view, [action.text for action in candidates])
        settings = self._settings
        reply = await self._model.generate(prompt, n=settings.width, max_tokens=settings.words)
        choices = Choices(view.candidates, candidates, lettered=False, listed=True, stop=False)
        lines = [said.strip().partition("\n")[0] for said in reply.texts]
        meanings = [(await read(line, choices, view)).meaning for line in lines]
        best = next((i for i, m in enumerate(meanings) if m.problem is not Problem.HELD), 0)
        return Decision(
            meanings[best].action,
            raw=reply.texts[best],
            ranked=reply.scores,
            calls=(reply.call,),
            images=pictures(prompt),
        )


def _make(settings: BeamSettings, model: Model | None) -> Agent:
    sees = [Ability.IMAGES] * (settings.pictures > 0)
    if settings.plan:
        return PlanBeam(require(model, "beam", Ability.RANK, *sees), settings)
    if settings.free:
        asked = [Ability.WORDS] + [Ability.N_BEST] * (settings.width > 1)
        return FreeBeam(require(model, "beam", *asked, *sees), settings)
    return Beam(require(model, "beam", Ability.BEAM, *sees), settings)


REGISTRATION = AgentRegistration(
    name="beam",
    summary="beam search over the words of an action, or over plans of several actions",
    settings=BeamSettings,
    make=_make,
    model="local:smollm2",
    templates=("rank",),
)
