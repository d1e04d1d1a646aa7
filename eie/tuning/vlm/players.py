"""Plays episodes in several processes. A learner on a GPU decides for all of them at once."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from multiprocessing.connection import Connection, wait
from typing import Self

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import DynamicCache

from inhabit.agents.models.transformers_names import cache_input
from inhabit.agents.models.vlm.model import InhabitVlm
from inhabit.agents.models.vlm.sight import Table
from inhabit.eie.tuning.vlm.episodes import LabelledEpisode
from inhabit.envs.core import Task


@dataclass(frozen=True, slots=True)
class Job:
    """An episode to play."""

    task: Task
    seed: int
    settings: Mapping[str, object]
    """Settings of the task's environment."""
    slips: str = ""
    """Seed of the teacher's random actions."""
    share: float = 0.0
    """Share of the teacher's actions that are random."""
    black: bool = False
    learner: int | None = None
    """Round of the learner that acts instead of the teacher; None if the teacher acts."""


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    """What the learner is asked at a step."""

    ids: Sequence[int]
    detections: Table
    answers: tuple[tuple[int, ...], ...]
    """Tokens of each candidate, their end included."""


Ask = Callable[[DecisionRequest], int]
"""The index of the answer that the learner chooses."""
Player = Callable[[Job, Ask], LabelledEpisode]


class Players:
    """Processes that play episodes. They start at once, and end with the context."""

    def __init__(self, count: int, make: Callable[[], Player]) -> None:
        """Start `count` processes; each calls `make`, which can be pickled, for its player."""
        context = multiprocessing.get_context("spawn")
        self._pipes: list[Connection] = []
        for _ in range(count):
            ours, theirs = context.Pipe()
            context.Process(target=_serve, args=(theirs, make), daemon=True).start()
            theirs.close()
            self._pipes.append(ours)

    def play(
        self, jobs: Iterator[Job], decide: Callable[[Sequence[DecisionRequest]], Sequence[int]]
    ) -> Iterator[LabelledEpisode]:
        """Play `jobs`; yields their episodes in the order of the jobs.

        Raises:
            EOFError: a process ended. It has printed why.
        """
        done: dict[int, LabelledEpisode] = {}
        playing: dict[Connection, int] = {}
        started = told = 0
        idle = list(self._pipes)
        while True:
            while idle and (job := next(jobs, None)) is not None:
                playing[pipe := idle.pop()] = started
                pipe.send(job)
                started += 1
            if not playing:
                return
            asked: list[tuple[Connection, DecisionRequest]] = []
            for ready in wait(list(playing)):
                assert isinstance(ready, Connection)
                said = ready.recv()
                if isinstance(said, DecisionRequest):
                    asked.append((ready, said))
                else:
                    done[playing.pop(ready)] = said
                    idle.append(ready)
            if asked:
                for (pipe, _), answer in zip(asked, decide([q for _, q in asked]), strict=True):
                    pipe.send(answer)
            while told in done:
                yield done.pop(told)
                told += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        for pipe in self._pipes:
            pipe.close()


def _serve(pipe: Connection, make: Callable[[], Player]) -> None:
    os.nice(5)  # whoever decides for all players waits for none of them
    torch.set_num_threads(1)
    player = make()

    def ask(question: DecisionRequest) -> int:
        pipe.send(question)
        answer: int = pipe.recv()
        return answer

    try:
        while True:
            pipe.send(player(pipe.recv(), ask))
    except EOFError:  # the context has ended
        return


@torch.inference_mode()
def chosen(model: InhabitVlm, asked: Sequence[DecisionRequest]) -> list[int]:
    """The answer to each question, word by word the likeliest: a beam of width 1.

    All questions are read in one batch to the last word, so scores move by rounding with what else
    is asked.
    """
    left = [list(enumerate(question.answers)) for question in asked]
    reading, begun = _Reading(model, asked), [0] * len(asked)
    while unsure := [i for i, some in enumerate(left) if len(some) > 1]:
        said = [_shared([tokens for _, tokens in some]) for some in left]
        scores = reading([tokens[n:] for tokens, n in zip(said, begun, strict=True)])
        begun = [len(tokens) for tokens in said]
        for i in unsure:
            options = sorted({tokens[begun[i]] for _, tokens in left[i]})
            best = options[int(scores[i, options].argmax())]
            left[i] = [one for one in left[i] if one[1][begun[i]] == best]
    return [some[0][0] for some in left]


def _shared(answers: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The tokens with which all answers begin."""
    columns = zip(*answers, strict=False)
    return tuple(tokens[0] for tokens in takewhile(lambda some: len(set(some)) == 1, columns))


class _Reading:
    """Reads what is said after each question. What was read before is kept in a cache."""

    def __init__(self, model: InhabitVlm, asked: Sequence[DecisionRequest]) -> None:
        self._model, self._asked = model, asked
        self._cache = DynamicCache()
        self._known = torch.zeros(len(asked), 0, dtype=torch.long, device=model.device)

    def __call__(self, said: Sequence[Sequence[int]]) -> torch.Tensor:
        """Logits (questions, vocabulary) of the token after `said`, more of each question.

        Padding stands last, and no later token sees it.
        """
        seen = None
        if not self._known.shape[1]:
            said = [(*q.ids, *more) for q, more in zip(self._asked, said, strict=True)]
            looks = np.concatenate([question.detections for question in self._asked])
            seen = torch.from_numpy(looks).to(self._model.device)
        rows = pad_sequence([torch.tensor(one, dtype=torch.long) for one in said], True)
        rows = rows.to(self._model.device)
        length = torch.tensor([len(one) for one in said], device=self._model.device)
        given = torch.arange(rows.shape[1], device=self._model.device) < length[:, None]
        self._known = torch.cat([self._known, given.long()], 1)
        read = self._model.language_model(
            inputs_embeds=self._model.embedded(rows, seen),
            attention_mask=self._known,
            position_ids=(self._known.cumsum(1) - 1)[:, -rows.shape[1] :],
            use_cache=True,
            **cache_input(self._model.language_model, self._cache),
        ).last_hidden_state
        last = read[torch.arange(len(said)), length - 1]
        logits: torch.Tensor = self._model.lm_head(last).float().cpu()
        return logits
