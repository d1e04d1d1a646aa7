"""The ranker as a model, with a vision model if its folder has one."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import torch
from pydantic import BaseModel, JsonValue, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from inhabit.agents.alfred_specialist.ranker.features import RankerVocabulary, question
from inhabit.agents.alfred_specialist.ranker.network import Network
from inhabit.agents.alfred_specialist.ranker.parsing import action, notes
from inhabit.agents.core import Call, ModelError, Ranked
from inhabit.agents.models.beam_search import BeamRules
from inhabit.agents.models.core import Ability, Message, Model, Ranking
from inhabit.agents.models.eyes import BUNDLED as BUNDLED_EYES
from inhabit.agents.models.eyes.network import ImageDetector
from inhabit.agents.models.local import fingerprint
from inhabit.agents.models.local.folder import OpenedFolder
from inhabit.envs.entries import first_problem

RANKER, WEIGHTS, EYES = "ranker.json", "ranker.safetensors", "eyes"
_BUNDLED = Path(__file__).parent / "bundled"
_OTHER_VERSION = (
    "If another version of this package made it, make it again with scripts/train_planner."
)


class RankerFile(BaseModel, frozen=True, extra="forbid"):
    """The file next to the weights."""

    nouns: tuple[str, ...]
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
        self.network, self.vocabulary, self.eyes = network, vocabulary, eyes
        self.abilities = frozenset({Ability.RANK, Ability.BEAM})
        self.details: Mapping[str, JsonValue] = MappingProxyType({})

    async def rank(self, prompt: Sequence[Message], candidates: Sequence[str]) -> Ranking:
        """Log-probabilities that sum to one over `candidates`.

        Raises:
            ModelError: the prompt is none of `notes.py`.
        """
        begin = time.perf_counter()
        scores = self.scores(prompt, candidates)
        lengths = [max(1, len(candidate.split())) for candidate in candidates]
        call = Call(
            messages=tuple(message.record() for message in prompt),
            reply="",
            tokens_in=len("".join(prompt[-1].texts).split()),
            seconds=time.perf_counter() - begin,
        )
        return Ranking(tuple(map(Ranked, candidates, scores, lengths)), call)

    def scores(self, prompt: Sequence[Message], candidates: Sequence[str]) -> list[float]:
        """The log-probability of each candidate.

        Raises:
            ModelError: the prompt is none of `notes.py`.
        """
        said = [action(text) for text in candidates]
        with torch.inference_mode():
            asking = question(notes("".join(prompt[-1].texts)), said, self.vocabulary)
            found: list[float] = self.network([asking])[0].double().tolist()
        return found

    async def _beam(
        self, prompt: Sequence[Message], candidates: Sequence[str], rules: BeamRules
    ) -> Ranking:
        """The best of `rank`: all are scored anyway.

        Raises:
            ModelError: `end` or `length_penalty` is set.
        """
        if rules.end or rules.length_penalty:
            raise ModelError(f"{self.name} scores no tokens: leave out end and length_penalty.")
        ranking = await self.rank(prompt, candidates)
        best = sorted(ranking.scores, key=lambda score: -score.logprob)
        return Ranking(tuple(best[: rules.width]), ranking.call)


def save(network: Network, vocabulary: RankerVocabulary, folder: Path) -> None:
    """Write the files of the ranker; a vision model in `folder` stays."""
    folder.mkdir(parents=True, exist_ok=True)
    known = RankerFile(nouns=vocabulary.nouns, tasks=vocabulary.tasks)
    (folder / RANKER).write_text(known.model_dump_json(indent=1) + "\n", encoding="utf-8")
    tensors = {name: t.detach().half().contiguous() for name, t in network.state_dict().items()}
    save_file(tensors, folder / WEIGHTS)


def load(folder: Path | None, name: str, *, threads: int | None = None) -> Ranker:
    """The ranker in `folder`, which may come from anybody.

    Args:
        folder: as `save` writes it, with a vision model in its folder `eyes` or without; None for
            the one that comes with this package.
        name: KIND:NAME.
        threads: of torch; None leaves them as they are.

    Raises:
        ModelError: it can't be read.
    """
    if threads is not None:
        torch.set_num_threads(threads)
    if folder is None:
        folder, eyes = _BUNDLED, BUNDLED_EYES
    elif folder.is_dir():
        eyes = folder / EYES
    else:
        raise ModelError(f"There is no folder {str(folder)!r}, as scripts/train_planner writes it.")
    opened, opened_eyes = OpenedFolder(folder), OpenedFolder(eyes) if eyes.is_dir() else None
    try:
        known = RankerFile.model_validate_json((opened.path / RANKER).read_bytes())
        vocabulary = RankerVocabulary(known.nouns, known.tasks)
        network = Network(vocabulary)
        network.load_state_dict({n: t.float() for n, t in load_file(opened.path / WEIGHTS).items()})
        detector = None if opened_eyes is None else ImageDetector(opened_eyes.path)
    except ValidationError as error:
        raise ModelError(
            f"{folder / RANKER} can't be read: {first_problem(error)}. {_OTHER_VERSION}"
        ) from error
    except RuntimeError as error:
        raise ModelError(f"The weights in {folder} don't fit. {_OTHER_VERSION}") from error
    except (OSError, SafetensorError, TypeError, ValueError) as error:
        reason = opened.named(str(error)).strip().partition("\n")[0]
        reason = opened_eyes.named(reason) if opened_eyes else reason
        raise ModelError(f"The model in {folder} can't be read: {reason}") from error
    ranker = Ranker(network.eval(), vocabulary, name=name, eyes=detector)
    parts = {"ranker": folder} | ({"eyes": eyes} if detector else {})
    digests = {part: f"sha256:{fingerprint.of_folder(where)}" for part, where in parts.items()}
    ranker.details = {"device": "cpu", **digests}
    return ranker
