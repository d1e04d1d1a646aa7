"""Samples household tasks of a dozen kinds in our flats, each of 4 to 20 actions.

A task is kept only if the expert solves it in that many actions (the length that EgoPlan-Bench
keeps, section 3 of its paper), and if it is not solved at its start. The length counts a walk to
each room before the walk to an object there, also where the expert has seen the object before and
walks to it at once: one task in four has up to four actions fewer.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence

from inhabit.envs.core import Task
from inhabit.envs.virtualhome.expert.planner import NoFlatPlanError, solve
from inhabit.envs.virtualhome.flats.plans import plans
from inhabit.envs.virtualhome.graph.goals import StateGoal, met
from inhabit.envs.virtualhome.graph.world import FlatWorld
from inhabit.envs.virtualhome.tasks.kinds import KINDS, DrawnGoal, Sampler
from inhabit.envs.virtualhome.tasks.scene import CHARACTER, VirtualHomeScene, build_world
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

SHORTEST, LONGEST = 4, 20
ROOMS = ("kitchen", "livingroom", "bedroom", "bathroom")
"""Rooms in which the character starts."""
_SEEDS = 1000
"""Furnishings per floor plan to sample from."""


def kinds(settings: VirtualHomeSettings) -> Sequence[str]:
    """The kinds of sampled tasks."""
    return tuple(KINDS)


def rooms(settings: VirtualHomeSettings) -> Mapping[str, Sequence[str]]:
    """The rooms that the character can start in."""
    return {room: (room,) for room in ROOMS}


def sample(n: int, seed: int, settings: VirtualHomeSettings | None = None) -> Iterator[Task]:
    """`n` tasks, the kinds in turn; the first k tasks do not depend on `n`."""
    kinds = list(KINDS)
    for i in range(n):
        rng = random.Random(f"virtualhome task {seed} {i}")
        yield draw_task(f"virtualhome-{seed}-{i}", kinds[i % len(kinds)], rng)


def draw_task(name: str, kind: str, rng: random.Random) -> Task:
    """Sample a task of that kind with id `name`."""
    while True:
        scene, world = draw_flat(rng)
        wish = KINDS[kind].draw(Sampler(world, rng))
        task = vary(name, kind, scene, wish) if wish is not None else None
        if task is not None:
            return task


def draw_flat(rng: random.Random) -> tuple[VirtualHomeScene, FlatWorld]:
    """A random flat without a goal."""
    flat, furnishing = rng.randrange(len(plans())), rng.randrange(_SEEDS)
    room = rng.choice(ROOMS)
    nothing = StateGoal(id=CHARACTER, state="SITTING")
    scene = VirtualHomeScene(flat=flat, seed=furnishing, room=room, goals=(nothing,))
    return scene, build_world(scene)


def vary(name: str, kind: str, scene: VirtualHomeScene, wish: DrawnGoal) -> Task | None:
    """The task of a goal in a scene; None if it holds already or its plan is too short or long."""
    scene = scene.model_copy(update={"goals": wish.goals})
    world = build_world(scene)
    if met(wish.goals, world, ()) == len(wish.goals):
        return None
    try:
        plan = solve(world, CHARACTER, wish.goals, ())
    except NoFlatPlanError:
        return None
    if not SHORTEST <= len(plan) <= LONGEST:
        return None
    return Task(
        id=name,
        env="virtualhome",
        kind=kind,
        goal=wish.words,
        scene=scene.model_dump(mode="json"),
        max_steps=2 * LONGEST,
        reference_cost=len(plan),
    )
