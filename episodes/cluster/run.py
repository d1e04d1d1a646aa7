"""A run whose episodes are played all over a cluster. Its folder is like any other's."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Sequence
from typing import cast

from pydantic import JsonValue

from inhabit.envs.core import Determinism, Task
from inhabit.envs.files import read_whole
from inhabit.episodes.cluster.bundle import unpack
from inhabit.episodes.cluster.jobs import NodeResources, dispatch, offered
from inhabit.episodes.cluster.settings import ClusterSettings
from inhabit.episodes.recording.disk import DiskError, write_whole
from inhabit.episodes.recording.index import append, entry_of
from inhabit.episodes.recording.reader import Episode, Run
from inhabit.episodes.recording.schema import RunHeader
from inhabit.episodes.running.plan import RunPlan
from inhabit.episodes.running.run import Watch, unfinished
from inhabit.episodes.running.settings import SettingError

_DUTIES = "inhabit.episodes.cluster.duty"


def check_can_spread(plan: RunPlan) -> None:
    """See that nothing is limited that only one runner can count.

    Raises:
        SettingError: it is.
    """
    model = plan.settings.get("model")
    limits = {} if model is None else {k: v for k, v in model if k.startswith("budget_")}
    for name, limit in limits.items():
        if limit is not None:
            raise SettingError(
                f"On a cluster each worker asks its own model, so that nobody can keep {name}: "
                "leave --ray out, or the budget."
            )


async def probe(plan: RunPlan, tasks: Sequence[Task], command: Sequence[str]) -> RunHeader:
    """Start what `plan` needs on some node, and make the run's header of what is found there.

    Raises:
        UnavailableError, SimulatorError, ModelError, LackingError: as on this machine.
    """
    header = plan.header(Determinism.NONE, tasks, command)
    found: list[bytes] = []
    await dispatch(
        f"{_DUTIES}:Probe",
        header.model_dump(mode="json"),
        [None],
        lambda _, told: found.append(told),
        hands=1,
        need=need_of(plan.run_settings, plan.backend),
    )
    return RunHeader.model_validate(header.model_dump(mode="json") | json.loads(found[0]))


async def run_on_cluster(run: Run, plan: RunPlan, *, workers: int, watch: Watch) -> None:
    """Play every episode of `run` that has not ended yet, `workers` of them at once.

    An episode comes into the folder when it is over, all of it at once. One that was lost with its
    node is played again on another.

    Raises:
        LostError: an episode was lost with its node too often.
        DiskError: the record can't be written.
        UnavailableError, SimulatorError, ModelError: nodes can't start what is needed.
    """

    def done(job: JsonValue, bundle: bytes) -> None:
        number = cast("dict[str, int]", job)["number"]
        _keep(run, run.episode(number), bundle, watch)

    await dispatch(
        f"{_DUTIES}:Player",
        # The settings of now: a record decides nothing about what nodes start.
        run.header.model_copy(update={"settings": plan.recorded_settings()}).model_dump(
            mode="json"
        ),
        _jobs(run),
        done,
        hands=workers,
        need=need_of(plan.run_settings, plan.backend),
    )


def need_of(settings: ClusterSettings, backend: str) -> NodeResources:
    """What a worker that has `backend` takes of its node.

    A cluster whose nodes offer a resource by the name of the backend, such as "unity", has its
    workers placed on those nodes alone.
    """
    resources = dict(settings.ray_resources)
    if backend in offered():
        resources.setdefault(backend, 1.0)
    return NodeResources(settings.ray_cpus, settings.ray_gpus, resources)


def _jobs(run: Run) -> Iterator[JsonValue]:
    for episode in unfinished(run):
        record = b""
        with contextlib.suppress(FileNotFoundError):
            record = read_whole(episode.file, episode.run)
        whole = record[: record.rfind(b"\n") + 1]
        yield {
            "number": episode.number,
            "task": episode.task.model_dump(mode="json"),
            "record": whole.decode("utf-8"),
        }


def _keep(run: Run, episode: Episode, bundle: bytes, watch: Watch) -> None:
    files = dict(unpack(bundle))
    record = files.pop("episode.jsonl")
    try:
        for name, content in files.items():
            file = episode.folder / name
            write_whole(file, run.folder, content)
        # Last, so that an episode that has ended has all its pictures.
        write_whole(episode.file, run.folder, record, sync=True)
    except OSError as error:
        raise DiskError(episode.file, error) from error
    attempt = episode.last()
    assert attempt is not None and attempt.end is not None, "Only what is over is handed over."
    append(run, [entry_of(episode, attempt, attempt.end)])
    watch(episode, attempt.end)
