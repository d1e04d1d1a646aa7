"""How a model's candidates are read in training, chosen by comparison with plain forward passes.

An architecture may ignore a mask, or stack the images of several prompts in its own way. Neither
raises an error in all cases; it shows in the logits.

One forward pass for the prompts of an episode: what they have in common is read once.

The prompts of an episode begin alike: the goal, and the steps so far. All prompts with their
candidates are packed into one trie (`agents/models/trie.py`), in which a token attends to
what comes before it in its own prompt. So an episode costs little more than its longest prompt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from inhabit.agents.models.local.encoder import EncodedPrompt
from inhabit.agents.models.local.reader import mask_of
from inhabit.agents.models.local.scoring import possible_ways
from inhabit.agents.models.trie import Trie
from inhabit.eie.tuning.passes import Way, at_places, read
from inhabit.eie.tuning.questions import Question, score
from inhabit.eie.tuning.settings import TuneError

_PIXELS = "pixel_values"


def can_share(model: Any, prompts: Sequence[EncodedPrompt]) -> bool:
    """Whether prompts can be read together: by tree masks, with one block of pixels per image."""
    plain = not hasattr(getattr(model, "model", None), "get_rope_index")
    images = [prompt for prompt in prompts if prompt.pictures]
    known = all(set(p.images) == {_PIXELS} and len(p.images[_PIXELS]) == p.pictures for p in images)
    return plain and known and possible_ways(model)[0] == "tree"


def read_shared(model: Any, questions: Sequence[Question]) -> list[torch.Tensor]:
    """The logits after each node of each question, from one forward pass with gradients.

    All prompts begin with the same token, and `can_share` holds for them.
    """
    keys = _Keys(model)
    prompts = [keys.of(question.prompt) for question in questions]
    answers = [
        [q.trie.edge_tokens[list(path)].tolist() for path in q.trie.paths] for q in questions
    ]
    rows = [
        prompt + answer for prompt, some in zip(prompts, answers, strict=True) for answer in some
    ]
    trie = Trie.pack(rows)
    paths = iter(trie.paths)
    places = [
        _places(question.trie, len(prompt), [next(paths) for _ in some], trie)
        for question, prompt, some in zip(questions, prompts, answers, strict=True)
    ]
    kept, inverse = np.unique(np.concatenate(places), return_inverse=True)
    logits = _forward(model, trie, keys, kept)
    ends = np.cumsum([len(some) for some in places])[:-1]
    columns: list[NDArray[np.int64]] = np.split(inverse.astype(np.int64), ends)
    return at_places(logits, [(np.zeros_like(some), some) for some in columns])


def _forward(model: Any, trie: Trie, keys: _Keys, kept: NDArray[np.int64]) -> torch.Tensor:
    """Logits (1, kept, vocabulary) after the nodes `kept`."""
    device = model.device
    tokens = np.where(trie.tokens >= keys.words, keys.image_token, trie.tokens)[1:]
    mask = mask_of(model, torch.from_numpy(trie.ancestors[1:, 1:]))
    pixels = keys.pixels_of(trie.tokens[1:])
    logits: torch.Tensor = model(
        input_ids=torch.from_numpy(tokens[None]).to(device),
        position_ids=torch.from_numpy(trie.depths[None, 1:] - 1).to(device),
        attention_mask=mask[None, None],
        use_cache=False,
        logits_to_keep=torch.from_numpy(kept - 1).to(device),
        **({} if pixels is None else {_PIXELS: pixels.to(device, model.dtype)}),
    ).logits
    return logits


def _places(
    own: Trie, begin: int, paths: Sequence[Sequence[int]], packed: Trie
) -> NDArray[np.int64]:
    """The node of `packed` for each node of `own`, whose sequences begin after `begin` tokens."""
    found = np.zeros(len(own), np.int64)
    for path, whole in zip(own.paths, paths, strict=True):
        found[own.edge_nodes[list(path)]] = packed.edge_nodes[list(whole[begin:])]
        if (end := own.ends[own.paths.index(path)]) is not None:
            after = packed.ends[packed.paths.index(tuple(whole))]
            assert after is not None, "A sequence that others continue ends at a node."
            found[end] = after
    return found


class _Keys:
    """Numbers the tokens of prompts, so that tokens of different images differ."""

    def __init__(self, model: Any) -> None:
        self.words = int(model.config.get_text_config().vocab_size)
        self.image_token = int(getattr(model.config, "image_token_id", None) or -1)
        self._known: dict[bytes, int] = {}
        self._pixels: list[torch.Tensor] = []
        self._each = 1

    def of(self, prompt: EncodedPrompt) -> list[int]:
        """The key of each token of `prompt`."""
        if not prompt.pictures:
            return list(prompt.ids)
        numbers = [self._number(pixels) for pixels in prompt.images[_PIXELS]]
        self._each = prompt.ids.count(self.image_token) // prompt.pictures
        images = iter(
            self.words + number * self._each + i for number in numbers for i in range(self._each)
        )
        return [next(images) if token == self.image_token else token for token in prompt.ids]

    def pixels_of(self, keys: NDArray[np.int64]) -> torch.Tensor | None:
        """The images whose tokens are among `keys`, in their order; None if there are none."""
        places = keys[keys >= self.words] - self.words
        numbers = places[places % self._each == 0] // self._each
        return torch.stack([self._pixels[n] for n in numbers]) if len(numbers) else None

    def _number(self, pixels: torch.Tensor) -> int:
        digest = blake2b(pixels.contiguous().numpy().tobytes(), digest_size=16).digest()
        if digest not in self._known:
            self._known[digest] = len(self._pixels)
            self._pixels.append(pixels)
        return self._known[digest]


def _tolerance(model: Any) -> float:
    """In nats. Rounding of other dtypes and of quantized weights differs from batch to batch."""
    quantized = getattr(model, "is_quantized", False)
    return 1e-3 if model.config.dtype in (None, torch.float32) and not quantized else 0.75


@dataclass(frozen=True, slots=True)
class ReadingPlan:
    """How the questions of a training are read."""

    way: Way
    together: bool
    """Whether one forward pass may hold several questions."""
    remarks: tuple[str, ...] = ()
    """A sentence for each cheaper way that was rejected."""


@torch.no_grad()
def choose(model: Any, questions: Sequence[Question], *, pad: int, batched: bool) -> ReadingPlan:
    """Compare the ways on some questions; `model` is in evaluation mode.

    `questions` are of different lengths, either all with images or all without.
    """
    tolerance = _tolerance(model)
    plain = [_scores(model, [question], "rows", pad)[0] for question in questions]
    remarks: list[str] = []
    way: Way = "rows"
    several = any(len(question.trie.paths) > 1 for question in questions)
    window = getattr(model.config.get_text_config(), "sliding_window", None)
    longest = max(len(q.prompt.ids) + int(q.trie.depths.max()) for q in questions)
    trees = possible_ways(model)[0] == "tree" and not (window and longest >= window)
    if several and not trees:
        remarks.append(
            "Candidates are read as a row each, with the whole prompt: the attention of this model "
            "takes no tree masks. Set negatives to compare with fewer."
        )
    elif several:
        alone = _tried(model, [[one] for one in questions], "packed", pad)
        if problem := _problem(alone, plain, tolerance):
            remarks.append(
                f"Candidates are read as a row each, with the whole prompt: tree masks {problem}."
            )
        else:
            way = "packed"
    if not batched or len(questions) < 2:
        return ReadingPlan(way, batched, tuple(remarks))
    problem = _problem(_tried(model, [questions], way, pad), plain, tolerance)
    if problem:
        remarks.append(f"Examples are read one by one: several in one forward pass {problem}.")
    return ReadingPlan(way, not problem, tuple(remarks))


@torch.no_grad()
def check_shared(model: Any, questions: Sequence[Question], *, pad: int) -> None:
    """Check that prompts can be read together, as `read_shared` does it.

    Raises:
        TuneError: this architecture reads them otherwise.
    """
    problem: str | None = "need another arrangement of positions or images"
    if can_share(model, [question.prompt for question in questions]):
        plain = [_scores(model, [question], "rows", pad)[0] for question in questions]
        found = read_shared(model, questions)
        shared = [score(one, q.trie).sums for one, q in zip(found, questions, strict=True)]
        problem = _problem(shared, plain, _tolerance(model))
    if problem:
        raise TuneError(
            f"The prompts of an episode can't be read together with this model: they {problem}. "
            "Leave out episodes=true."
        )


def _scores(
    model: Any, questions: Sequence[Question], way: Way, pad: int
) -> Sequence[torch.Tensor]:
    found = read(model, questions, way, pad=pad)
    return [score(one, q.trie).sums for one, q in zip(found, questions, strict=True)]


def _tried(
    model: Any, groups: Sequence[Sequence[Question]], way: Way, pad: int
) -> Sequence[torch.Tensor] | str:
    """The scores of `groups`, each read in one pass; or why one of them can't be."""
    try:  # an architecture may raise anything
        return [found for group in groups for found in _scores(model, group, way, pad)]
    except Exception as error:  # noqa: BLE001
        return f"fail with {type(error).__name__}: {error}"


def _problem(
    found: Sequence[torch.Tensor] | str, plain: Sequence[torch.Tensor], tolerance: float
) -> str | None:
    if isinstance(found, str):
        return found
    worst = max(float((a - b).abs().max()) for a, b in zip(found, plain, strict=True))
    return None if worst <= tolerance else f"are off by {worst:.3g} nat"
