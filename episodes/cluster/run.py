"""Plays the episodes of a run on a cluster. The run folder is the same as on one machine."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import cast

from pydantic import JsonValue

from inhabit.agents.custom import names_file
from inhabit.envs.core import Determinism, Task
from inhabit.envs.files import read_whole
from inhabit.episodes.cluster.jobs import NodeResources, dispatch, offered
from inhabit.episodes.playing.plan import RunPlan
from inhabit.episodes.playing.play import Faults
from inhabit.episodes.playing.run import Watch, unfinished
from inhabit.episodes.playing.settings import ClusterSettings, RunSettings, SettingError
from inhabit.episodes.playing.tasks import elsewhere
from inhabit.episodes.recording.disk import refused, write_whole
from inhabit.episodes.recording.index import append, entry_of
from inhabit.episodes.recording.reader import EpisodeRecord, Run
from inhabit.episodes.recording.schema import RunHeader

_WORKERS = "inhabit.episodes.cluster.workers"


def check_plan(plan: RunPlan) -> None:
    """Check that other nodes can play it.

    Raises:
        SettingError: the model has a budget, which would have to be counted across workers, or the
            agent is in a file, which nodes do not have.
    """
    model = plan.settings.get("model")
    limits = {} if model is None else {k: v for k, v in model if k.startswith("budget_")}
    for name, limit in limits.items():
        if limit is not None:
            raise SettingError(
                f"On a cluster each worker has its own model, so {name} cannot be enforced: "
                "omit --ray or the budget."
            )
    if names_file(plan.agent.name):
        raise SettingError(
            f"On a cluster an agent is one that each node has installed, and {plan.agent.name} is "
            "in a file: omit --ray, or make it a package with an entry point."
        )


async def probe(plan: RunPlan, tasks: Sequence[Task], command: Sequence[str]) -> RunHeader:
    """Start environment and model on one node, and complete the run's header from there.

    Raises:
        UnavailableError, SimulatorError, ModelError, LackingError: as on this machine.
    """
    header = plan.header(Determinism.NONE, tasks, command)
    found: list[dict[str, JsonValue]] = []
    await dispatch(
        f"{_WORKERS}:Probe",
        header.model_dump(mode="json"),
        [None],
        lambda _, fields: found.append(fields),
        workers=1,
        resources=worker_resources(plan.run_settings, plan.backend),
    )
    return RunHeader.model_validate(header.model_dump(mode="json") | found[0])


async def run_on_cluster(run: Run, plan: RunPlan, *, workers: int, watch: Watch) -> None:
    """Play every unfinished episode of `run`, `workers` of them concurrently.

    An episode is written to the folder when it ends. One that was lost with its node is played
    again on another.

    Raises:
        LostError: an episode was lost with its node too often.
        DiskError: the record can't be written.
        FaultsError: the model failed in episode after episode.
        UnavailableError, SimulatorError, ModelError: nodes can't start what is needed.
    """
    faults = Faults(plan.run_settings.max_faults)

    def done(job: JsonValue, files: dict[str, bytes]) -> None:
        number = cast("dict[str, int]", job)["number"]
        _keep(run, run.episode(number), files, watch)
        if (end := run.episode(number).end()) is not None:
            faults.count(end)

    await dispatch(
        f"{_WORKERS}:Player",
        # The current settings, not the recorded ones, decide what nodes start.
        run.header.model_copy(update={"settings": plan.recorded_settings()}).model_dump(
            mode="json"
        ),
        _jobs(run, plan.run_settings),
        done,
        workers=workers,
        resources=worker_resources(plan.run_settings, plan.backend),
    )


def worker_resources(settings: ClusterSettings, backend: str) -> NodeResources:
    """The resources that a worker with `backend` reserves on its node.

    If nodes offer a resource with the name of the backend, such as "unity", workers are placed on
    those nodes only.
    """
    resources = dict(settings.ray_resources)
    if backend in offered():
        resources.setdefault(backend, 1.0)
    return NodeResources(settings.ray_cpus, settings.ray_gpus, resources)


def _jobs(run: Run, settings: RunSettings) -> Iterator[JsonValue]:
    for episode in unfinished(run, settings):
        record = b""
        with contextlib.suppress(FileNotFoundError):
            record = read_whole(episode.file, episode.run)
        whole = record[: record.rfind(b"\n") + 1]
        tasks = episode.task, elsewhere(run, episode.task)
        yield {
            "number": episode.number,
            "tasks": [task.model_dump(mode="json") for task in tasks if task is not None],
            "record": whole.decode("utf-8"),
        }


def _keep(run: Run, episode: EpisodeRecord, files: dict[str, bytes], watch: Watch) -> None:
    record = files.pop("episode.jsonl")
    with refused(episode.file):
        for name, content in files.items():
            write_whole(episode.folder / name, run.folder, content)
        # Last, so that an episode with an end has all its images.
        write_whole(episode.file, run.folder, record, sync=True)
    entry = entry_of(episode)  # A worker returns finished episodes only.
    append(run, [entry])
    watch(episode, entry.end)
