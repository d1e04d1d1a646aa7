"""Chooses the candidate to which a model gives the highest probability, or samples one."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, Self

from pydantic import Field, model_validator

from inhabit.agents.core import Agent, Decision, ModelError, Ranked, View
from inhabit.agents.dialogue.history import frames_of, offered, pictures
from inhabit.agents.dialogue.prompt import PromptSettings
from inhabit.agents.models.core import Ability, Image, Message, Model, Ranking
from inhabit.agents.models.registry import require
from inhabit.agents.planners.model_agent import (
    ScoringAgent,
    calls_kept_on_error,
    gather_rankings,
    seed_of,
)
from inhabit.agents.registry import AgentRegistration
from inhabit.envs.core import Action


class RankSettings(PromptSettings):
    """How candidates are compared."""

    score: Literal["sum", "mean", "contrast"] = "sum"
    """Score of a candidate: log-probability of its text (sum); that per token, so that length does
    not count, as in EgoPlan-Bench (mean); or sum minus the same without images, which measures what
    the image adds and takes twice as long (contrast)."""
    temperature: float = Field(default=0.0, ge=0.0)
    """Softmax temperature over the scores to sample a candidate; 0 takes the best."""
    end: bool = False
    """Score the end-of-answer token after each candidate as well, for a model that was taught to
    end its answers: without, "go to the drawer" can't score below "go to the drawer_2"."""
    top: int = Field(default=5, ge=1)
    """Number of best candidates that the record keeps."""
    early_stopping: bool = False
    """Stop as soon as no other candidate can be among the `top` best. These and the choice are the
    same. A local model reads far fewer tokens; the total probability of all is not recorded."""
    reason: bool = False
    """Let the model first say what has to be done and why; the candidates are then scored after
    its words."""
    words: int = Field(default=200, ge=1)
    """Maximum number of tokens of that reasoning."""
    bare: bool = False
    """Prompt with clips, image and goal alone, for benchmarks whose goal is the whole question,
    such as EgoPlan-Bench."""

    @model_validator(mode="after")
    def _nothing_dropped(self) -> Self:
        """Refuse what a bare prompt would leave out although it was asked for."""
        if self.bare and (self.pictures or self.choices):
            raise ValueError(
                "a bare prompt has neither past images nor candidates: leave out bare, or say "
                "pictures=0 and choices=false"
            )
        return self

    @model_validator(mode="after")
    def _all_needed(self) -> Self:
        """Refuse to stop early where all scores are needed."""
        if self.early_stopping and (self.score != "sum" or self.temperature):
            raise ValueError(
                "early_stopping needs score=sum and temperature=0: say early_stopping=false"
            )
        return self


