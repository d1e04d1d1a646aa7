"""Plans after a record. What a record names of a machine is asked for again, never used unasked.

A record may come from anybody. A program that it names would be started, an address would be sent
prompts and a key, a file would be read or written. So settings that name such a place come from
the command line alone (`inhabit.envs.marks.Place`), and so does a model that has to be fetched from
one.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import cast

from pydantic import BaseModel

from inhabit.agents.custom import load_agent, names_file
from inhabit.agents.models import registry as models
from inhabit.agents.registry import AgentRegistration
from inhabit.agents.registry import find as find_agent
from inhabit.envs.core import Determinism, Env, Task
from inhabit.envs.files import expanded
from inhabit.envs.marks import as_recorded, places, trusting, without_effect
from inhabit.envs.registry import Registration
from inhabit.envs.registry import find as find_env
from inhabit.episodes.playing.plan import RunPlan, find_backend, make_env, plan
from inhabit.episodes.playing.settings import (
    RunSettings,
    SettingError,
    assigned,
    at_address,
    divide,
)
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import RENDERER, RunHeader

_OR_TRUST = ", or give --trust-record if the record is your own"
Recorded = Mapping[str, Mapping[str, object]]
"""Owner, such as "env" -> its settings as a record has them."""


def settings_of_env(
    registration: Registration,
    recorded: Mapping[str, object],
    tasks: Iterable[Task],
    assignments: Sequence[str],
    *,
    where: Path,
    trusted: bool,
) -> BaseModel:
    """The settings of an environment that is to be as it was when something was recorded.

    Args:
        registration: of the environment.
        recorded: its settings then.
        tasks: that are recorded.
        assignments: what the user says of it now, as KEY=VALUE.
        where: the folder of the record, for people.
        trusted: whether the user takes what the record names for their own.

    Raises:
        SettingError: a setting is wrong, or the record names a place that is not said again.
    """
    owners = {"env": registration.settings}
    before = allowed({"env": recorded}, owners, assignments, where=where, trusted=trusted)
    settings = divide(assignments, owners, before)["env"]
    if not trusted:
        said = {name for _, name in assigned(assignments, owners)}
        _check_tasks(registration, tasks, settings, said, where)
    return settings


def env_of_run(
    run: Run, assignments: Sequence[str] = (), *, trusted: bool = False
) -> Callable[[], Env]:
    """Makes environments like the one in which `run` was recorded.

    Raises:
        UnknownNameError: there is no such environment or backend here.
        SettingError: as `settings_of_env`.
    """
    header = run.header
    registration = find_env(header.env)
    backend = find_backend(registration, header.backend)
    settings = settings_of_env(
        registration, header.settings.env, run.tasks, assignments, where=run.folder, trusted=trusted
    )
    owners = {"run": RunSettings}
    recorded = allowed({"run": header.settings.run}, owners, where=run.folder, trusted=trusted)
    kept = divide((), owners, recorded)
    return partial(make_env, registration, backend, settings, cast("RunSettings", kept["run"]))


def with_todays_model(header: RunHeader, agent: AgentRegistration) -> RunHeader:
    """`header` with today's name, and settings, of a model that `agent` has renamed."""
    name = agent.earlier_models.get(header.model or "")
    if name is None:
        return header
    left = models.find(name)[0].settings.model_fields
    kept = {key: value for key, value in header.settings.model.items() if key in left}
    settings = header.settings.model_copy(update={"model": kept})
    return header.model_copy(update={"model": name, "settings": settings})


def plan_like(
    header: RunHeader,
    *,
    where: Path,
    tasks: Iterable[Task] = (),
    agent: str | None = None,
    model: str | None = None,
    base_url: str | None = None,
    assignments: Sequence[str] = (),
    trusted: bool = False,
) -> RunPlan:
    """The plan of a run that is recorded, with what is named here in place of what was.

    Args:
        header: of the run.
        where: its folder, for people.
        tasks: of it, that an environment is to open.
        agent: another one.
        model: another one, or the recorded one said again.
        base_url: where the model's endpoint is.
        assignments: KEY=VALUE, as on the command line.
        trusted: whether the user takes what the record names for their own.

    Raises:
        UnknownNameError, ModelError: as `plan`.
        SettingError: as `plan`; or the record names a place that is not said again.
    """
    if agent is None and names_file(header.agent):
        raise SettingError(
            f"{where} was played by {header.agent}, an agent in a file, and a record does not say "
            "which program is run. Name the agent again where this command takes --agent."
        )
    # Only what the user names may be a file, which is executed.
    own = agent is not None and names_file(agent)
    chosen = (load_agent if own else find_agent)(agent or header.agent)
    header = with_todays_model(header, chosen)
    model = chosen.earlier_models.get(model or "", model)
    kept = header.settings
    other = agent is not None and chosen.name != header.agent
    asked = model or (None if other else header.model)
    before: dict[str, Mapping[str, object]] = {"env": kept.env, "run": kept.run}
    owners: dict[str, type[BaseModel]] = {"env": find_env(header.env).settings, "run": RunSettings}
    owners["agent"] = chosen.settings
    said = list(assignments)
    if not other:
        before["agent"] = kept.agent
    if asked is not None and chosen.model is not None:
        registration, name = models.find(asked)
        owners["model"] = registration.settings
        if asked == header.model:
            before["model"] = kept.model
        if at_address(registration.settings, base_url):
            said = [*assignments, f"model.base_url={base_url}"]
        again = model is not None or ("model", "base_url") in assigned(said, owners)
        known = asked == chosen.model or not registration.is_place(name)
        if not (again or trusted or known):
            address = before.get("model", {}).get("base_url")
            repeat = ["--model", asked, *(["--base-url", str(address)] if address else [])]
            raise SettingError(
                f"{where} names the model {asked!r}. Models named in a record are not used unless "
                f"you repeat them: {shlex.join(repeat)}{_OR_TRUST}."
            )
        if asked == header.model and not other:
            # A file that the model brings is no choice of the record: `plan` names it again.
            brought = models.recommended(asked, owners).get("agent", {})
            before["agent"] = {
                key: value
                for key, value in kept.agent.items()
                if key not in brought or value != str(brought[key])
            }
    planned = plan(
        header.env,
        chosen,
        backend=header.backend,
        model=asked,
        base_url=base_url,
        assignments=assignments,
        before=allowed(before, owners, said, where=where, trusted=trusted),
        candidates=header.candidates,
        sight=header.image,
        grants=header.grants,
        max_steps=header.max_steps,
        seed=header.seed,
    )
    if not trusted:
        named = {name for owner, name in assigned(said, owners) if owner == "env"}
        _check_tasks(planned.env, tasks, planned.settings["env"], named, where)
    return planned


