"""Toy tasks from a seed: solvable, not solved at the start, worded in several ways."""

from __future__ import annotations

import random
from collections.abc import Iterator

from envs.core import Task
from envs.toy.goals import cost, solve
from envs.toy.house import CONTAINERS, ITEMS, OPENABLE, ROOMS
from envs.toy.scene import ToyScene

KINDS = ("put", "put_away", "put_two")

_WORDINGS = {
    "put": ("Put the {a} in the {x}.", "I want the {a} in the {x}.", "Bring the {a} to the {x}."),
    "put_away": ("Put the {a} in the {x} and close it.", "The {a} belongs in the closed {x}."),
    "put_two": ("Put the {a} in the {x} and the {b} in the {y}.",),
}


def sample(n: int, seed: int) -> Iterator[Task]:
    """`n` tasks, the kinds taking turns; the first k of n are those of k."""
    for i in range(n):
        yield _task(i, seed)


def _task(i: int, seed: int) -> Task:
    kind = KINDS[i % len(KINDS)]
    draw = random.Random(f"toy {seed} {i}")
    while True:
        places = [*ROOMS, *CONTAINERS]
        a, b = draw.sample(ITEMS, 2)
        x = draw.choice(OPENABLE if kind == "put_away" else list(CONTAINERS))
        y = draw.choice(list(CONTAINERS))
        scene = ToyScene(
            room=draw.choice(ROOMS),
            items={item: draw.choice(places) for item in ITEMS},
            open=tuple(c for c in OPENABLE if draw.random() < 0.3),
            inside={a: x, b: y} if kind == "put_two" else {a: x},
            closed=(x,) if kind == "put_away" else (),
        )
        house, goal = scene.house(), scene.goal()
        if goal.met(house) == 0 or (kind == "put_away" and goal.met(house) < goal.total):
            break
    plan, _ = solve(house, goal)
    return Task(
        id=f"toy-{seed}-{i}",
        env="toy",
        kind=kind,
        goal=draw.choice(_WORDINGS[kind]).format(a=a, b=b, x=x, y=y),
        scene=scene.model_dump(mode="json"),
        max_steps=20,
        reference_cost=cost(plan, house),
    )
