"""Loads the model that `--model KIND:NAME` names.

Packages of others join through the entry-point group `inhabit.models`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any
from warnings import warn

from pydantic import BaseModel, ValidationError

from inhabit.agents.core import ModelError
from inhabit.agents.models.core import Ability, Model
from inhabit.envs.entries import Entries, settings_problem
from inhabit.envs.marks import portable

_LARGEST = 1 << 24
"""The largest number that a model may recommend."""


@dataclass(frozen=True, slots=True)
class ModelRegistration:
    """A kind of model. Nothing heavy is imported before `load` is called."""

    kind: str
    summary: str
    settings: type[BaseModel]
    """Settings that a run may give the model; every field has a default."""
    load: Callable[[str, Any], Model]
    """(name, settings) -> a model that is ready.

    Raises:
        ModelError: there is no such model, or it can't be read.
        UnavailableError: a package is lacking on this machine.
    """
    is_place: Callable[[str], bool] = lambda name: True
    """Whether a name has to be looked for on a disk or in a network. A record alone does not lead
    there: the user has to name it."""
    recommended: Callable[[str], Mapping[str, Mapping[str, object]]] = lambda name: {}
    """Defaults that a model brings for settings of "agent", "env" and "model", by its name. A
    `Path` is a file that belongs to the model; all else is checked by `recommended`.

    Raises:
        ModelError: they can't be read.
    """


_ENTRIES = Entries(
    "kind of model",
    ModelRegistration,
    "inhabit.models",
    {
        "local": "inhabit.agents.models.local.registration:REGISTRATION",
        "openai": "inhabit.agents.models.endpoints.openai:REGISTRATION",
        "scripted": "inhabit.agents.models.scripted:REGISTRATION",
        "vllm": "inhabit.agents.models.vllm.registration:REGISTRATION",
    },
    name_of=attrgetter("kind"),
    check=lambda registration: settings_problem(registration.settings),
)


kinds = _ENTRIES.names
"""Every kind that `--model` can name."""
usable = _ENTRIES.usable
"""Every kind that can be used, and what is wrong with each of the others."""


def find(spec: str) -> tuple[ModelRegistration, str]:
    """The kind of model and the name that `spec`, a KIND:NAME, stands for.

    Raises:
        UnknownNameError: there is no such kind.
        ModelError: it is no KIND:NAME.
    """
    kind, colon, name = str(spec).partition(":")
    if not colon or not name:
        raise ModelError(
            f"A model is named as KIND:NAME, such as local:smollm2 or scripted:first, not {spec!r};"
            f" one behind an endpoint is openai:{str(spec).strip(':') or 'NAME'}."
        )
    return _ENTRIES.find(kind), name


def load(spec: str, settings: BaseModel | None = None) -> Model:
    """The model that `spec`, a KIND:NAME, stands for, with `settings` of its kind.

    Raises:
        UnknownNameError: there is no such kind.
        ModelError: there is no such model, or it can't be read.
        UnavailableError: a package is lacking on this machine.
    """
    registration, name = find(spec)
    return registration.load(name, settings or registration.settings())


def recommended(
    spec: str, owners: Mapping[str, type[BaseModel]], said: Collection[tuple[str, str]] = ()
) -> Mapping[str, Mapping[str, object]]:
    """Defaults that a model brings for the settings of `owners`, by owner and name.

    Args:
        spec: KIND:NAME of the model.
        owners: the settings of "agent", "env" and "model"; what they lack is left out. Where an
            agent does not take a value, all that is recommended for agents is left out, with a
            warning: it is meant for another kind.
        said: owner and name of each setting that the user says.

    Raises:
        ModelError: they can't be read, or name what only the user may: a program, an address, a
            file, a device or trust.
    """
    registration, name = find(spec)
    found: dict[str, dict[str, object]] = {}
    for owner, values in registration.recommended(name).items():
        kind = owners.get(owner)
        if kind is None:
            continue
        for key, value in values.items():
            if key not in kind.model_fields or (owner, key) in said:
                continue
            huge = isinstance(value, int | float) and not abs(value) <= _LARGEST
            if huge or not (key in portable(kind) or isinstance(value, Path)):
                raise ModelError(
                    f"The folder of {spec} recommends {owner}.{key} {str(value)[:80]!r}. A model "
                    "chooses no program, file, address or device, and trusts nothing: say --set "
                    f"{owner}.{key}=... yourself, or remove it from its inhabit.json."
                )
            found.setdefault(owner, {})[key] = value
    agent = found.get("agent", {})
    if agent and not _fits(spec, owners["agent"], agent):
        del found["agent"]
    return found


def _fits(spec: str, kind: type[BaseModel], values: Mapping[str, object]) -> bool:
    """Whether an agent takes all of the `values`. If not, they are meant for another kind."""
    try:
        kind.model_validate(values)
    except ValidationError as error:
        wrong = ", ".join(".".join(map(str, one["loc"])) for one in error.errors())
        warn(
            f"{spec} recommends settings for another kind of agent ({wrong[:80]}): this one is "
            "used without them.",
            stacklevel=4,
        )
        return False
    return True


def require(model: Model | None, agent: str, *abilities: Ability) -> Model:
    """`model`, if it can do what `agent` asks of it.

    Raises:
        ModelError: it lacks an ability, or there is no model at all.
    """
    if model is None:
        raise ModelError(
            f"The agent {agent!r} asks a model: name one, as in --model local:smollm2."
        )
    if lacking := sorted(set(abilities) - model.abilities):
        told = {Ability.IMAGES: "To play without images, say --sight none."} | {**model.instead}
        instead = dict.fromkeys(f" {told[a]}" for a in lacking if a in told)
        raise ModelError(
            f"The agent {agent!r} asks its model for {', '.join(lacking)}, which {model.name} "
            f"can't do (it can: {', '.join(sorted(model.abilities)) or 'nothing'})."
            + "".join(instead)
        )
    return model
