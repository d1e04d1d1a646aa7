"""Reads instructions with trained weights, and tells how sure each reading is."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache
from itertools import product
from pathlib import Path

import torch
from pydantic import BaseModel, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from inhabit.agents.alfred_specialist.reading.network import GoalNetwork, ReaderVocabulary, encode
from inhabit.agents.alfred_specialist.reading.reading import ROLES, Reading, Readings
from inhabit.agents.core import ModelError
from inhabit.envs.entries import first_problem

BUNDLED = Path(__file__).parent / "bundled"
"""The reader that comes with this package."""
DESCRIPTION, WEIGHTS = "reader.json", "reader.safetensors"
_TASKS, _NOUNS = 3, 4
"""Number of task types, and of nouns for each role, that readings are made of."""
_CLOSE, _LONG_WORD = 0.84, 30
"""Similarity at which an unknown word is taken for a misspelt one, and letters of the longest."""
_KEPT = 12
"""Number of readings of an instruction."""


class _Described(BaseModel, frozen=True, extra="forbid"):
    words: tuple[str, ...]
    tasks: tuple[str, ...]
    nouns: tuple[str, ...]
    with_movable: tuple[str, ...]
    """Task types whose third role is filled."""


class InstructionReader:
    """Reads instructions. Reads each one once. Not thread-safe."""

    def __init__(
        self, network: GoalNetwork, vocabulary: ReaderVocabulary, with_movable: Collection[str]
    ) -> None:
        self._network, self._vocabulary = network, vocabulary
        self._with_movable = frozenset(with_movable)
        self._words = frozenset(vocabulary.words)
        self._spellings = sorted(self._words.union(*(noun.split() for noun in vocabulary.nouns)))
        self.read = lru_cache(maxsize=1024)(self._read)
        self._spelt = lru_cache(maxsize=4096)(self._corrected)

    def _read(self, text: str, nouns: frozenset[str] = frozenset()) -> Readings:
        """The readings of an instruction.

        Args:
            text: the goal; step sentences may follow on lines of their own.
            nouns: what there may be in such a room; empty where that is not known.
        """
        if not any(letter.isalpha() for letter in text):
            return Readings()
        known = self._vocabulary.nouns
        among = nouns.intersection(known)
        allowed = torch.tensor([[not among or not noun or noun in among for noun in known]])
        with torch.inference_mode():
            tasks, roles = self._network([[*map(self._spelt, encode(text))]], allowed)
        types = _best(tasks[0].log_softmax(0), self._vocabulary.tasks, _TASKS)
        best = [_best(role.log_softmax(0), known, _NOUNS + 1) for role in roles[0]]
        unread = tuple(
            role
            for role, found, required in zip(ROLES, best, (True, True, False), strict=True)
            if required and not found[0][0]
        )
        ranked = sorted(self._joined(types, best), key=lambda one: -one.probability)
        return Readings(tuple(ranked[:_KEPT]), unread)

    def _corrected(self, word: str) -> str:
        """The known word that an unknown one is closest to, if it is close."""
        if word in self._words or not 4 < len(word) < _LONG_WORD:
            return word
        return next(iter(get_close_matches(word, self._spellings, 1, _CLOSE)), word)

    def _joined(
        self, types: Sequence[tuple[str, float]], best: Sequence[Sequence[tuple[str, float]]]
    ) -> Iterator[Reading]:
        things, places = ([one for one in found if one[0]] for found in best[:2])
        for (task, sure), thing, place in product(types, things, places):
            movables = [one for one in best[2] if one[0]] if task in self._with_movable else []
            for movable in movables or [("", 0.0)]:
                nouns = thing[0], place[0], movable[0]
                if len(set(filter(None, nouns))) == len(list(filter(None, nouns))):
                    total = sure + thing[1] + place[1] + movable[1]
                    yield Reading(task, nouns, math.exp(total))


def _best(logprobs: torch.Tensor, names: Sequence[str], count: int) -> list[tuple[str, float]]:
    found = logprobs.topk(min(count, len(names)))
    return [(names[i], p) for p, i in zip(found[0].tolist(), found[1].tolist(), strict=True)]


def save_reader(
    network: GoalNetwork,
    vocabulary: ReaderVocabulary,
    with_movable: Collection[str],
    folder: Path,
) -> None:
    """Write the files of a reader."""
    folder.mkdir(parents=True, exist_ok=True)
    described = _Described(
        words=vocabulary.words,
        tasks=vocabulary.tasks,
        nouns=vocabulary.nouns,
        with_movable=tuple(sorted(with_movable)),
    )
    (folder / DESCRIPTION).write_text(described.model_dump_json() + "\n", encoding="utf-8")
    tensors = {name: t.detach().half().contiguous() for name, t in network.state_dict().items()}
    save_file(tensors, folder / WEIGHTS)


def load_reader(folder: Path = BUNDLED) -> InstructionReader:
    """The reader in `folder`.

    Raises:
        ModelError: it can't be read.
    """
    try:
        described = _Described.model_validate_json((folder / DESCRIPTION).read_bytes())
        vocabulary = ReaderVocabulary(described.words, described.tasks, described.nouns)
        network = GoalNetwork(vocabulary)
        network.load_state_dict({n: t.float() for n, t in load_file(folder / WEIGHTS).items()})
    except ValidationError as error:
        raise ModelError(
            f"{folder / DESCRIPTION} can't be read: {first_problem(error)}."
        ) from error
    except (OSError, RuntimeError, SafetensorError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise ModelError(
            f"The reader in {folder} can't be read: {reason}. Make it again with "
            "scripts/train_reader."
        ) from error
    return InstructionReader(network.eval(), vocabulary, described.with_movable)
