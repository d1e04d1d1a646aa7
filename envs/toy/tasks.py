"""Samples toy tasks: solvable, unsolved at the start, in several wordings."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

from inhabit.envs.core import Task, TaskError
from inhabit.envs.toy.goals import cost, solve
from inhabit.envs.toy.house import CONTAINERS, ITEMS, OPENABLE, ROOMS
from inhabit.envs.toy.scene import ToyScene, ToySettings

KINDS = ("put", "put_away", "put_two")

_WORDINGS = {
    "put": ("Put the {a} in the {x}.", "I want the {a} in the {x}.", "Bring the {a} to the {x}."),
    "put_away": ("Put the {a} in the {x} and close it.", "The {a} belongs in the closed {x}."),
    "put_two": ("Put the {a} in the {x} and the {b} in the {y}.",),
}


def kinds(settings: ToySettings) -> Sequence[str]:
    """The kinds of sampled tasks."""
    return KINDS


def rooms(settings: ToySettings) -> Mapping[str, Sequence[str]]:
    """The rooms that the agent can start in."""
    return {room: (room,) for room in ROOMS}


def read(source: str, settings: ToySettings) -> NoReturn:
    """The toy house has no named tasks.

    Raises:
        TaskError: always.
    """
    raise TaskError(
        f"Unknown toy tasks {source!r}. Use --n and --seed, or a JSONL of tasks "
        "as printed by `inhabit tasks toy`."
    )


def sample(n: int, seed: int, settings: ToySettings | None = None) -> Iterator[Task]:
    """`n` tasks, the kinds in turn; the first k tasks do not depend on `n`."""
    for i in range(n):
        rng = random.Random(f"toy {seed} {i}")
        yield draw_task(f"toy-{seed}-{i}", KINDS[i % len(KINDS)], rng)


def draw_task(name: str, kind: str, rng: random.Random) -> Task:
    """Sample a task of that kind with id `name`."""
    while True:
        places = [*ROOMS, *CONTAINERS]
        a, b = rng.sample(ITEMS, 2)
        x = rng.choice(OPENABLE if kind == "put_away" else list(CONTAINERS))
        y = rng.choice(list(CONTAINERS))
        scene = ToyScene(
            room=rng.choice(ROOMS),
            items={item: rng.choice(places) for item in ITEMS},
            open=tuple(c for c in OPENABLE if rng.random() < 0.3),
            inside={a: x, b: y} if kind == "put_two" else {a: x},
            closed=(x,) if kind == "put_away" else (),
        )
        house, goal = scene.house(), scene.goal()
        if goal.met(house) == 0 or (kind == "put_away" and goal.met(house) < goal.total):
            break
    wording = rng.choice(_WORDINGS[kind]).format(a=a, b=b, x=x, y=y)
    return make_task(name, kind, wording, scene)


def make_task(name: str, kind: str, wording: str, scene: ToyScene) -> Task:
    """The task of reaching a scene's goal, with the cost of a shortest plan."""
    house = scene.house()
    plan, _ = solve(house, scene.goal())
    return Task(
        id=name,
        env="toy",
        kind=kind,
        goal=wording,
        scene=scene.model_dump(mode="json"),
        max_steps=20,
        reference_cost=cost(plan, house),
    )
