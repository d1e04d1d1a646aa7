"""Merges the adapters of a tuned model into the weights of its base."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.registry import load
from inhabit.eie.tuning.settings import TuneError


def merge(name: str, out: Path) -> None:
    """Write the tuned model `name` to the folder `out` as a model of its own.

    The weights stay in the dtype of the base's checkpoint. Each adapter is added in float32 to one
    layer at a time, and the sum is rounded once.

    Args:
        name: KIND:NAME of a local model with adapters.
        out: a folder that does not exist yet, or is empty.

    Raises:
        TuneError: `name` has no adapters, or `out` is not empty.
        ModelError: the model can't be loaded, or its merged scores can't be trusted.
        UnavailableError: a package is missing.
    """
    if not name.startswith("local:"):
        raise TuneError(f"Only a local model can be merged (local:PATH), not {name!r}.")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise TuneError(f"{out} is not empty: name another folder.")
    loaded: Any = load(name, LocalSettings(device="cpu", dtype="checkpoint"))
    if "adapters" not in loaded.details:
        raise TuneError(f"{name} has no adapters: there is nothing to merge.")
    if getattr(loaded.network, "is_quantized", False):
        raise TuneError(f"The base of {name} is quantized: merge into full precision instead.")
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=f"{out.name}.", dir=out.parent) as beside:
        (half := Path(beside, "model")).mkdir()
        loaded.network.save_pretrained(half)
        loaded.encoder.save(half)
        half.replace(out)
