"""ALFWorld's tasks: ALFRED's trajectories, and sampled ones, of the six types that it has."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from inhabit.envs.alfred.alfworld import AlfworldSettings
from inhabit.envs.alfred.alfworld.env import Alfworld
from inhabit.envs.alfred.alfworld.rules import word
from inhabit.envs.alfred.scenes.scene import AlfredGoal, read_scene
from inhabit.envs.alfred.tasks import sampling, splits
from inhabit.envs.alfred.world.kinds import BY_NAME, KIND_NAMES
from inhabit.envs.alfred.world.things import Rooms
from inhabit.envs.core import Task

_MAX_STEPS = 50
_GOALS: Mapping[str, Sequence[str]] = {
    "pick_and_place_simple": ("put a {obj} in {recep}", "put some {obj} on {recep}"),
    "look_at_obj_in_light": (
        "look at {obj} under the {toggle}",
        "examine the {obj} with the {toggle}",
    ),
    "pick_clean_then_place_in_recep": (
        "put a clean {obj} in {recep}",
        "clean some {obj} and put it in {recep}",
    ),
    "pick_heat_then_place_in_recep": (
        "put a hot {obj} in {recep}",
        "heat some {obj} and put it in {recep}",
    ),
    "pick_cool_then_place_in_recep": (
        "put a cool {obj} in {recep}",
        "cool some {obj} and put it in {recep}",
    ),
    "pick_two_obj_and_place": (
        "put two {obj} in {recep}",
        "find two {obj} and put them in {recep}",
    ),
}
"""The game's wordings; "put a clean mug in desk" is how it says it."""
_KINDS = tuple(name for name in KIND_NAMES if not BY_NAME[name].movable)


def kinds(settings: AlfworldSettings) -> Sequence[str]:
    """ALFWorld's six types: those of ALFRED without movable receptacles."""
    return _KINDS


def read(source: str, settings: AlfworldSettings) -> Iterator[Task]:
    """The tasks that ALFWorld has of a folder of ALFRED's trajectories, or of a split file.

    Those with slices or movable receptacles are left out, as it does.

    Raises:
        TaskError: `source` can't be read. Names the file and the field.
    """
    return _games(splits.read_folder(source, settings), settings)


def sample(
    n: int,
    seed: int,
    settings: AlfworldSettings | None = None,
    kinds: Collection[str] = (),
    rooms: Collection[str] = (),
) -> Iterator[Task]:
    """`n` tasks that the expert solves. The first k tasks do not depend on `n`.

    With `kinds` or `rooms`, those of `n` tasks of ALFRED's sample; no others are solved.
    """
    settings = settings or AlfworldSettings()
    many = n if kinds or rooms else 10**6
    drawn = sampling.sample(many, seed, settings, kinds or _KINDS, rooms)
    return islice(_solved(drawn, settings), n)


def _games(tasks: Iterable[Task], settings: AlfworldSettings) -> Iterator[Task]:
    rooms = Rooms(settings.rooms, settings.cells).names
    for task in tasks:
        goal = read_scene(task, rooms).goal
        if task.kind in _KINDS and not goal.sliced:
            yield task.model_copy(
                update={
                    "id": task.id.replace("alfred-", "alfworld-", 1),
                    "env": "alfworld",
                    "goal": _wording(goal, task.id),
                    "max_steps": _MAX_STEPS,
                    "reference_cost": None,
                }
            )


def _wording(goal: AlfredGoal, seed: str) -> str:
    said = random.Random(f"alfworld {seed}").choice(_GOALS[goal.type])
    named = {"obj": goal.object, "recep": goal.parent, "toggle": goal.toggle}
    return said.format(**{key: word(str(type)) for key, type in named.items()})


def _solved(tasks: Iterable[Task], settings: AlfworldSettings) -> Iterator[Task]:
    quick = settings.model_copy(update={"wire": "none"})
    with Alfworld(settings=quick) as env:
        for task in _games(tasks, settings):
            env.reset(task, seed=0)
            plan = env.plan()
            if plan:
                cost = sum(env.act(action).cost for action in plan)
                yield task.model_copy(update={"reference_cost": cost})
