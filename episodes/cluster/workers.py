"""The job workers of a run: `Probe` reports what a node has, `Player` plays episodes."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path
from typing import cast

from pydantic import JsonValue

from inhabit.agents.core import Agent
from inhabit.envs.core import Task
from inhabit.envs.host.process_group import ProcessGroup
from inhabit.episodes.playing.env_thread import EnvThread
from inhabit.episodes.playing.plan import RunPlan, plan
from inhabit.episodes.playing.play import Faults
from inhabit.episodes.playing.run import EpisodePool
from inhabit.episodes.recording.disk import Pictures
from inhabit.episodes.recording.reader import EpisodeRecord, Run
from inhabit.episodes.recording.schema import RunHeader
from inhabit.episodes.view import check


def files_of(folder: Path) -> dict[str, bytes]:
    """All files of an episode's folder that are whole: name -> content."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(".half")
    }


class Probe:
    """Starts environment and model, and reports the determinism and the model's details."""

    def __init__(self, settings: JsonValue) -> None:
        self._plan = _plan(RunHeader.model_validate(settings))

    def do(self, job: JsonValue) -> dict[str, JsonValue]:
        """The header fields that are known only after the start."""
        plan = self._plan
        model = plan.load_model()
        with plan.make_env() as env:
            check(env, plan.candidates, plan.granted)
            agent = plan.make_agent(model)
            asyncio.run(agent.close())
            details = {} if model is None else dict(model.details)
            return {"determinism": env.determinism, "model_details": details}

    def close(self) -> None:
        """Nothing to release."""


class Player:
    """Plays episodes in a temporary folder on the node, and returns the files of each."""

    def __init__(self, settings: JsonValue) -> None:
        header = RunHeader.model_validate(settings)
        self._plan: RunPlan = _plan(header)
        # A worker that is no longer needed is killed; its folder is removed with the process.
        self._group = ProcessGroup("inhabit-player-")
        self._folder = self._group.folder
        (self._folder / "episodes").mkdir()
        self._run = Run(self._folder, header, ())
        self._asyncio = asyncio.Runner()
        self._pictures = Pictures()
        self._faults = Faults(0)  # The runner counts those of all workers.
        self._agent: Agent = self._plan.make_agent(self._plan.load_model(header.model_details))
        self._env_thread: EnvThread | None = None

    def do(self, job: JsonValue) -> dict[str, bytes]:
        """Play the episode {"number", "tasks", "record"}; `record` holds its earlier lines.

        The second task, if there is one, is that whose pictures are shown.
        """
        fields = cast("dict[str, JsonValue]", job)
        number = cast("int", fields["number"])
        folder = self._folder / "episodes" / f"{number:05d}"
        tasks = tuple(map(Task.model_validate, cast("list[JsonValue]", fields["tasks"])))
        episode = EpisodeRecord(folder, number, tasks[0])
        run = replace(self._run, tasks=tasks)
        folder.mkdir()  # Not its parents: they are removed once this worker is given up.
        try:
            if record := cast("str", fields["record"]):
                episode.file.write_text(record, encoding="utf-8")
            self._asyncio.run(self._play(run, episode))
            return files_of(folder)
        finally:
            shutil.rmtree(folder)

    def close(self) -> None:
        """Close the environment and the model, and remove the folder."""
        if self._env_thread is not None:
            self._asyncio.run(self._env_thread.close())
        self._asyncio.run(self._agent.close())
        self._asyncio.close()
        self._pictures.__exit__(None, None, None)
        self._group.close()

    async def _play(self, run: Run, episode: EpisodeRecord) -> None:
        pool = EpisodePool(
            run, self._plan.make_env, self._agent, self._plan, self._pictures, self._faults
        )
        self._env_thread = await pool.play_one(episode, self._env_thread)


def _plan(header: RunHeader) -> RunPlan:
    # Nothing is to be said again: the header comes from the user who started this run.
    return plan(
        header.env,
        header.agent,
        backend=header.backend,
        model=header.model,
        before=header.settings.model_dump(),
        candidates=header.candidates,
        sight=header.image,
        grants=header.grants,
        max_steps=header.max_steps,
        seed=header.seed,
    )
