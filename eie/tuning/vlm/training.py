"""Trains the language model on rows: one mix from the first step, with checkpoints.

The product of LoRA (Hu et al., 2022) is added to the weights, not to the outputs. The forward pass
is then one product of matrices, as without adapters, and so is the gradient of the inputs. It pays
where a batch has many more tokens than the weights have rows.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from inhabit.agents.models.vlm import ADAPTERS
from inhabit.agents.models.vlm.model import SCALE, InhabitVlm
from inhabit.eie.tuning.vlm.episodes import LabelledEpisode, episodes_in
from inhabit.eie.tuning.vlm.rows import Rows, TokenRow, padded, questions


class _Merged(torch.autograd.Function):
    """y = x (W + SCALE b a)^T, with gradients of x, a and b."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, weight: torch.Tensor, a: torch.Tensor, b: torch.Tensor
    ) -> torch.Tensor:
        """(..., inputs) to (..., outputs)."""
        merged = torch.addmm(weight, b, a, alpha=SCALE)
        ctx.save_for_backward(x, merged, a, b)
        return nn.functional.linear(x, merged)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """The gradients of x, none, a and b."""
        x, merged, a, b = ctx.saved_tensors
        flat, grad = x.flatten(0, -2), grads[0].flatten(0, -2)
        of_a = SCALE * (grad @ b).t() @ flat
        of_b = SCALE * grad.t() @ (flat @ a.t())
        return (grad @ merged).view_as(x), None, of_a, of_b


