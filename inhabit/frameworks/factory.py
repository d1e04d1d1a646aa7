"""`inhabit.rollouts`: the episodes that a trainer plays, also as a configuration names them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from pydantic import BaseModel, Field, JsonValue

from inhabit.envs.core import Task, UnknownNameError
from inhabit.envs.registry import find
from inhabit.episodes.episode import MAX_INVALID
from inhabit.episodes.playing.plan import find_backend
from inhabit.episodes.playing.settings import divide
from inhabit.episodes.playing.tasks import gather, whole
from inhabit.frameworks.reward import Reward
from inhabit.frameworks.rollout import RolloutFactory, Starts


def rollouts(
    env: str,
    n: int | None = None,
    *,
    tasks: Iterable[Task] | Path | str | None = None,
    kinds: Collection[str] = (),
    rooms: Collection[str] = (),
    seed: int = 0,
    reward: Reward | str = Reward.CONDITIONS,
    settings: Mapping[str, object] | Sequence[str] = MappingProxyType({}),
    backend: str | None = None,
    list_candidates: bool = True,
    max_steps: int | None = None,
    max_invalid: int = MAX_INVALID,
    penalty: float = 0.0,
    worker: bool = False,
    deadline: float = 60.0,
    keep: int = 8,
    remember: int = 8,
) -> RolloutFactory:
    """Episodes of an environment for a trainer.

    Args:
        env: a registered name, such as "alfred".
        n: how many tasks; None takes 100 sampled ones, or all of `tasks`.
        tasks: tasks, or where they come from instead of the sampler, as `--tasks` has it.
        kinds: of tasks to take; any by default.
        rooms: to take tasks of; any by default.
        seed: of the sample, and of the episodes: task i starts as episode i of
            `inhabit run ENV --seed SEED` does.
        reward: "success", "conditions", "progress" or "regret".
        settings: what `--set` may say of the environment, such as {"pixels": 128} or
            ["pixels=128"].
        backend: which simulator; None for the embedded default.
        list_candidates: whether a turn's text lists the plausible actions.
        max_steps: actions an episode may take, instead of each task's own limit.
        max_invalid: actions without effect, in total, that end an episode.
        penalty: taken from the reward of every action without effect.
        worker: run each environment in a process of its own.
        deadline: seconds that a call to a worker's environment may take; a reset three times that.
        keep: task starts that are kept, so that the next episodes from the same start (a group of
            GRPO) copy it instead of building it again. Environments that can't copy keep none.
        remember: past images that an episode keeps in `session.history`, so that the memory of a
            long one is bounded.

    Raises:
        ValueError: a count is too small.
        UnknownNameError, SettingError, TaskError: a name or a setting is wrong, or tasks can't be
            read or belong to another environment.
    """
    limits = [("n", n, 1), ("max_steps", max_steps, 1), ("max_invalid", max_invalid, 1)]
    for what, count, least in (*limits, ("keep", keep, 0), ("remember", remember, 0)):
        if count is not None and whole(what, count) < least:
            raise ValueError(f"{what} is {count}, and must be at least {least}.")
    if reward not in tuple(Reward):
        raise UnknownNameError("reward", reward, Reward)
    registration = find(env)
    name = find_backend(registration, backend)
    own = divide(settings, {"env": registration.settings})["env"]
    chosen = registration.fastest_settings(name, own)
    wanted = 100 if n is None and tasks is None else n
    return RolloutFactory(
        registration=registration,
        tasks=gather(
            registration, chosen, n=wanted, seed=seed, source=tasks, kinds=kinds, rooms=rooms
        ),
        settings=chosen,
        backend=name,
        seed=seed,
        reward=Reward(reward),
        listed=list_candidates,
        max_steps=max_steps,
        max_invalid=max_invalid,
        penalty=penalty,
        worker=worker,
        deadline=deadline,
        remember=remember,
        # Copies of a worker's environment would share its process.
        _starts=Starts(0 if worker else keep),
    )


class RolloutSettings(BaseModel):
    """Which episodes: the arguments of `rollouts` that a file or a command line can hold."""

    env: str
    """A registered environment, such as "alfred"."""
    n: int | None = Field(default=None, ge=1)
    """Number of tasks."""
    tasks: str | None = None
    """Where the tasks come from, as `--tasks` has it; None samples them."""
    seed: int = 0
    reward: Reward = Reward.CONDITIONS
    settings: Mapping[str, JsonValue] = Field(default_factory=dict)
    """Settings of the environment, as `--set` has them."""
    max_steps: int | None = Field(default=None, ge=1)
    """Actions an episode may take, instead of each task's own limit."""

    def factory(self) -> RolloutFactory:
        """The episodes.

        Raises:
            UnknownNameError, SettingError, TaskError: as `rollouts`.
        """
        return rollouts(**{name: getattr(self, name) for name in RolloutSettings.model_fields})