class Rank(ScoringAgent[RankSettings]):
    """Scores all candidates exactly; the prompt lists them only if the settings say so.

    A candidate that has just failed is left out until an action works. Of equals the first wins.
    """

    async def decide(self, view: View) -> Decision:
        """The likeliest candidate; stops where there is none."""
        candidates = offered(view, repeats=self._settings.repeats)
        if not candidates:
            return Decision(None, stop=True)
        texts = [action.text for action in candidates]
        prompt = self._asked(view, texts)
        if not self._settings.reason:
            return await self._ranked(view, candidates, prompt)
        before = _with_text(prompt, self._prompt.template.block("think"))
        # Sampled anew at each step, if the model samples.
        seed = seed_of(f"{view.seed} {len(view.history)}")
        words = self._settings.words
        with calls_kept_on_error((), before):
            thought = await self._model.generate(before, max_tokens=words, seed=seed)
        said = thought.texts[0].strip()
        then = Message("user", (self._prompt.template.block("then"),))
        after = (*before, Message("assistant", (said,)), then)
        with calls_kept_on_error((thought.call,), prompt):
            decision = await self._ranked(view, candidates, after)
        calls = (thought.call, *decision.calls)
        return replace(decision, reasoning=said or thought.call.thoughts, calls=calls)

    async def _ranked(
        self, view: View, candidates: Sequence[Action], prompt: Sequence[Message]
    ) -> Decision:
        prompts = [prompt]
        if self._settings.score == "contrast":
            prompts.append(_blind(prompt))
        texts = [action.text for action in candidates]
        with calls_kept_on_error((), prompt):
            rankings = await gather_rankings(self._scored(one, texts) for one in prompts)
        scores = rankings[0].scores
        if rankings[1:]:
            pairs = zip(scores, rankings[1].scores, strict=True)
            scores = tuple(replace(seen, blind=blind.logprob) for seen, blind in pairs)
        values = [self._value(one) for one in scores]
        order = sorted(range(len(scores)), key=lambda i: -values[i])
        best = scores[self._chosen(order, values, view)]
        return Decision(
            next(action for action in candidates if action.text == best.text),
            description=await self._detected(view),
            ranked=tuple(scores[i] for i in order[: self._settings.top]),
            normaliser=None if self._settings.early_stopping else normaliser(values),
            calls=tuple(ranking.call for ranking in rankings),
            images=pictures(prompt),
        )

    async def _scored(self, prompt: Sequence[Message], texts: Sequence[str]) -> Ranking:
        """The score of every candidate, in order; of the best alone, if that is enough."""
        settings = self._settings
        if settings.early_stopping:
            return await self._model.beam(
                prompt, texts, width=settings.top, end=settings.end, exact=True
            )
        if not settings.end:
            return await self._model.rank(prompt, texts)
        found = await self._model.beam(prompt, texts, width=len(texts), end=True)
        place = {text: number for number, text in enumerate(texts)}
        return replace(found, scores=tuple(sorted(found.scores, key=lambda s: place[s.text])))

    def _chosen(self, order: Sequence[int], values: Sequence[float], view: View) -> int:
        """The first of `order`, or one that is sampled for this episode and step."""
        if not (temperature := self._settings.temperature):
            return order[0]
        best = values[order[0]]
        # Equals first: the best may be infinite, and infinity less itself is no number.
        chances = [1.0 if v == best else math.exp((v - best) / temperature) for v in values]
        rng = random.Random(f"{view.seed}/{len(view.history)}")
        return rng.choices(range(len(values)), chances)[0]

    def _asked(self, view: View, texts: Sequence[str]) -> tuple[Message, ...]:
        if not self._settings.bare:
            return super()._asked(view, texts)
        sees = Ability.IMAGES in self._model.abilities
        if not sees:
            self._prompt.warn_of_films(view)
        frames = frames_of(view.observation, self._settings.keyframes) if sees else ()
        return (Message("user", (*map(Image, frames), view.goal)),)

    def _value(self, ranked: Ranked) -> float:
        if ranked.blind is not None and math.isfinite(ranked.logprob):
            return ranked.logprob - ranked.blind
        if self._settings.score == "mean":
            return ranked.logprob / ranked.tokens
        return ranked.logprob


def normaliser(scores: Sequence[float]) -> float:
    """The logarithm of the summed exp(score), in nats."""
    best = max(scores)
    if math.isinf(best):
        return best
    return best + math.log(math.fsum(math.exp(score - best) for score in scores))


def _with_text(prompt: Sequence[Message], text: str) -> tuple[Message, ...]:
    """`prompt` with `text` at the end of its last message."""
    last = prompt[-1]
    return (*prompt[:-1], replace(last, parts=(*last.parts, f"\n{text}")))


def _blind(prompt: Sequence[Message]) -> tuple[Message, ...]:
    """`prompt` without its images, of which it has to have some."""
    if not pictures(prompt):
        raise ModelError(
            "There is no image here to score actions with and without: leave --sight none out, or "
            "choose --set score=sum."
        )
    return tuple(replace(message, parts=message.texts) for message in prompt)


def _make(settings: RankSettings, model: Model | None) -> Agent:
    asked = (
        [Ability.RANK]
        + [Ability.BEAM] * (settings.end or settings.early_stopping)
        + [Ability.WORDS] * settings.reason
    )
    asked += [Ability.IMAGES] * (settings.score == "contrast" or settings.pictures > 0)
    return Rank(require(model, "rank", *asked), settings)


REGISTRATION = AgentRegistration(
    name="rank",
    summary="takes the candidate with the highest probability under a model",
    settings=RankSettings,
    make=_make,
    model="local:smollm2",
    templates=("rank",),
)
