"""Beam search over the tokens of one action, or over plans: sequences of actions, scored by a
model, and tried if granted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from inhabit.agents.core import Agent, Call, Decision, Ranked, Step, Trial, View
from inhabit.agents.dialogue.answer import read
from inhabit.agents.dialogue.choices import Choices, Problem
from inhabit.agents.dialogue.history import offered, pictures
from inhabit.agents.dialogue.prompt import PromptSettings
from inhabit.agents.models.core import Ability, Message, Model
from inhabit.agents.models.registry import require
from inhabit.agents.planners.model_agent import (
    ScoringAgent,
    calls_kept_on_error,
    gather_rankings,
    seed_of,
)
from inhabit.agents.registry import AgentRegistration
from inhabit.envs.core import Action


class PlanSettings(PromptSettings):
    """How plans are searched."""

    width: int = Field(default=5, ge=1)
    """Beam width; EgoPlan-Bench uses 5 in VirtualHome."""
    depth: int = Field(default=3, ge=1)
    """Actions per plan."""
    follow: Literal["first", "plan"] = "first"
    """Actions of a plan that are executed before the next search: the first, or all until one
    fails."""
    tries: int = Field(default=50, ge=1)
    """Actions that are tried in copies of the scene, per level of depth."""


@dataclass(frozen=True, slots=True, eq=False)
class ActionPlan:
    """A sequence of actions from here, its score, and the state that it leads to."""

    actions: tuple[Action, ...]
    logprob: float
    """Sum over the actions in nats, each conditioned on those before it."""
    tokens: int
    view: View
    """The view after the actions, as far as it is known."""
    trial: Trial | None
    """A copy of the environment after the actions; None without lookahead."""

    def ranked(self) -> Ranked:
        """The plan as a record keeps it."""
        return Ranked(", then ".join(a.text for a in self.actions), self.logprob, self.tokens)


class PlanBeam(ScoringAgent[PlanSettings]):
    """The first action of the likeliest feasible plan, or the whole plan.

    A plan that can't be continued is dropped, however likely it is. If no plan of full depth is
    left, the longest ones count; if no action works at all, the likeliest action is chosen.
    """

    async def decide(self, view: View) -> Decision:
        """The next action; stops where there are no candidates."""
        follows = self._settings.follow == "plan"
        if follows and (going_on := _continued(view)) is not None:
            return going_on
        if not offered(view, repeats=self._settings.repeats):
            return Decision(None, stop=True)
        search = Search(self._model, self._asked, self._settings)
        plans = await search.plans(view)
        best = plans[0]
        return Decision(
            best.actions[0],
            description=await self._detected(view),
            reasoning=search.summary(view, plans),
            ranked=tuple(plan.ranked() for plan in plans),
            planned=tuple(a.text for a in best.actions[1:]) if follows else (),
            calls=tuple(search.calls),
            images=search.images,
        )


def _continued(view: View) -> Decision | None:
    """The next action of the plan in progress; None if there is none, or it is no candidate."""
    if not view.planned:
        return None
    said, *rest = view.planned
    action = next((a for a in view.candidates if a.text == said), None)
    if action is None:
        return None
    return Decision(action, reasoning="Going on with the plan.", planned=tuple(rest))


Asked = Callable[[View, Sequence[str]], tuple[Message, ...]]
"""(view, texts of its candidates) -> the prompt."""


class Search:
    """One search, from one step."""

    def __init__(self, model: Model, asked: Asked, settings: PlanSettings) -> None:
        """Score actions with `model` after the prompts that `asked` makes."""
        self._model = model
        self._asked = asked
        self._settings = settings
        self._copies: list[Trial] = []
        self._tried = self._failed = 0
        self.calls: list[Call] = []
        self._messages: list[Message] = []

    @property
    def images(self) -> Mapping[str, NDArray[np.uint8]]:
        """The images that `calls` name, by digest."""
        return pictures(self._messages)

    async def plans(self, view: View) -> Sequence[ActionPlan]:
        """The best plans from `view`, at least one, best first."""
        with calls_kept_on_error(self.calls, self._messages):
            return await self._searched(view)

    async def _searched(self, view: View) -> Sequence[ActionPlan]:
        try:
            trial = None
            if view.grants.fork is not None:
                trial = await view.grants.fork()
                self._copies.append(trial)
            plans: Sequence[ActionPlan] = [ActionPlan((), 0.0, 0, view, trial)]
            for _ in range(self._settings.depth):
                options = await self._options(plans)
                longer = await self._feasible(options)
                if not longer:
                    return plans if plans[0].actions else options[:1]
                plans = longer
            return plans
        finally:
            for copy in self._copies:
                await copy.close()

    def summary(self, view: View, plans: Sequence[ActionPlan]) -> str:
        """What was found, and how, in a sentence or two."""
        said = f"Plan: {plans[0].ranked().text}."
        if view.grants.fork is None:
            return said
        return f"{said} Tried {self._tried} actions in copies of the moment; {self._failed} failed."

    async def _options(self, plans: Sequence[ActionPlan]) -> list[ActionPlan]:
        """Every plan extended by every action, likeliest first; none of them is tried yet."""
        repeats = self._settings.repeats
        open_ended = [(p, offered(p.view, repeats=repeats)) for p in plans if p.view.candidates]
        asked = []
        for plan, actions in open_ended:
            texts = [action.text for action in actions]
            prompt = self._asked(plan.view, texts)
            self._messages += prompt
            asked.append(self._model.rank(prompt, texts))
        rankings = await gather_rankings(asked)
        self.calls += [ranking.call for ranking in rankings]
        options = (
            replace(
                plan,
                actions=(*plan.actions, action),
                logprob=plan.logprob + ranked.logprob,
                tokens=plan.tokens + ranked.tokens,
            )
            for (plan, actions), ranking in zip(open_ended, rankings, strict=True)
            for action, ranked in zip(actions, ranking.scores, strict=True)
        )
        return sorted(options, key=lambda plan: -plan.logprob)

    async def _feasible(self, options: Sequence[ActionPlan]) -> list[ActionPlan]:
        """The first `width` of `options` whose last action works."""
        working: list[ActionPlan] = []
        tried = any(option.trial for option in options)
        for option in options[: self._settings.tries] if tried else options:
            done = await self._done(option)
            if done is not None:
                working.append(done)
            if len(working) == self._settings.width:
                break
        return working

    async def _done(self, option: ActionPlan) -> ActionPlan | None:
        """`option` after its last action, tried if lookahead is granted; None if that fails."""
        action, view = option.actions[-1], option.view
        if option.trial is None:
            return replace(option, view=_extended(view, Step(action.text, None, "")))
        copy = await option.trial.fork()
        self._copies.append(copy)
        reason, feedback = await copy.act(action)
        self._tried += 1
        if reason is not None:
            self._failed += 1
            self._copies.remove(copy)
            await copy.close()
            return None
        view = _extended(view, Step(action.text, None, feedback))
        if len(option.actions) < self._settings.depth:
            observation, candidates = await copy.look()
            view = replace(view, observation=observation, candidates=candidates)
        return replace(option, view=view, trial=copy)


def _extended(view: View, step: Step) -> View:
    return replace(view, history=(*view.history, step))


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

    With a beam as wide as there are candidates, this equals the agent `rank`. A candidate that
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
        with calls_kept_on_error((), prompt):
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


class FreeBeam(ScoringAgent[BeamSettings]):
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
        # Sampled anew at each step, if the model samples.
        seed = seed_of(f"{view.seed} {len(view.history)}")
        with calls_kept_on_error((), prompt):
            reply = await self._model.generate(
                prompt, n=settings.width, max_tokens=settings.words, seed=seed
            )
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
