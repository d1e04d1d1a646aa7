"""Fine-tunes a base model on a set, and writes the result to a folder."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from operator import not_
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field
from torch import Tensor

from inhabit.agents.dialogue.prompt import PromptSettings
from inhabit.agents.dialogue.template import read_own
from inhabit.agents.models.registry import recommended
from inhabit.eie.tuning import checkpoint, log
from inhabit.eie.tuning.base import Base, prepare
from inhabit.eie.tuning.curves import page
from inhabit.eie.tuning.devices import Devices, shard
from inhabit.eie.tuning.loop import Training
from inhabit.eie.tuning.samples import Sample, choose
from inhabit.eie.tuning.settings import TuneError, TuneSettings
from inhabit.episodes.recording.disk import write_text
from inhabit.episodes.recording.folder import LOCK_FILE

_SOFTWARE = ("inhabit", "torch", "transformers", "peft")


class TuneRequest(BaseModel, frozen=True, extra="forbid"):
    """The request, as in `tune.json`."""

    version: Literal[1] = 1
    base: str
    sets: tuple[str, ...]
    """Digests of the examples of each set."""
    seed: int
    settings: TuneSettings
    prompt: str = Field(default="", exclude_if=not_)
    """Digest of the file that the setting `prompt` names; empty if it names none."""
    software: dict[str, str]

    @property
    def digest(self) -> str:
        """Digest of the request without the software versions."""
        said = self.model_dump_json(exclude={"software"})
        return _digest(said)


class Tuning(BaseModel, frozen=True):
    """The result: the last line of `inhabit tune --json`."""

    model: str
    """KIND:NAME of the tuned model."""
    base: str
    steps: int
    examples: int
    """Number of training examples used."""
    accuracy_before: float | None
    """Validation accuracy: share of answers that are the most likely candidate."""
    accuracy: float | None
    chance: float | None
    loss: float | None
    log: str


def tune(
    train: Iterable[Sample],
    judged: Iterable[Sample],
    *,
    base: str,
    out: Path,
    settings: TuneSettings,
    seed: int,
    tell: Callable[[log.LogLine, int], None],
    warn: Callable[[str], None],
) -> Tuning:
    """Train `base` on `train`, evaluated on `judged`; a rerun resumes.

    Args:
        train: training examples.
        judged: validation examples.
        base: KIND:NAME of a local model.
        out: folder: `model/`, `log.jsonl`, `index.html`, `tune.json`, `checkpoints/`.
        settings: hyperparameters.
        seed: of the shuffle, the initial adapters and dropout.
        tell: called with each line of the log and the total number of steps.
        warn: called with a sentence for each checkpoint that can't be read, and for each faster way
            to read that the model does not allow.

    Raises:
        TuneError: training is not possible, or had to stop; the last good checkpoint is kept.
        ModelError: the base can't be loaded.
        UnavailableError: a package is missing.
    """
    settings = _with_recommended(base, settings)
    chosen = choose(train, settings.kinds, settings.limit, seed)
    if not chosen:
        kinds = ", ".join(settings.kinds) or "any kind"
        raise TuneError(
            f"There are no training examples of {kinds}: in each set, those whose split is "
            '"train" are trained on, and the card of a set counts them.'
        )
    measured = choose(judged, settings.kinds, settings.judge, seed)
    asked = TuneRequest(
        base=base,
        sets=_digests([*chosen, *measured]),
        seed=seed,
        settings=settings,
        prompt="" if settings.prompt is None else _digest(read_own(settings.prompt)),
        software={name: version(name) for name in _SOFTWARE},
    )
    _check_folder(out, asked.digest)
    peers = Devices()
    made = prepare(base, settings, seed)
    if settings.shard:
        if peers.count == 1:
            raise TuneError("shard=true needs several processes: start it by `accelerate launch`.")
        shard(made.model, peers.count)
    out.mkdir(parents=True, exist_ok=True)
    training = Training(
        made,
        chosen,
        measured,
        settings,
        seed,
        out,
        asked.digest,
        peers,
        lambda line: tell(line, len(training.order)),
        warn,
    )
    try:
        training.run()
    finally:
        if peers.rank == 0:
            lines = log.lines(out / "log.jsonl")
            write_text(out / "index.html", out, page(asked.model_dump(mode="json"), lines))
    state = made.state()
    if peers.rank == 0:
        _keep(made, state, out, asked)
    return _result(training, asked, out)


def _with_recommended(base: str, settings: TuneSettings) -> TuneSettings:
    """`settings` with the prompt that the base model recommends, where they name none."""
    # Checked as the agents' settings: those of tuning have other meanings of "pictures" and "end".
    theirs = recommended(base, {"agent": PromptSettings}).get("agent", {})
    missing = [key for key in ("prompt", "history", "keyframes") if getattr(settings, key) is None]
    found = {key: theirs[key] for key in missing if key in theirs}
    return TuneSettings.model_validate({**settings.model_dump(), **found})


def _check_folder(out: Path, asked: str) -> None:
    """Raise TuneError if `out` holds something else than this training, which it would replace."""
    found = {file.name for file in out.iterdir()} if out.is_dir() else set()
    # A training that ended before its first checkpoint has left no more than these.
    others = found - {"index.html", "log.jsonl", LOCK_FILE}
    if others and "checkpoints" not in found:
        raise TuneError(f"{out} holds {min(others)!r} and no training: name another folder.")
    begun, _ = checkpoint.newest(out / "checkpoints")
    if begun is not None and begun.state.asked != asked:
        raise TuneError(
            f"{out} holds a training of another base, set, prompt, settings or seed: name "
            "another folder."
        )


def _digests(samples: Sequence[Sample]) -> tuple[str, ...]:
    """A digest per set of the examples that are used."""
    told: dict[Path, list[str]] = {}
    for sample in samples:
        told.setdefault(sample.folder, []).append(sample.example.model_dump_json())
    return tuple(_digest("\n".join(texts)) for texts in told.values())


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _keep(base: Base, state: Mapping[str, Tensor], out: Path, asked: TuneRequest) -> None:
    """Write the tuned model atomically."""
    half, target = out / "model.half", out / "model"
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir()
    base.save(half, state)
    shutil.rmtree(target, ignore_errors=True)
    half.rename(target)
    write_text(out / "tune.json", out, json.dumps(asked.model_dump(mode="json"), indent=2) + "\n")


def _result(training: Training, asked: TuneRequest, out: Path) -> Tuning:
    lines = log.lines(out / "log.jsonl")
    judged = [line for line in lines if line.kind == "judge"]
    steps = [line for line in lines if line.kind == "step"]
    return Tuning(
        model=f"local:{out / 'model'}",
        base=asked.base,
        steps=len(training.order),
        examples=len(training.train),
        accuracy_before=judged[0].accuracy if judged else None,
        accuracy=judged[-1].accuracy if judged else None,
        chance=judged[-1].chance if judged else None,
        loss=steps[-1].loss if steps else None,
        log=str(out / "index.html"),
    )
