"""A model with scripted replies and scores: for tests and examples."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from inhabit.agents.core import Call, ModelError, Ranked
from inhabit.agents.models.beam_search import BeamRules
from inhabit.agents.models.core import (
    Ability,
    GenerateOptions,
    Message,
    Model,
    Ranking,
    Reply,
    ToolCall,
)
from inhabit.agents.models.registry import ModelRegistration
from inhabit.envs.entries import first_problem
from inhabit.envs.settings import NoSettings


class Rule(BaseModel, frozen=True, extra="forbid"):
    """A score for candidates that contain a text, under conditions on the newest message."""

    contains: str
    logprob: float = Field(le=0.0)
    when: tuple[str, ...] = ()
    """Texts that the newest message must all contain."""
    unless: tuple[str, ...] = ()
    """Texts of which the newest message must contain none."""

    def fits(self, text: str, newest: str) -> bool:
        """Whether it applies to the candidate `text` after the message `newest`."""
        return (
            self.contains in text
            and all(one in newest for one in self.when)
            and not any(one in newest for one in self.unless)
        )


class Want(BaseModel, frozen=True, extra="forbid"):
    """A scripted tool call."""

    name: str
    arguments: str = "{}"


class ScriptedReply(BaseModel, frozen=True, extra="forbid"):
    """A reply to prompts that contain a text."""

    when: str
    say: str = ""
    wants: tuple[Want, ...] = ()
    """Tool calls; left out where no tools are offered."""


class Script(BaseModel, frozen=True, extra="forbid"):
    """Scores and replies of a scripted model. Scores are looked up in the order of the fields."""

    abilities: frozenset[Ability] = frozenset({Ability.RANK})
    scores: dict[str, float] = {}
    """Log-probability, in nats, of exactly this candidate."""
    rules: tuple[Rule, ...] = ()
    """Scores by rules, of which the first one that applies counts."""
    noise: bool = False
    """Whether any other candidate is scored by a hash of its text, between -9 and -1."""
    by_order: float = -1.0
    """Any other candidate gets `default` and this much for every candidate before it."""
    default: float = -10.0
    answers: tuple[ScriptedReply, ...] = ()
    """Replies by the newest message; the first one that applies counts."""
    replies: tuple[str, ...] = ()
    """Replies in this order, one a call, where no answer applies."""


_SCORES = frozenset({Ability.RANK, Ability.BEAM, Ability.IMAGES})
BUILT_IN = {
    "first": Script(abilities=_SCORES, default=-1.0),
    "uniform": Script(abilities=_SCORES, by_order=0.0),
    "noise": Script(abilities=_SCORES, noise=True),
}
"""`scripted:first` prefers candidates in order, `uniform` scores all alike, `noise` by a hash."""


class ScriptedModel(Model):
    """Answers from a `Script`; the same questions in the same order get the same answers."""

    def __init__(self, script: Script, *, name: str = "scripted") -> None:
        self.name = name
        speaks = {Ability.WORDS} if script.answers or script.replies else set()
        self.abilities = script.abilities | speaks
        self._script = script
        self._said = 0

    async def rank(self, prompt: Sequence[Message], candidates: Sequence[str]) -> Ranking:
        """Scores as written; every word counts as a token."""
        if Ability.RANK not in self.abilities:
            raise ModelError(f"{self.name} can't rank texts: its script does not say so.")
        newest = "".join(prompt[-1].texts) if prompt else ""
        scores = [
            Ranked(text, self._score(text, i, newest), max(1, len(text.split())))
            for i, text in enumerate(candidates)
        ]
        return Ranking(tuple(scores), _call(prompt, ""))

    async def _beam(
        self, prompt: Sequence[Message], candidates: Sequence[str], rules: BeamRules
    ) -> Ranking:
        """The best of the scores as written, which `end` and `length_penalty` leave."""
        ranking = await self.rank(prompt, candidates)
        best = sorted(ranking.scores, key=lambda one: -one.logprob)[: rules.width]
        return replace(ranking, scores=tuple(best))

    async def _generate(self, prompt: Sequence[Message], options: GenerateOptions) -> Reply:
        """The first answer that fits the newest message, or else the next reply, or n of them."""
        n = options.n
        newest = "".join(prompt[-1].texts) if prompt else ""
        for answer in self._script.answers:
            if answer.when in newest:
                wants = tuple(
                    ToolCall(f"call-{len(prompt)}-{i}", want.name, want.arguments)
                    for i, want in enumerate(answer.wants if options.tools else ())
                )
                return Reply((answer.say,) * n, _call(prompt, *(answer.say,) * n), wants=wants)
        said = self._script.replies[self._said : self._said + n]
        if len(said) < n:
            raise ModelError(
                f"{self.name} has {len(said)} of its {len(self._script.replies)} replies left, and "
                "no answer fits: give its script more `replies`, or an answer with an empty `when`."
            )
        self._said += n
        return Reply(said, _call(prompt, *said))

    async def choose(self, prompt: Sequence[Message], letters: Sequence[str]) -> Ranking:
        """Scores as written, for the letters as for any text."""
        if Ability.LOGPROBS not in self.abilities:
            return await super().choose(prompt, letters)
        newest = "".join(prompt[-1].texts) if prompt else ""
        scores = tuple(
            Ranked(letter, self._score(letter, i, newest), 1) for i, letter in enumerate(letters)
        )
        return Ranking(scores, _call(prompt, ""))

    def _score(self, text: str, index: int, newest: str) -> float:
        script = self._script
        if text in script.scores:
            return script.scores[text]
        for rule in script.rules:
            if rule.fits(text, newest):
                return rule.logprob
        if script.noise:
            digest = hashlib.sha256(text.encode()).digest()
            return -1.0 - 8.0 * int.from_bytes(digest[:4]) / 2**32
        return script.default + script.by_order * index


def _call(prompt: Sequence[Message], reply: str, *others: str) -> Call:
    words = sum(len("".join(message.texts).split()) for message in prompt)
    return Call(
        messages=tuple(message.record() for message in prompt),
        reply=reply,
        tokens_in=words,
        tokens_out=sum(len(said.split()) for said in (reply, *others)),
        others=others,
    )


def _load(name: str, settings: NoSettings) -> Model:
    if name in BUILT_IN:
        return ScriptedModel(BUILT_IN[name], name=f"scripted:{name}")
    try:
        script = Script.model_validate_json(Path(name).read_bytes())
    except OSError as error:
        raise ModelError(
            f"There is no script {name!r} ({error.strerror}). Name a JSON file, or one of "
            f"{', '.join(BUILT_IN)}."
        ) from error
    except ValidationError as error:
        raise ModelError(f"The script {name!r} can't be read: {first_problem(error)}.") from error
    return ScriptedModel(script, name=f"scripted:{name}")


REGISTRATION = ModelRegistration(
    kind="scripted",
    summary=f"a JSON file, or one of {', '.join(BUILT_IN)}; deterministic, for tests",
    settings=NoSettings,
    load=_load,
    is_place=lambda name: name not in BUILT_IN,
)
