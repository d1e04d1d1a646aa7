"""`--model local:NAME`: a model in this process, from a folder, a hub, or a package."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from pydantic import JsonValue

from inhabit.agents.core import ModelError
from inhabit.agents.models.core import Model
from inhabit.agents.models.local import fingerprint
from inhabit.agents.models.local.adapter import FILE, base_of
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.local.smollm2 import gguf, prepare
from inhabit.agents.models.ranker import BOX, RANKER
from inhabit.agents.models.registry import ModelRegistration
from inhabit.envs.core import UnavailableError

_PATIENCE = 5.0
"""Seconds that a hub of models may take to answer."""


def let_idle_threads_sleep() -> None:
    """Have torch's idle threads sleep. No effect once torch has been imported.

    As they come, they spin while they wait for one another, and where simulators want the same
    cores a forward takes ten times as long: on two cores with others at work 200 tokens took
    SmolLM2 11 s, and 0.9 s so. On a machine of its own it costs next to nothing.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def _load(name: str, settings: LocalSettings) -> Model:
    let_idle_threads_sleep()
    small = BOX if name == "inhabit" else Path(name).expanduser()
    if (small / RANKER).is_file():
        return _load_ranker(small, name, settings)
    source, adapters = _resolve(name)
    if source != "smollm2" and not Path(source).is_dir():
        _go_offline_if_unreachable()
    try:
        from inhabit.agents.models.local.transformer import load
    except ImportError as error:
        raise UnavailableError(
            f"Local models need the package {error.name!r}: pip install 'inhabit[local]'. "
            "Without it, choose an agent that asks no model, such as --agent expert."
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
        from inhabit.agents.models.ranker.model import load
    except ImportError as error:
        raise UnavailableError(
            f"Local models need the package {error.name!r}: pip install 'inhabit[local]'. "
            "Without it, choose an agent that asks no model, such as --agent expert."
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


def _go_offline_if_unreachable() -> None:
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


def _resolve(name: str) -> tuple[str, list[Path]]:
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
    summary="a transformers model by folder or hub name; smollm2; inhabit (for --agent planner)",
    settings=LocalSettings,
    load=_load,
    is_place=lambda name: name not in ("smollm2", "inhabit"),
)
