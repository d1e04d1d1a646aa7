"""What a model has learned to read from its images, measured on episodes of left-out rooms."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from inhabit.agents.models.vlm.model import InhabitVlm
from inhabit.eie.tuning.vlm.episodes import LabelledEpisode
from inhabit.eie.tuning.vlm.rows import Rows, questions
from inhabit.eie.tuning.vlm.training import scores

_ASKED = 8
_FEWEST = 3
"""Questions of a class with either answer, for it to count."""
_LOOKING = ("turn", "look", "explore")


@torch.inference_mode()
def read_questions(
    model: InhabitVlm, episodes: Sequence[LabelledEpisode], rows: Rows
) -> tuple[float, int]:
    """Area under the ROC curve of "is it in view?", within each class, and the number of classes.

    Classes are asked about as often where they are seen as where they are not.
    """
    pairs = list(zip(rows.reply("yes"), rows.reply("no"), strict=False))
    at, (yes, no) = next((i, pair) for i, pair in enumerate(pairs) if pair[0] != pair[1])
    found: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    asked = questions(episodes, rows.classes, _ASKED, random.Random(0))
    for episode, about in zip(episodes, asked, strict=True):
        row = rows.episode(episode, episode.task.goal, about)
        logits, labels = scores(model, [row])
        names = [rows.classes[k] for step in sorted(about) for k in about[step]]
        for name, i in zip(names, row.answers, strict=True):
            sure = float(logits[i + at, yes] - logits[i + at, no])
            found[name].append((sure, int(labels[i + at]) == yes))
    areas = [area for some in found.values() if (area := _area(some)) is not None]
    return float(np.mean(areas)) if areas else float("nan"), len(areas)


@torch.inference_mode()
def right_actions(
    model: InhabitVlm, episodes: Sequence[LabelledEpisode], rows: Rows, *, black: bool
) -> Mapping[str, tuple[float, int]]:
    """The share of the teacher's actions that are the likeliest ones word for word, and their
    number, by verb and of "all".
    """
    found: dict[str, list[bool]] = defaultdict(list)
    for episode in episodes:
        shown = episode.blinded() if black else episode
        row = rows.episode(shown, episode.task.goal, {})
        logits, labels = scores(model, [row])
        right = (logits.argmax(-1) == labels).cpu().numpy()
        begin = 0
        for step in episode.steps:
            end = begin + len(rows.reply(step.best))
            verb = next((v for v in _LOOKING if step.best.startswith(v)), step.best)
            verb = " ".join(verb.split(" the ")[0].split(" it ")[:1])
            for name in (verb, "all"):
                found[name].append(bool(right[begin:end].all()))
            begin = end
    return {verb: (float(np.mean(some)), len(some)) for verb, some in sorted(found.items())}


def _area(some: Sequence[tuple[float, bool]]) -> float | None:
    """The chance that a seen one scores above an unseen one."""
    seen = np.array([score for score, is_seen in some if is_seen])
    unseen = np.array([score for score, is_seen in some if not is_seen])
    if min(len(seen), len(unseen)) < _FEWEST:
        return None
    above: NDArray[np.float64] = np.sign(seen[:, None] - unseen[None]) / 2 + 0.5
    return float(above.mean())
