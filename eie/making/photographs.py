"""Examples from photographs, without a simulator: one pass writes, another tries to refute.

A vision-language model writes a question with candidates, the answer, a reason and the key concepts
of each photograph (EIE on driving, PCA-Bench). Then it is given the photograph and its claim, and
asked to refute it. An example that is refuted, or that gets no answer, is rejected.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture
from PIL import ImageOps
from pydantic import BaseModel, Field, StringConstraints, ValidationError

from inhabit.agents.core import ModelError
from inhabit.agents.models.core import Ability, Image, Message, Model
from inhabit.agents.models.registry import require
from inhabit.eie.checking.pictures import fingerprint, unclear
from inhabit.eie.checking.splits import split_of
from inhabit.eie.examples.draft import Draft, RejectedError
from inhabit.eie.examples.example import Example, Refused, Rejection
from inhabit.eie.making.llm_author import out_of_reach, read
from inhabit.eie.making.ordered_writer import Novelty
from inhabit.eie.sets.folder import AttemptLine, SetError, SetFolder, SetWriter
from inhabit.envs.entries import first_problem
from inhabit.envs.printable import printable
from inhabit.episodes.recording.reader import readable

LONGEST_SIDE = 768
"""Photographs are scaled down to this length of the longer side, in pixels."""
_KINDS = (".jpg", ".jpeg", ".png", ".webp")
_TOKENS = 900
_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=600)]
_Reading = TypeVar("_Reading", bound=BaseModel)

_WRITE = (
    "You write questions that test whether somebody decides well on what they see. Answer with one "
    'JSON object and nothing else. It has the keys "goal" (what the person in the picture\'s place '
    'wants to achieve), "question", "candidates" (three to six short actions, exactly one of which '
    'is right, and which differs from the others by what is to be seen), "answer" (the right one, '
    'in the same words), "reason" (why it is right, from what is to be seen) and "key_concepts" '
    "(the things and their states that it hangs on, a few words each). The question must not give "
    "the answer away, and nothing may be claimed that the picture does not show."
)
_REFUTE = (
    "Somebody wrote this about the picture. Try to refute it. Answer with one JSON object and "
    'nothing else. It has the keys "missing" (the list of those key concepts that the picture does '
    'not show), "better" (the list of other candidates that are at least as good as the answer) '
    'and "false" (a sentence on what in the question or the reason is not so, or an empty text).'
)


class PhotographClaim(BaseModel, frozen=True, extra="ignore"):
    """What the model writes about a photograph."""

    goal: _Text
    question: _Text
    candidates: tuple[_Text, ...] = Field(min_length=3, max_length=6)
    answer: _Text
    reason: _Text
    key_concepts: tuple[_Text, ...] = Field(min_length=1, max_length=8)


class Critique(BaseModel, frozen=True, extra="ignore"):
    """What it finds wrong with it."""

    missing: tuple[str, ...]
    better: tuple[str, ...]
    false: str


class Photographer:
    """Makes examples from photographs with one model."""

    def __init__(self, model: Model, env: str, seed: int) -> None:
        """Make examples of `env`, such as "driving", with `model`, which is not closed.

        Raises:
            ModelError: the model does not accept images.
        """
        self._model = model
        require(model, "photographs", Ability.IMAGES)
        self._env = env
        self._seed = seed
        self._answered = False
        self.tokens = {"in": 0, "out": 0}
        """Tokens used so far."""

    async def example(self, rgb: NDArray[np.uint8], number: int) -> Draft:
        """An example of the photograph `rgb`, uint8 (H, W, 3), the `number`-th of its set.

        After an invalid answer the model is asked once more, with the problem.

        Raises:
            RejectedError: the example failed a check.
            ModelError: the model can't be asked any more.
        """
        if (wrong := unclear(rgb, in_sight=0)) is not None:
            raise RejectedError(Rejection.UNCLEAR, wrong)
        prompt = [
            Message("system", (f"{_WRITE} The subject of the picture: {self._env}.",)),
            Message("user", (Image(rgb),)),
        ]
        said = await self._ask(prompt, PhotographClaim, number)
        try:
            claim = _sound(_form(said, PhotographClaim))
        except RejectedError as error:
            again = f"That won't do. {error.refused.sentence} Write it again so that it will."
            prompt += [Message("assistant", (said,)), Message("user", (again,))]
            claim = _sound(_form(await self._ask(prompt, PhotographClaim, number), PhotographClaim))
        await self._refute(rgb, claim, number)
        return self._draft(rgb, claim, number)

    async def _refute(self, rgb: NDArray[np.uint8], claim: PhotographClaim, number: int) -> None:
        told = json.dumps(claim.model_dump(mode="json"), ensure_ascii=False)
        prompt = [Message("system", (_REFUTE,)), Message("user", (Image(rgb), told))]
        try:
            critique = _form(await self._ask(prompt, Critique, number), Critique)
        except RejectedError as error:
            raise RejectedError(
                Rejection.NO_ANSWER, f"Nothing was said against it or for it: {error}"
            ) from error
        # Any criticism rejects the example.
        if critique.missing:
            raise RejectedError(Rejection.HIDDEN, f"Not to be seen: {', '.join(critique.missing)}.")
        better = [one for one in critique.better if _plain(one) != _plain(claim.answer)]
        if better:
            raise RejectedError(Rejection.AMBIGUOUS, f"As good as the answer: {better[0]}.")
        if critique.false.strip():
            raise RejectedError(Rejection.CONTRADICTION, critique.false.strip())

    def _draft(self, rgb: NDArray[np.uint8], claim: PhotographClaim, number: int) -> Draft:
        picture = Image(rgb)
        # Models tend to put the correct one first.
        candidates = list(claim.candidates)
        random.Random(f"{self._env} places {self._seed} {number}").shuffle(candidates)
        answer = next(
            place for place, one in enumerate(candidates) if _plain(one) == _plain(claim.answer)
        )
        example = Example(
            id=f"{self._env}-{self._seed}-{number}",
            env=self._env,
            kind="photograph",
            # By the image: copies of a photograph are in one split.
            split=split_of(picture.digest, self._seed),
            image=f"images/{picture.digest}.png",
            image_digest=picture.digest,
            question=claim.question,
            candidates=tuple(candidates),
            answer=answer,
            reason=claim.reason,
            key_concepts=claim.key_concepts,
            goal=claim.goal,
            levels=(claim.goal, candidates[answer]),
            verb=candidates[answer].split()[0].lower(),
        )
        return Draft(example, {picture.digest: rgb}, fingerprint(rgb))

    async def _ask(self, prompt: Sequence[Message], form: type[BaseModel], number: int) -> str:
        held = form.model_json_schema() if Ability.SCHEMA in self._model.abilities else None
        try:
            reply = await self._model.generate(prompt, max_tokens=_TOKENS, seed=number, schema=held)
        except ModelError as error:
            if out_of_reach(error, answered=self._answered):
                raise
            raise RejectedError(Rejection.NO_ANSWER, str(error)) from error
        self._answered = True
        self.tokens["in"] += reply.call.tokens_in
        self.tokens["out"] += reply.call.tokens_out
        if not reply.texts:
            raise RejectedError(Rejection.NO_ANSWER, "It said nothing.")
        return reply.texts[0]


async def make(folder: Path, photographer: Photographer, target: SetFolder) -> None:
    """Write an example of each photograph in `folder` that passes the checks, in order of names.

    An unfinished set is continued.

    Raises:
        SetError: there is no photograph, or the set can't be written.
        ModelError: the model can't be asked any more.
    """
    files = photographs_in(folder)
    journal = SetWriter(target)
    try:
        novelty = Novelty(target.examples(), journal.past)
        for number in range(len(journal.past), len(files)):
            begun = time.perf_counter()
            paid = dict(photographer.tokens)
            found = await _made(photographer, files[number], number, novelty)
            attempt = AttemptLine(
                number=number,
                task=files[number].name,
                rejected=(found,) if isinstance(found, Refused) else (),
                tokens={name: photographer.tokens[name] - paid[name] for name in paid},
            )
            drafts = [found] if isinstance(found, Draft) else []
            journal.add(attempt, drafts, time.perf_counter() - begun)
    finally:
        journal.close()


def photographs_in(folder: Path) -> Sequence[Path]:
    """The images in `folder`, sorted by name.

    Raises:
        SetError: there is none, it can't be read, or a name is no text.
    """
    with readable(folder, SetError):
        found = sorted(f for f in folder.iterdir() if f.suffix.lower() in _KINDS and f.is_file())
    if not found:
        raise SetError(f"{folder} contains no photograph ({', '.join(_KINDS)}).")
    for file in found:
        if (name := printable(file.name)) != file.name:
            raise SetError(f"{folder / name}: its name is no plain text. Rename it.")
    return found


def open_photograph(file: Path) -> NDArray[np.uint8]:
    """The photograph upright, its longer side at most `LONGEST_SIDE`: uint8 (H, W, 3).

    Raises:
        RejectedError: it is not an image.
    """
    try:
        with Picture.open(file, formats=("JPEG", "PNG", "WEBP")) as opened:
            # Read, and then left out: `exif_transpose` can't write malformed EXIF data again.
            opened.load()
            opened.getexif()
            for name in ("exif", "Raw profile type exif"):
                opened.info.pop(name, None)
            upright = ImageOps.exif_transpose(opened).convert("RGB")
            upright.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
            return np.asarray(upright)
    except (OSError, SyntaxError, ValueError, Picture.DecompressionBombError) as error:
        # No folder of this machine: the set may be published.
        why = f"{file.name} can't be read as an image ({type(error).__name__})."
        raise RejectedError(Rejection.UNCLEAR, why) from error


async def _made(
    photographer: Photographer, file: Path, number: int, novelty: Novelty
) -> Draft | Refused:
    try:
        draft = await photographer.example(open_photograph(file), number)
    except RejectedError as error:
        return error.refused
    return novelty.judge([draft]) or draft


def _form(said: str, form: type[_Reading]) -> _Reading:
    """The answer, checked against the schema."""
    try:
        return form.model_validate(read(said))
    except ValidationError as error:
        raise RejectedError(Rejection.SCHEMA, f"{first_problem(error)}.") from error


def _sound(claim: PhotographClaim) -> PhotographClaim:
    """The claim; it must have one answer that the question does not give away."""
    plain = [_plain(one) for one in claim.candidates]
    if len(set(plain)) < len(plain):
        raise RejectedError(Rejection.AMBIGUOUS, "Two of the candidates are the same.")
    if _plain(claim.answer) not in plain:
        raise RejectedError(Rejection.SCHEMA, "The answer is none of the candidates.")
    if f" {_plain(claim.answer)} " in f" {_plain(claim.question)} ":
        raise RejectedError(Rejection.GIVEN_AWAY, "The question says the answer.")
    return claim


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
