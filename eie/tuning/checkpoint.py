"""Checkpoints of training, written atomically; the newest readable one is used."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from pydantic import BaseModel, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from inhabit.eie.tuning.devices import gathered, split_as
from inhabit.eie.tuning.settings import TuneError

_KEPT = 2


class CheckpointState(BaseModel, frozen=True, extra="forbid"):
    """The metadata of a checkpoint."""

    step: int
    """Number of completed steps."""
    asked: str
    """Digest of the request: base, set, settings, seed."""


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """Weights and the optimizer's first and second moments, by parameter name."""

    state: CheckpointState
    weights: Mapping[str, torch.Tensor]
    first: Mapping[str, torch.Tensor]
    second: Mapping[str, torch.Tensor]


def save(folder: Path, checkpoint: Checkpoint) -> Path:
    """Write `checkpoint` to `folder` atomically; of older ones only the last is kept."""
    target = folder / f"{checkpoint.state.step:06d}"
    half = folder / f"{target.name}.half"
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir(parents=True)
    for name in ("weights", "first", "second"):
        tensors = {n: t.detach().cpu().contiguous() for n, t in getattr(checkpoint, name).items()}
        save_file(tensors, half / f"{name}.safetensors")
    (half / "state.json").write_text(checkpoint.state.model_dump_json() + "\n")
    shutil.rmtree(target, ignore_errors=True)
    half.rename(target)
    for old in whole(folder)[:-_KEPT]:
        shutil.rmtree(old)
    return target


def save_training(
    folder: Path, network: torch.nn.Module, optimizer: torch.optim.Optimizer, state: CheckpointState
) -> None:
    """Write the weights of a network, and the moments that its optimizer has."""
    moments = moments_of(dict(network.named_parameters()), optimizer)
    save(folder, Checkpoint(state, network.state_dict(), *moments))


def resume_training(
    folder: Path, network: torch.nn.Module, optimizer: torch.optim.Optimizer, asked: str
) -> int:
    """Load the newest checkpoint of `save_training`, if there is one, into both.

    Returns the number of completed steps. `asked` is the digest of the request.

    Raises:
        TuneError: the folder holds the training of another request.
    """
    found, _ = newest(folder)
    if found is None:
        return 0
    if found.state.asked != asked:
        raise TuneError(f"{folder} holds the training of other eyes: name another folder.")
    network.load_state_dict(dict(found.weights))
    restore_moments(found, dict(network.named_parameters()), optimizer)
    return found.state.step


def moments_of(
    named: Mapping[str, torch.nn.Parameter], optimizer: torch.optim.Optimizer
) -> tuple[Mapping[str, torch.Tensor], Mapping[str, torch.Tensor]]:
    """The first and second moments that an optimizer of Adam's kind has of parameters."""
    known = {name: optimizer.state[one] for name, one in named.items() if one in optimizer.state}
    first = {name: gathered(moments["exp_avg"]) for name, moments in known.items()}
    return first, {name: gathered(moments["exp_avg_sq"]) for name, moments in known.items()}


def restore_moments(
    found: Checkpoint, named: Mapping[str, torch.nn.Parameter], optimizer: torch.optim.Optimizer
) -> None:
    """Give the optimizer the moments of a checkpoint."""
    for name, parameter in named.items():
        if name in found.first:
            optimizer.state[parameter] = {
                "step": torch.tensor(float(found.state.step)),
                "exp_avg": split_as(found.first[name], parameter),
                "exp_avg_sq": split_as(found.second[name], parameter),
            }


def whole(folder: Path) -> list[Path]:
    """The checkpoints in `folder`, oldest first."""
    found = (p for p in folder.glob("*") if p.is_dir() and p.name.isdecimal())
    return sorted(found, key=lambda place: int(place.name))


def newest(folder: Path) -> tuple[Checkpoint | None, list[str]]:
    """The newest readable checkpoint in `folder`; None if there is none.

    Returns:
        The checkpoint, and a warning for each newer one that is incomplete or damaged.
    """
    remarks: list[str] = []
    for place in reversed(whole(folder)):
        try:
            return _read(place), remarks
        except (OSError, SafetensorError, ValidationError) as error:
            reason = str(error).partition("\n")[0]
            remarks.append(f"The checkpoint {place} can't be read ({reason}); an older one counts.")
    return None, remarks


def _read(place: Path) -> Checkpoint:
    state = CheckpointState.model_validate_json((place / "state.json").read_bytes())
    weights, first, second = (
        load_file(place / f"{name}.safetensors") for name in ("weights", "first", "second")
    )
    return Checkpoint(state, weights, first, second)
