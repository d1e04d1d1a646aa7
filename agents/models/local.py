"""`--model local:NAME`: a model in this process, from a folder, a hub, or a package."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from agents.core import ModelError
from agents.models import fingerprint
from agents.models.adapter import FILE, base_of
from agents.models.core import Model
from agents.models.registry import ModelRegistration
from agents.models.smollm2 import gguf, prepare
from envs.core import UnavailableError

BOX = Path(__file__).parent / "box"
"""The planner that comes with this package: `local:inhabit`."""
RANKER = "ranker.json"
"""What tells the folder of a ranker from that of a transformer."""
_PATIENCE = 5.0
"""Seconds that a hub of models may take to answer."""


class LocalSettings(BaseModel):
    """How a local model is run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    """bfloat16 moves scores by up to 0.4 nat; what is to be compared to the digit asks for
    float32. `auto` is whatever a short timing finds faster: it may be another on another machine.
    The record says which it was, and a run that goes on goes on with that."""
    batch: int = Field(default=8, ge=1)
    """Questions of several episodes that are read together at most. What is read together moves
    scores: in float32 in the sixth digit, in bfloat16 by up to 0.4 nat. Where several episodes are
    played at once and each bit is to come again, 1."""
    threads: int | None = Field(default=None, ge=1)
    """Of the processor; as many as torch takes where it is not set."""


def share_processor() -> None:
    """Have torch's idle threads sleep. No effect once torch has been imported.

    As they come, they spin while they wait for one another, and where simulators want the same
    cores a forward takes ten times as long: on two cores with others at work 200 tokens took
    SmolLM2 11 s, and 0.9 s so. On a machine of its own it costs next to nothing.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def _load(name: str, settings: LocalSettings) -> Model:
    share_processor()
    small = BOX if name == "inhabit" else Path(name).expanduser()
    if (small / RANKER).is_file():
        return _load_ranker(small, name, settings)
    source, adapters = _found(name)
    if source != "smollm2" and not Path(source).is_dir():
        _go_without_hub()
    try:
        from agents.models.transformer import load
    except ImportError as error:
        raise UnavailableError(
            f"Local models need the package {error.name!r}: pip install 'inhabit[local]'"
        ) from error
    folder = str(prepare()) if source == "smollm2" else source
    model = load(folder, f"local:{name}", settings, adapters=adapters)
    model.details = {**model.details, "hash": _hash(source)}
    if adapters:
        tuned: list[JsonValue] = [f"sha256:{fingerprint.of_folder(one)}" for one in adapters]
        model.details = {**model.details, "adapters": tuned}
    return model


def _load_ranker(folder: Path, name: str, settings: LocalSettings) -> Model:
    """The small planner, which is no transformer."""
    try:
        from agents.models.ranker.model import load
    except ImportError as error:
        raise UnavailableError(
            f"Local models need the package {error.name!r}: pip install 'inhabit[local]'"
        ) from error
    model = load(folder, f"local:{name}", threads=settings.threads)
    model.details = {"device": "cpu", "hash": f"sha256:{fingerprint.of_folder(folder)}"}
    if (folder / "eyes").is_dir():
        eyes = f"sha256:{fingerprint.of_folder(folder / 'eyes')}"
        model.details = {**model.details, "eyes": eyes}
    return model


def _hash(source: str) -> str | None:
    """What tells these weights from all others: a digest of them, or a hub's own name for them."""
    if source == "smollm2":
        # What is made of it may differ from one version of transformers to the next.
        return f"sha256:{fingerprint.of_file(gguf())}"
    if Path(source).is_dir():
        return f"sha256:{fingerprint.of_folder(Path(source))}"
    from huggingface_hub import try_to_load_from_cache

    config = try_to_load_from_cache(source, "config.json")
    return f"commit:{Path(config).parent.name}" if isinstance(config, str) else None


def _go_without_hub() -> None:
    """Make do with what was downloaded before, if the hub does not answer. No effect once
    huggingface_hub has been imported.

    As it comes, it asks a hub that is away again and again, for half a minute.
    """
    hub = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
    try:
        urlopen(Request(hub, method="HEAD"), timeout=_PATIENCE).close()
    except HTTPError:
        return  # it is there, and has its own reasons
    except (OSError, ValueError):
        os.environ.setdefault("HF_HUB_OFFLINE", "1")


def _found(name: str) -> tuple[str, list[Path]]:
    """Where a model lies, and the adapters that it takes on, in their order.

    Raises:
        ModelError: there is none, or what was tuned was tuned on no local model.
    """
    adapters: list[Path] = []
    while name != "smollm2":
        name = _source(name)
        base = base_of(Path(name))
        if base is None:
            break
        kind, _, rest = base.partition(":")
        if kind != "local" or Path(name) in adapters:
            raise ModelError(f"{Path(name) / FILE} names {base!r}, which is no local model.")
        adapters.insert(0, Path(name))
        name = rest
    return name, adapters


def _source(name: str) -> str:
    """A folder as it is, and anything else as a name on a hub."""
    path = Path(name).expanduser()
    if path.is_dir():
        return str(path)
    if path.exists() or path.is_absolute() or name.startswith((".", "~")) or name.count("/") > 1:
        raise ModelError(
            f"There is no folder {name!r} with a model in it. Name one that transformers has "
            "saved, a model on a hub such as ORGANISATION/NAME, or smollm2."
        )
    return name


REGISTRATION = ModelRegistration(
    kind="local",
    summary="a folder or hub name for transformers, smollm2, or inhabit (with --agent planner)",
    settings=LocalSettings,
    load=_load,
)