class MergedLora(nn.Module):
    """A linear layer with an adapter."""

    def __init__(self, base: nn.Linear, rank: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(base.weight.detach(), requires_grad=False)
        where = base.weight.device
        a = torch.randn(rank, base.in_features) / math.sqrt(base.in_features)
        self.a = nn.Parameter(a.to(where))
        self.b = nn.Parameter(torch.zeros(base.out_features, rank, device=where))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(..., inputs) to (..., outputs)."""
        found: torch.Tensor = _Merged.apply(  # type: ignore[no-untyped-call]
            x, self.weight, self.a, self.b
        )
        return found


def adapt(model: nn.Module, rank: int) -> None:
    """Replace every linear layer of `model` by one with an adapter."""
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear):
                setattr(parent, name, MergedLora(child, rank))


_STATE = "optimizer.pt"
_LONGEST, _LONGEST_PAIR = 2000, 320
"""Tokens of the longest rows that are trained on."""


@dataclass(frozen=True, slots=True)
class VlmTraining:
    """Hyperparameters."""

    tokens: int = 2_000_000
    """Tokens to train on in all, padding included; the rates fall towards their end."""
    batch: int = 1600
    """Most tokens of a step, padding included."""
    rank: int = 16
    rate: float = 6e-4
    """Learning rate of the adapters."""
    rate_objects: float = 2e-3
    """Learning rate of the embeddings of detections."""
    warm: int = 20
    """Steps in which the rates rise."""
    cooled: float = 0.3
    """Share of the tokens, the last ones, in which the rates fall."""
    questions: int = 4
    """Classes that are asked about at a step; with 0, nothing is asked."""
    pairs: float = 0.25
    """Tokens of pairs, as a share of those of episodes."""
    save_every: int = 20


@dataclass(slots=True)
class _Progress:
    """What a checkpoint holds besides tensors."""

    step: int = 0
    tokens: int = 0
    labels: int = 0
    passes: int = 0
    losses: list[float] = field(default_factory=list)


class Trainer:
    """Trains one model in a folder, and continues what is there."""

    def __init__(
        self,
        model: InhabitVlm,
        folder: Path,
        settings: VlmTraining,
        *,
        seed: int,
        start: Path | None = None,
    ) -> None:
        """Adapt `model`, or continue from the checkpoint in `folder`.

        Args:
            model: to train.
            folder: of checkpoints.
            settings: hyperparameters.
            seed: of the order of rows.
            start: adapters to begin with, if `folder` has no checkpoint.
        """
        torch.manual_seed(seed)
        self.model, self._folder, self._settings, self._seed = model, folder, settings, seed
        model.requires_grad_(False)
        adapt(model.language_model, settings.rank)
        model.objects.requires_grad_(True)
        lora = [p for n, p in model.named_parameters() if n.endswith((".a", ".b"))]
        objects = list(model.objects.parameters())
        groups = [
            {"params": lora, "lr": settings.rate},
            {"params": objects, "lr": settings.rate_objects},
        ]
        self._optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
        self._rates = settings.rate, settings.rate_objects
        self._progress = _Progress()
        if (folder / _STATE).is_file():
            self._restore()
        elif start is not None:
            self._copy(load_file(start))

    def train(
        self,
        recordings: Sequence[Path],
        rows: Rows,
        reword: Callable[[LabelledEpisode, random.Random], str],
        tell: Callable[[str], None],
        until: int,
    ) -> bool:
        """Train until so many tokens have been read in all; whether there was anything to do.

        `recordings` and the words of goals (`reword`) are read anew at every pass. `until` counts
        padding, too.
        """
        done, began = self._progress, time.monotonic()
        first = done.tokens
        while done.tokens < until:
            rng = random.Random(f"{self._seed} {done.passes} {done.step}")
            episodes = [one for file in recordings for one in episodes_in(file) if one.steps]
            batches = list(self._batches(episodes, rows, reword, rng))
            tell(f"pass {done.passes}: {len(episodes)} episodes, {len(batches)} batches")
            for batch in batches:
                self._step(batch)
                if done.step % self._settings.save_every == 0:
                    self.save()
                    speed = (done.tokens - first) / (time.monotonic() - began)
                    loss = sum(done.losses[-20:]) / len(done.losses[-20:])
                    tell(
                        f"step {done.step}: {done.tokens} tokens, {done.labels} labels, "
                        f"loss {loss:.3f}, {speed:.0f} tokens/s"
                    )
                if done.tokens >= until:
                    break
            done.passes += 1
        if done.tokens > first:
            self.save()
        return done.tokens > first

    def _batches(
        self,
        episodes: Sequence[LabelledEpisode],
        rows: Rows,
        reword: Callable[[LabelledEpisode, random.Random], str],
        rng: random.Random,
    ) -> Iterator[list[TokenRow]]:
        """One pass: every episode, with questions, and pairs; rows of similar length together."""
        asked = questions(episodes, rows.classes, self._settings.questions, rng)
        found, pairs = [], []
        for episode, about in zip(episodes, asked, strict=True):
            goal = reword(episode, rng)
            found.append(rows.episode(episode, goal, about))
            changed = {s.hidden for s in episode.steps if s.unseen and s.hidden is not None}
            pairs += [rows.without(episode, goal, hidden) for hidden in sorted(changed)]
        found = [row for row in found if len(row.ids) <= _LONGEST]
        room = self._settings.pairs * sum(len(row.ids) for row in found)
        for row in rng.sample(pairs, len(pairs)):
            if len(row.ids) <= _LONGEST_PAIR and (room := room - len(row.ids)) > 0:
                found.append(row)
        found.sort(key=lambda row: len(row.ids) + 40 * rng.random())
        batches: list[list[TokenRow]] = [[]]
        for row in found:
            longest = max(len(row.ids), *(len(one.ids) for one in batches[-1]), 0)
            if batches[-1] and longest * (len(batches[-1]) + 1) > self._settings.batch:
                batches.append([])
            batches[-1].append(row)
        rng.shuffle(batches)
        yield from batches

    def _step(self, batch: Sequence[TokenRow]) -> None:
        done = self._progress
        for group, rate in zip(self._optimizer.param_groups, self._rates, strict=True):
            group["lr"] = rate * self._heat()
        loss = nn.functional.cross_entropy(*scores(self.model, batch))
        loss.backward()  # type: ignore[no-untyped-call]
        weights = [p for p in self.model.parameters() if p.requires_grad]
        nn.utils.clip_grad_norm_(weights, 1.0)
        self._optimizer.step()
        self._optimizer.zero_grad()
        done.step += 1
        done.tokens += len(batch) * max(len(row.ids) for row in batch)
        done.labels += sum(len(row.targets) for row in batch)
        done.losses.append(round(loss.item(), 4))

    def _heat(self) -> float:
        """The share of the rates at this step."""
        settings, done = self._settings, self._progress
        left = 1 - done.tokens / settings.tokens
        return min(1.0, (done.step + 1) / settings.warm, max(0.03, left / settings.cooled))

    def save(self) -> None:
        """Write a checkpoint; a process that is killed meanwhile leaves the one before."""
        self._folder.mkdir(parents=True, exist_ok=True)
        save_adapters(self.model, self._folder / ADAPTERS)
        progress = {name: getattr(self._progress, name) for name in _Progress.__slots__}
        half = self._folder / f"{_STATE}.half"
        weights = {n: p.detach() for n, p in self.model.named_parameters() if p.requires_grad}
        torch.save(
            {"optimizer": self._optimizer.state_dict(), "progress": progress, "weights": weights},
            half,
        )
        half.replace(self._folder / _STATE)

    def _restore(self) -> None:
        kept = torch.load(self._folder / _STATE, weights_only=True, map_location=self.model.device)
        self._optimizer.load_state_dict(kept["optimizer"])
        self._progress = _Progress(**kept["progress"])
        self._copy(kept["weights"])

    def _copy(self, weights: Mapping[str, torch.Tensor]) -> None:
        own = dict(self.model.named_parameters())
        with torch.no_grad():
            for name, value in weights.items():
                own[name].copy_(value)


def scores(model: InhabitVlm, rows: Sequence[TokenRow]) -> tuple[torch.Tensor, torch.Tensor]:
    """Logits for every label of rows, (labels, vocabulary), and the labels."""
    given = padded(rows, model.device)
    embedded = model.embedded(given["input_ids"], given.pop("detections"))
    read = model.language_model(
        inputs_embeds=embedded,
        position_ids=given["position_ids"],
        attention_mask=given["attention_mask"],
        use_cache=False,
    )
    sources = [(i, source) for i, row in enumerate(rows) for source in row.sources]
    which = torch.tensor(sources).unbind(1)
    targets = torch.tensor([t for row in rows for t in row.targets], device=model.device)
    return model.lm_head(read.last_hidden_state[which]).float(), targets


def save_adapters(model: nn.Module, file: Path) -> None:
    """Write what was trained, in half precision, to `file`."""
    half = file.with_suffix(".half")
    trained = {n: p.detach().half() for n, p in model.named_parameters() if p.requires_grad}
    save_file(trained, half)
    half.replace(file)
