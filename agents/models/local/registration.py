"""`--model local:NAME`: a model in this process, from a folder, a hub, or a package."""

from __future__ import annotations

import os
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from pydantic import JsonValue

from inhabit.agents.core import ModelError
from inhabit.agents.models.core import Model
from inhabit.agents.models.local import fingerprint, inhabit_vlm
from inhabit.agents.models.local.adapter import base_of, is_made_here
from inhabit.agents.models.local.recommended import recommended_by
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.local.smollm2 import gguf, prepare
from inhabit.agents.models.registry import ModelRegistration, kinds
from inhabit.envs.extras import imports
from inhabit.envs.files import expanded

_OURS = frozenset({"smollm2", "inhabit-vlm"})
_PATIENCE = 5.0
"""Timeout in seconds for a model hub."""


def let_idle_threads_sleep() -> None:
    """Have torch's idle threads sleep. No effect once torch has been imported.

    By default they spin while they wait for one another. If simulators use the same cores, a
    forward pass takes ten times as long: on two busy cores SmolLM2 took 11 s for 200 tokens, and
    0.9 s with sleeping threads. On an idle machine the difference is negligible.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


WITHOUT = ". Without it, choose an agent that asks no model, such as --agent expert."


def _load(name: str, settings: LocalSettings) -> Model:
    let_idle_threads_sleep()
    source, adapters = resolve(name)
    if Path(source).is_dir() and not os.path.lexists(Path(source) / "config.json"):
        others = ", ".join(kind for kind in kinds() if kind != "local")
        raise ModelError(
            f"local:{name} can't be loaded: there is no config.json in {source}, so transformers "
            f"has not saved it. A model of another kind is named as KIND:FOLDER: {others}."
        )
    if source != "smollm2" and not Path(source).is_dir():
        _go_offline_if_unreachable()
    with imports("Local models", "local", WITHOUT):
        from inhabit.agents.models.local.loading import load
    folder = str(prepare()) if source == "smollm2" else source
    tuned: list[JsonValue] = [f"sha256:{fingerprint.of_folder(one)}" for one in adapters]

    def identity() -> str | None:
        known = weights_of(source)
        return known and " ".join([known, *map(str, tuned)])

    model = load(folder, f"local:{name}", settings, adapters=adapters, identity=identity)
    model.details = {**model.details, "hash": weights_of(source)}
    if adapters:
        model.details = {**model.details, "adapters": tuned}
    return model


def weights_of(source: str) -> str | None:
    """Identifies the weights: their digest, or a hub's commit."""
    if source == "smollm2":
        # The converted files may differ between versions of transformers.
        return f"sha256:{fingerprint.of_file(gguf())}"
    if Path(source).is_dir():
        return f"sha256:{fingerprint.of_folder(Path(source))}"
    from huggingface_hub import try_to_load_from_cache

    config = try_to_load_from_cache(source, "config.json")
    return f"commit:{Path(config).parent.name}" if isinstance(config, str) else None


def _go_offline_if_unreachable() -> None:
    """Use earlier downloads only, if the hub does not answer. No effect once huggingface_hub has
    been imported, which by default retries an unreachable hub for half a minute.
    """
    hub = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
    try:
        urlopen(Request(hub, method="HEAD"), timeout=_PATIENCE).close()
    except HTTPError:
        return  # it is reachable
    except (OSError, ValueError, HTTPException):
        os.environ.setdefault("HF_HUB_OFFLINE", "1")


def resolve(name: str) -> tuple[str, list[Path]]:
    """Folder or hub name of a base model, and its adapters in order.

    `name` is a model, or adapters and what they belong to: ADAPTERS+BASE. A base that only the
    adapters' folder names is used if it comes with this package, or if the adapters were made on
    this machine.

    Raises:
        ModelError: there is no such model, or the base of its adapters has to be named.
    """
    name, *said = _parts(name)
    adapters: list[Path] = []
    while name != "smollm2":
        name = _source(name)
        folder = Path(name)
        base = base_of(folder)
        if base is None:
            break
        if folder in adapters:
            raise ModelError(f"The adapters in {name} are their own base.")
        adapters.insert(0, folder)
        kind, _, rest = base.partition(":")
        if not said and kind == "local" and (rest in _OURS or is_made_here(folder)):
            said = _parts(rest)
        if not said:
            whole = "+".join([*map(str, reversed(adapters)), rest or "BASE"])
            named = f"name the base model {base!r}" if base else "name no base model"
            raise ModelError(
                f"The adapters in {name} {named}. A folder does not choose what else is loaded: "
                f"say it, as in --model {f'local:{whole}'!r}."
            )
        name, *said = said
    if said:
        raise ModelError(f"{name} has no adapters, so no base belongs to it: leave out +{said[0]}.")
    return name, adapters


def _parts(name: str) -> list[str]:
    return [name] if expanded(name).is_dir() else name.split("+")


def _source(name: str) -> str:
    """A folder, or a name on a hub."""
    path = expanded(name)
    if path.is_dir():
        return str(path)
    if name == "inhabit-vlm":
        return str(inhabit_vlm.prepare())
    if path.exists() or path.is_absolute() or name.startswith((".", "~")) or name.count("/") > 1:
        raise ModelError(
            f"There is no folder {name!r} with a model in it. Name one that transformers has "
            "saved, a model on a hub such as ORGANISATION/NAME, or smollm2."
        )
    return name


def recommended(name: str) -> Mapping[str, Mapping[str, object]]:
    """The settings that a model's folder recommends, or else that of its base model."""
    if name == "smollm2":
        return {}
    source, adapters = resolve(name)
    folders = [*reversed(adapters), Path(source)]
    return next((found for folder in folders if (found := recommended_by(folder))), {})


REGISTRATION = ModelRegistration(
    kind="local",
    summary="a transformers model by folder or hub name; or smollm2",
    settings=LocalSettings,
    load=_load,
    is_place=lambda name: name not in _OURS,
    recommended=recommended,
)
