"""Runs for the trackers that people watch experiments with: TensorBoard, W&B and MLflow.

Each run becomes one run of the tracker, named by its folder: its configuration, the figures of
every episode in the order of the tasks, and the run's metrics so far. Nothing leaves this machine
unless the tracker's own variables say so (`WANDB_MODE=online`, `MLFLOW_TRACKING_URI`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from inhabit.eie.export.exporter import Exporter, of_episodes
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.scoring.metric import METRICS, Scored
from inhabit.episodes.scoring.scores import figure

Figures = Mapping[str, float]
Rows = Sequence[tuple[int, Figures]]
PROJECT = "inhabit"


def episodes(run: Run) -> Iterator[tuple[int, Figures]]:
    """The number of each episode that has ended, and its figures.

    `episode/...` is of the episode alone; `run/...` is over all episodes up to it, by every metric
    that has a figure. Rates are from 0 to 1, costs count low-level steps, `seconds` are of wall
    time.

    Raises:
        RecordError: the record is broken.
    """
    so_far: list[Scored] = []
    for number, (task, end) in enumerate(zip(run.tasks, Index(run).ends(), strict=True)):
        if end is None:
            continue
        so_far.append(Scored(task, end))
        own = {
            "success": float(end.success),
            "goal_conditions": end.met / end.total if end.total else 0.0,
            "steps": end.steps,
            "cost": end.cost,
            "invalid": end.invalid,
            "replans": end.replans,
            "fault": float(end.is_fault),
            "tokens": end.tokens.read + end.tokens.written,
            "seconds": sum(end.seconds.model_dump().values()),
        }
        over = {one.name: figure(one, so_far) for one in METRICS.usable()[0]}
        figures = {f"episode/{name}": value for name, value in own.items()}
        figures |= {f"run/{name}": value for name, value in over.items() if value is not None}
        yield number, {name: float(value) for name, value in figures.items()}


def configuration(run: Run) -> Mapping[str, str | int | float | bool]:
    """What the run was started with, one level deep: "settings.env.split" and the like."""

    def flat(name: str, value: object) -> Iterator[tuple[str, str | int | float | bool]]:
        if isinstance(value, Mapping):
            for key, inner in value.items():
                yield from flat(f"{name}.{key}" if name else str(key), inner)
        elif isinstance(value, str | int | float | bool):
            yield name, value
        elif value is not None:
            yield name, str(value)

    kept = {"env", "backend", "agent", "model", "model_details", "candidates", "grants"}
    kept |= {"image", "max_steps", "seed", "settings", "software"}
    return dict(flat("", run.header.model_dump(mode="json", include=kept)))


def tensorboard(run: Run, rows: Rows, out: Path) -> None:
    """Write event files to `out/NAME`, for `tensorboard --logdir out`."""
    from tensorboard.summary import Writer

    writer = Writer(str(out / run.name))
    for number, values in rows:
        for name, value in values.items():
            writer.add_scalar(name, value, number)
    writer.close()


def wandb(run: Run, rows: Rows, out: Path) -> None:
    """Write a run to `out/wandb`, for `wandb sync`, unless `WANDB_MODE` says otherwise."""
    import wandb as library

    logged = library.init(
        project=PROJECT,
        name=run.name,
        dir=str(out),
        config=dict(configuration(run)),
        mode=os.environ.get("WANDB_MODE", "offline"),
        settings=library.Settings(silent=True, disable_git=True, save_code=False),
        reinit="finish_previous",
    )
    for number, values in rows:
        logged.log(dict(values), step=number)
    logged.finish()


def mlflow(run: Run, rows: Rows, out: Path) -> None:
    """Write a run to `out/mlflow.db`, or to the server that `MLFLOW_TRACKING_URI` names."""
    from mlflow import MlflowClient
    from mlflow.entities import Metric, Param

    uri = os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{(out / 'mlflow.db').resolve()}"
    client = MlflowClient(tracking_uri=uri)
    found = client.get_experiment_by_name(PROJECT)
    experiment = client.create_experiment(PROJECT) if found is None else found.experiment_id
    started = client.create_run(experiment, run_name=run.name).info.run_id
    params = [Param(name, _within(str(value))) for name, value in configuration(run).items()]
    client.log_batch(started, params=params[:100])
    for more in range(100, len(params), 100):
        client.log_batch(started, params=params[more : more + 100])
    when = int(1000 * datetime.fromisoformat(run.header.created).timestamp())
    for number, values in rows:
        client.log_batch(started, [Metric(k, v, when, number) for k, v in values.items()])
    client.set_terminated(started)


def _within(value: str, most: int = 6000) -> str:
    """`value`, cut where it is longer than MLflow keeps; its end says so."""
    cut = " ... (cut)"
    return value if len(value) <= most else value[: most - len(cut)] + cut


def _exporter(write: Callable[[Run, Rows, Path], None], tracker: str) -> Exporter:
    def write_runs(runs: Sequence[Run], out: Path) -> int:
        count = 0
        for run in runs:
            rows = list(episodes(run))
            write(run, rows, out)
            count += len(rows)
        return count

    name = write.__name__
    return of_episodes(name, f"figures of every episode, for {tracker}", write_runs, name)


TENSORBOARD = _exporter(tensorboard, "TensorBoard")
WANDB = _exporter(wandb, "Weights & Biases")
MLFLOW = _exporter(mlflow, "MLflow")
