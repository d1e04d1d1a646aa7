"""The training loop: deterministic for a seed, also when it resumes from a checkpoint."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from inhabit.eie.tuning import agreement, checkpoint, log
from inhabit.eie.tuning.agreement import ReadingPlan, read_shared
from inhabit.eie.tuning.base import Base
from inhabit.eie.tuning.batches import (
    by_episode,
    cosine_rate,
    episode_steps,
    example_steps,
    micro_batches,
)
from inhabit.eie.tuning.checkpoint import Checkpoint, CheckpointState
from inhabit.eie.tuning.devices import Devices, gathered
from inhabit.eie.tuning.parts import remember_images
from inhabit.eie.tuning.passes import read
from inhabit.eie.tuning.questions import CandidateScores, Question, Questions, loss, score
from inhabit.eie.tuning.samples import Sample
from inhabit.eie.tuning.settings import TuneError, TuneSettings

_COMPARED = 3
"""Examples on which the ways to read are compared."""


@dataclass(frozen=True, slots=True)
class _Sums:
    """Sums over the examples of a step or an evaluation that this process read."""

    loss: float = 0.0
    right: int = 0
    compared: int = 0
    """Examples with more than one candidate."""
    chance: float = 0.0


@dataclass(frozen=True, eq=False)
class Training:
    """A training of one model on one set."""

    base: Base
    train: Sequence[Sample]
    judged: Sequence[Sample]
    settings: TuneSettings
    seed: int
    out: Path
    asked: str
    """Digest of the request; a checkpoint of another request is refused."""
    peers: Devices
    tell: Callable[[log.LogLine], None]
    warn: Callable[[str], None]

    @cached_property
    def order(self) -> Sequence[Sequence[int]]:
        """The training examples of each optimizer step, as indices."""
        batch, epochs, seed = self.settings.batch, self.settings.epochs, self.seed
        if self.settings.episodes:
            return episode_steps([sample.episode for sample in self.train], batch, epochs, seed)
        return example_steps(len(self.train), batch, epochs, seed)

    def run(self) -> None:
        """Train to the end, starting at the newest checkpoint.

        Raises:
            TuneError: a loss is not finite, or memory ran out. The last good checkpoint is kept.
        """
        optimizer = torch.optim.AdamW(
            list(self.base.trained.values()), betas=(0.9, 0.999), weight_decay=self.settings.decay
        )
        if self.settings.episodes or self.settings.epochs > 1:
            remember_images(self.base.model, self.settings.cache)
        train, judged = self._questions(self.train), self._questions(self.judged)
        plan = self._plan(train)  # of the weights at the start, as in the first run
        done = self._resume(optimizer)
        # It may have been killed before it was measured.
        if done == len(self.order) or done % self.settings.judge_every == 0:
            self._judge(done, judged, plan)
        for step in range(done, len(self.order)):
            try:
                self._step(step, optimizer, train, plan)
            except (torch.OutOfMemoryError, MemoryError) as error:
                raise self._stopped(
                    step, "memory ran out: set micro_batch or negatives smaller, or checkpointing"
                ) from error
            last = step + 1 == len(self.order)
            if last or (step + 1) % self.settings.save_every == 0:
                self._save(step + 1, optimizer)
            if last or (step + 1) % self.settings.judge_every == 0:
                self._judge(step + 1, judged, plan)

    def _questions(self, samples: Sequence[Sample]) -> Questions:
        return Questions(samples, self.base.encoder, self.settings, sees=self.base.sees)

    def _plan(self, train: Questions) -> ReadingPlan:
        some = [train.to_compare(i) for i in range(min(_COMPARED, len(self.train)))]
        alike = [q for q in some if bool(q.prompt.pictures) is bool(some[0].prompt.pictures)]
        batched = self.settings.micro_batch > 1
        self.base.to_evaluation()
        with self.base.precision():
            plan = agreement.choose(self.base.model, alike, pad=self._pad, batched=batched)
            if self.settings.episodes:
                agreement.check_shared(self.base.model, alike, pad=self._pad)
        self.base.to_training()
        for remark in plan.remarks:
            self.warn(remark)
        return plan

    @property
    def _pad(self) -> int:
        return int(self.base.encoder.end)

    def _step(self, step: int, optimizer: Any, train: Questions, plan: ReadingPlan) -> None:
        begin, indices = time.perf_counter(), self.order[step]
        torch.manual_seed(self.seed * 1_000_003 + step)  # of dropout
        questions = [
            train.to_learn(i, np.random.default_rng((self.seed, step, place)))
            for place, i in enumerate(indices)
        ]
        sums = _Sums()
        # Split weights have the mean of all processes' gradients.
        batch = len(indices) / (self.peers.count if self.settings.shard else 1)
        for group, counts in self._groups(questions, plan):
            sums = self._backward(step, group, batch, plan, sums, counts=counts)
        parameters = list(self.base.trained.values())
        # A process without an example in this step still takes part in the reduction.
        gradients = [p.grad if p.grad is not None else _zero(p) for p in parameters]
        if not self.settings.shard:
            self.peers.add(gradients)
        norm = float(gathered(torch.nn.utils.clip_grad_norm_(parameters, self.settings.clip)))
        if not math.isfinite(norm):
            raise self._stopped(step, "a gradient is not a finite number")
        rising = max(1, round(self.settings.warmup * len(self.order)))
        rate = cosine_rate(step, len(self.order), peak=self.settings.rate, warmup=rising)
        for group_of_parameters in optimizer.param_groups:
            group_of_parameters["lr"] = rate
        optimizer.step()
        optimizer.zero_grad()
        self._tell("step", step + 1, sums, len(indices), begin, rate=rate, norm=norm)

    def _groups(
        self, questions: Sequence[Question], plan: ReadingPlan
    ) -> Iterator[tuple[Sequence[Question], bool]]:
        """The micro-batches that this process reads, and whether they count.

        Where weights are split, all processes read as many: some read one that does not count.
        """
        if self.settings.episodes:
            groups = by_episode(questions)
        else:
            share = math.ceil(len(questions) / self.peers.count)
            most = min(self.settings.micro_batch, share) if plan.together else 1
            groups = micro_batches(questions, most)
        own = groups[self.peers.rank :: self.peers.count]
        yield from ((group, True) for group in own)
        if self.settings.shard and len(own) * self.peers.count < len(groups):
            yield groups[0], False

    def _backward(
        self,
        step: int,
        group: Sequence[Question],
        batch: float,
        plan: ReadingPlan,
        sums: _Sums,
        *,
        counts: bool,
    ) -> _Sums:
        """Add the gradients of a micro-batch, if it counts."""
        scores = self._scores(group, plan)
        losses = [
            loss(one, question.answer, self.settings.objective, other=question.other)
            for one, question in zip(scores, group, strict=True)
        ]
        for one, question in zip(losses, group, strict=True):
            if not torch.isfinite(one):
                raise self._stopped(
                    step, f"the loss of example {question.id!r} is not a finite number"
                )
        total = torch.stack(losses).sum()
        (total * counts / batch).backward()  # type: ignore[no-untyped-call]
        return _added(sums, float(total.detach()), scores, group) if counts else sums

    def _scores(self, group: Sequence[Question], plan: ReadingPlan) -> list[CandidateScores]:
        with self.base.precision():
            if self.settings.episodes:
                found = read_shared(self.base.model, group)
            else:
                found = read(self.base.model, group, plan.way, pad=self._pad)
        return [score(one, q.trie) for one, q in zip(found, group, strict=True)]

    @torch.no_grad()
    def _judge(self, step: int, judged: Questions, plan: ReadingPlan) -> None:
        """Measure on the validation split; with reasons as targets, the loss alone."""
        if not self.judged:
            return
        begin = time.perf_counter()
        self.base.to_evaluation()
        questions = [judged.to_judge(i) for i in range(len(self.judged))]
        sums = _Sums()
        for group, counts in self._groups(questions, plan):
            scores = self._scores(group, plan)
            if not counts:
                continue
            told = zip(scores, group, strict=True)
            total = -sum(float(one.means[question.answer]) for one, question in told)
            sums = _added(sums, total, scores, group)
        self.base.to_training()
        self._tell("judge", step, sums, len(self.judged), begin)

    def _tell(
        self,
        kind: Literal["step", "judge"],
        step: int,
        sums: _Sums,
        count: int,
        begin: float,
        **further: float,
    ) -> None:
        """Log what all processes have read."""
        total, right, compared, chance = (
            self.peers.total(part) for part in (sums.loss, sums.right, sums.compared, sums.chance)
        )
        line = log.LogLine(
            kind=kind,
            step=step,
            loss=total / count,
            accuracy=right / compared if compared else None,
            chance=chance / compared if compared and kind == "judge" else None,
            examples=count,
            seconds=time.perf_counter() - begin,
            **further,
        )
        if self.peers.rank == 0:
            log.append(self.out / "log.jsonl", line)
            self.tell(line)

    def _resume(self, optimizer: Any) -> int:
        found, remarks = checkpoint.newest(self.out / "checkpoints")
        for remark in remarks:
            self.warn(remark)
        if found is None:
            if self.peers.rank == 0:
                log.begin(self.out / "log.jsonl")
            return 0
        self.base.take(found.weights)
        checkpoint.restore_moments(found, self.base.trained, optimizer)
        return found.state.step

    def _save(self, step: int, optimizer: Any) -> None:
        trained = self.base.trained
        weights = {name: gathered(parameter.detach()) for name, parameter in trained.items()}
        moments = checkpoint.moments_of(trained, optimizer)
        if self.peers.rank == 0:
            state = CheckpointState(step=step, asked=self.asked)
            checkpoint.save(self.out / "checkpoints", Checkpoint(state, weights, *moments))
        self.peers.wait()

    def _stopped(self, step: int, why: str) -> TuneError:
        kept = checkpoint.whole(self.out / "checkpoints")
        return TuneError(
            f"Stopped in step {step + 1} of {len(self.order)}: {why}. "
            + (
                f"The last good checkpoint is {kept[-1]}."
                if kept
                else "There is no checkpoint yet."
            )
        )


def _zero(parameter: torch.nn.Parameter) -> torch.Tensor:
    parameter.grad = torch.zeros_like(parameter)
    return parameter.grad


def _added(
    sums: _Sums, total: float, scores: Sequence[CandidateScores], group: Sequence[Question]
) -> _Sums:
    several = [(s, q) for s, q in zip(scores, group, strict=True) if len(s.sums) > 1]
    return _Sums(
        loss=sums.loss + total,
        right=sums.right + sum(int(s.sums.argmax()) == q.answer for s, q in several),
        compared=sums.compared + len(several),
        chance=sums.chance + sum(1 / len(s.sums) for s, _ in several),
    )
