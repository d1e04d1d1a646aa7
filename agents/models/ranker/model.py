"""The ranker as a model for planners, with a vision model if its folder has one."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import torch
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from inhabit.agents.core import Call, ModelError, Ranked
from inhabit.agents.models.core import Ability, Image, Message, Model, Ranking
from inhabit.agents.models.eyes.detector import ImageDetector
from inhabit.agents.models.ranker import RANKER
from inhabit.agents.models.ranker.features import RankerVocabulary, question
from inhabit.agents.models.ranker.goals import ParsedGoal
from inhabit.agents.models.ranker.network import Network
from inhabit.agents.models.ranker.parsing import ParsedNotes, action, notes
from inhabit.envs.entries import first_problem

WEIGHTS, EYES = "ranker.safetensors", "eyes"
_OTHER_VERSION = (
    "If another version of this package made it, make it again with scripts/train_planner."
)


class RankerFile(BaseModel):
    """The file next to the weights."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    nouns: tuple[str, ...]
    words: tuple[str, ...]
    tasks: tuple[str, ...]


class Ranker(Model):
    """Ranks with `network.py`; it generates no text."""

    def __init__(
        self,
        network: Network,
        vocabulary: RankerVocabulary,
        *,
        name: str,
        eyes: ImageDetector | None,
    ) -> None:
        """Rank with `network`, in evaluation mode, and detect objects with `eyes`."""
        self.name = name
        self.network, self.vocabulary, self._eyes = network, vocabulary, eyes
        self.abilities = frozenset({Ability.RANK, Ability.BEAM})
        if eyes is not None:
            self.abilities |= {Ability.EYES}
        self.details: Mapping[str, JsonValue] = MappingProxyType({})

    async def rank(self, prompt: Sequence[Message], candidates: Sequence[str]) -> Ranking:
        """Log-probabilities that sum to one over `candidates`.

        Raises:
            ModelError: the prompt is none of `agents/prompts/notes.py`.
        """
        begin = time.perf_counter()
        scores = self.scores(prompt, candidates)
        lengths = [max(1, len(candidate.split())) for candidate in candidates]
        call = Call(
            messages=tuple(message.record() for message in prompt),
            reply="",
            tokens_in=len(_text(prompt).split()),
            seconds=time.perf_counter() - begin,
        )
        return Ranking(tuple(map(Ranked, candidates, scores, lengths)), call)

    def scores(self, prompt: Sequence[Message], candidates: Sequence[str]) -> list[float]:
        """The log-probability of each candidate.

        Raises:
            ModelError: the prompt is none of `agents/prompts/notes.py`.
        """
        parsed = notes(_text(prompt), self.vocabulary.nouns)
        parsed_goal = self._goal(parsed)
        said = [action(text) for text in candidates]
        with torch.inference_mode():
            asking = question(parsed, parsed_goal, said, self.vocabulary)
            found: list[float] = self.network([asking])[0].double().tolist()
        return found

    def _goal(self, parsed: ParsedNotes) -> ParsedGoal:
        """The goal as the notes say that it was read; else as the ranker's own reader reads it."""
        if parsed.reading and parsed.reading[0] in self.vocabulary.tasks:
            task, *nouns = parsed.reading
            return ParsedGoal(self.vocabulary.tasks.index(task), tuple(nouns))
        return self.network.reader.read(parsed.goal, parsed.slots)

    async def beam(
        self,
        prompt: Sequence[Message],
        candidates: Sequence[str],
        *,
        width: int,
        end: bool = False,
        length_penalty: float = 0.0,
    ) -> Ranking:
        """The best `width` of `rank`: all are scored anyway.

        Raises:
            ModelError: `end` or `length_penalty` is set.
        """
        if end or length_penalty:
            raise ModelError(f"{self.name} scores no tokens: leave out end and length_penalty.")
        ranking = await self.rank(prompt, candidates)
        best = sorted(ranking.scores, key=lambda score: -score.logprob)
        return Ranking(tuple(best[:width]), ranking.call)

    async def look(self, pictures: Sequence[Image]) -> Sequence[Mapping[str, float]]:
        """The detections of its vision model in each image."""
        if self._eyes is None:
            return await super().look(pictures)
        return self._eyes.look(pictures)


def _text(prompt: Sequence[Message]) -> str:
    return "".join(part for part in prompt[-1].parts if isinstance(part, str))


def save(network: Network, vocabulary: RankerVocabulary, folder: Path) -> None:
    """Write the files of the ranker; a vision model in `folder` stays."""
    folder.mkdir(parents=True, exist_ok=True)
    words = RankerFile(nouns=vocabulary.nouns, words=vocabulary.words, tasks=vocabulary.tasks)
    (folder / RANKER).write_text(words.model_dump_json(indent=1) + "\n", encoding="utf-8")
    tensors = {name: t.detach().half().contiguous() for name, t in network.state_dict().items()}
    save_file(tensors, folder / WEIGHTS)


def load(
    folder: Path, name: str, *, eyes: Path | None = None, threads: int | None = None
) -> Ranker:
    """The ranker in `folder`.

    Args:
        folder: as `save` writes it.
        name: KIND:NAME.
        eyes: folder of its vision model; else the one in `folder`, if there is one.
        threads: of torch; None leaves them as they are.

    Raises:
        ModelError: it can't be read.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    try:
        words = RankerFile.model_validate_json((folder / RANKER).read_bytes())
        vocabulary = RankerVocabulary(words.nouns, words.words, words.tasks)
        network = Network(vocabulary)
        network.load_state_dict({n: t.float() for n, t in load_file(folder / WEIGHTS).items()})
        eyes = eyes or folder / EYES
        detector = ImageDetector(eyes) if eyes.is_dir() else None
    except ValidationError as error:
        raise ModelError(
            f"{folder / RANKER} can't be read: {first_problem(error)}. {_OTHER_VERSION}"
        ) from error
    except RuntimeError as error:
        raise ModelError(f"The weights in {folder} don't fit. {_OTHER_VERSION}") from error
    except (OSError, SafetensorError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise ModelError(f"The model in {folder} can't be read: {reason}") from error
    return Ranker(network.eval(), vocabulary, name=name, eyes=detector)
