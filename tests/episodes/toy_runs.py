"""Real runs of the toy house for the tests of this folder, and what can go wrong in one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from inhabit.agents.core import Agent, Decision, ModelError, View
from inhabit.envs.core import Action, Env, Outcome, SimulatorError, Task
from inhabit.envs.toy.env import Toy
from inhabit.envs.toy.house import ToySettings
from inhabit.envs.toy.tasks import sample
from inhabit.episodes.playing.plan import plan
from inhabit.episodes.playing.run import Watch, run_episodes
from inhabit.episodes.recording.folder import begin, earlier
from inhabit.episodes.recording.reader import Run


def toy() -> Env:
    return Toy(ToySettings())


def toy_tasks(n: int, seed: int = 0) -> Sequence[Task]:
    return tuple(sample(n, seed))


def play_toy(
    folder: Path,
    *,
    tasks: Sequence[Task] | None = None,
    agent: str = "random",
    made: Agent | None = None,
    make: Callable[[], Env] = toy,
    workers: int = 1,
    watch: Watch = lambda episode, end: None,
    **options: object,
) -> Run:
    """A run in this process, begun or gone on with."""
    chosen = plan("toy", agent, **options)  # type: ignore[arg-type]
    found = tasks or toy_tasks(3)
    folder.mkdir(parents=True, exist_ok=True)
    run = earlier(folder) or begin(folder, chosen.header(toy().determinism, found, ["test"]), found)
    decider = made or chosen.make_agent(chosen.load_model())
    asyncio.run(run_episodes(run, make, decider, chosen, workers=workers, watch=watch))
    return Run.open(folder)


class Dying(Toy):
    """A simulator that dies at its `at`-th action, as the first of its kind does."""

    alive = True

    def __init__(self, at: int) -> None:
        super().__init__()
        self._left = at

    def act(self, action: Action) -> Outcome:
        self._left -= 1
        if self._left < 0:
            raise SimulatorError("The toy died. The last lines it printed:\n    {ouch} [red]")
        return super().act(action)


class Says(Agent):
    """Says one text for ever; None is nothing that can be understood."""

    def __init__(self, text: str | None, *, raw: str = "", stop: bool = False) -> None:
        self._text, self._raw, self._stop = text, raw, stop

    async def decide(self, view: View) -> Decision:
        action = None if self._text is None else await view.parse(self._text)
        return Decision(action, raw=self._raw, stop=self._stop)


class Silent(Agent):
    """A model that does not answer."""

    async def decide(self, view: View) -> Decision:
        raise ModelError("The model is away.")


class Keeps(Agent):
    """Keeps every view, and drops what is in its hand for ever."""

    def __init__(self) -> None:
        self.views: list[View] = []

    async def decide(self, view: View) -> Decision:
        self.views.append(view)
        return Decision(view.candidates[0])


def results(run: Run) -> Sequence[Any]:
    """What must not depend on how often a run was disturbed: no times, all the rest."""
    clock = {"time", "seconds", "overhead_ms", "attempt"}
    found = []
    for episode in run.episodes():
        attempt = episode.last()
        assert attempt is not None
        assert attempt.end is not None
        steps = [
            (
                s.see.digest,
                s.see.state,
                s.candidates,
                s.decide and s.decide.action,
                s.act and (s.act.reason, s.act.feedback, s.act.met, s.act.over, s.act.cost),
            )
            for s in attempt.steps
        ]
        found.append((attempt.start.seed, steps, attempt.end.model_dump(exclude=clock)))
    return found