def allowed(
    recorded: Recorded,
    owners: Mapping[str, type[BaseModel]],
    assignments: Sequence[str] = (),
    *,
    where: Path,
    trusted: bool = False,
) -> Recorded:
    """What of recorded settings may hold unless it is said otherwise.

    A setting that is younger than the record has its former value (`envs.marks.Formerly`). What
    names a cluster is left out: nothing that goes by a record uses one. So are, unless the record
    is trusted, settings of the run without effect on results: a record chooses neither the process
    that an environment runs in nor how long it may take.

    Raises:
        SettingError: a place is named that is neither said again nor trusted.
    """
    said = assigned(assignments, owners)
    kept: dict[str, dict[str, object]] = {}
    asked: list[tuple[str, object]] = []
    for owner, settings in recorded.items():
        kind = owners[owner]
        kept[owner] = as_recorded(kind, settings)
        if owner == "run" and not trusted:
            for name in without_effect(kind) & settings.keys():
                del kept[owner][name]
        defaults = kind().model_dump(mode="json")
        for name in sorted(places(kind) & settings.keys()):
            own = trusted and owner != "run" and name not in trusting(kind)
            if settings[name] == defaults[name] or own:
                continue
            kept[owner].pop(name, None)
            if owner != "run" and (owner, name) not in said:
                asked.append((f"{owner}.{name}", settings[name]))
    if asked:
        raise SettingError(_again(where, asked, trusted))
    return kept


def _check_tasks(
    registration: Registration,
    tasks: Iterable[Task],
    settings: BaseModel,
    said: Collection[str],
    where: Path,
) -> None:
    """See that the files which recorded tasks name lie in a folder that is named now."""
    if not registration.scene_places:
        return
    given = (value for name, value in settings if name in said and isinstance(value, Path))
    folders = [expanded(folder).resolve() for folder in given]
    for task in tasks:
        for name in registration.scene_places:
            file = task.scene.get(name)
            if file is not None and not _is_below(str(file), folders):
                again = " ".join(f"--set {n}=FOLDER" for n in sorted(places(type(settings))))
                raise SettingError(
                    f"{where} names the file {str(file)!r} in its task {task.id!r}. Files "
                    "named in a record are not opened unless you name their folder: "
                    f"{again}, or give --trust-record if the record is your own."
                )


def _is_below(file: str, folders: Sequence[Path]) -> bool:
    try:
        found = expanded(file).resolve()
    except (OSError, ValueError, RuntimeError):
        return False
    return any(found.is_relative_to(folder) for folder in folders)


def _again(where: Path, asked: Sequence[tuple[str, object]], trusted: bool) -> str:
    named = ", ".join(f"{name} {value!r}" for name, value in asked)
    again = " ".join(f"--set {name}=..." for name, _ in asked)
    return (
        f"{where} names {named}. Programs, files and addresses named in a record are not used "
        f"unless you repeat them: {again}{'' if trusted else _OR_TRUST}."
    )


def comparable(header: RunHeader, determinism: Determinism) -> Determinism:
    """The level at which a record can be compared with what an environment does now.

    It is the weaker of the two levels of determinism. Images of another version of the renderer are
    not compared, everything else is.
    """
    level = max(header.determinism, determinism, key=list(Determinism).index)
    if level is Determinism.FRAMES and other_renderer(header) is not None:
        return Determinism.STATE
    return level


def other_renderer(header: RunHeader) -> tuple[str, str] | None:
    """The version of the renderer that drew the recorded images and the present one.

    None if they are the same, or if the environment renders nothing.
    """
    now = find_env(header.env).renderer
    was = header.software.get(RENDERER, "1")  # Records have named it since version 2.
    return None if now in ("", was) else (was, now)
