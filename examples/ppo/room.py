"""Sample ALFRED's pick-and-place tasks in one room, as JSONL.

    python examples/ppo/room.py FloorPlan201 --n 60 > room.jsonl

`inhabit tasks alfred --rooms FloorPlan201` samples all rooms until enough tasks fit; this samples
in the room itself, which is 100 times faster.
"""

from __future__ import annotations

import argparse
import random

from inhabit.envs.alfred.scenes.scene import TaskType
from inhabit.envs.alfred.tasks.sampling import (
    MAX_STEPS,
    Rehearsal,
    instruction,
    possible_goals,
    scene_for,
)
from inhabit.envs.alfred.world.things import Rooms
from inhabit.envs.core import Task

KIND: TaskType = "pick_and_place_simple"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("room", help="such as FloorPlan201")
    parser.add_argument("--n", type=int, default=60, help="number of tasks")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    arguments = parser.parse_args()
    rng, made = random.Random(f"room {arguments.room} {arguments.seed}"), 0
    goals = possible_goals(KIND, arguments.room)
    rehearsal = Rehearsal(Rooms())
    while made < arguments.n:
        goal = rng.choice(goals)
        scene = scene_for(goal, arguments.room, rng)
        cost = None if scene is None else rehearsal.cost(scene)
        if scene is None or cost is None:
            continue
        task = Task(
            id=f"{arguments.room}-{arguments.seed}-{made}",
            env="alfred",
            kind=KIND,
            goal=instruction(goal, rng),
            scene=scene.model_dump(mode="json", exclude_defaults=True),
            max_steps=MAX_STEPS,
            reference_cost=cost,
        )
        print(task.model_dump_json())
        made += 1


if __name__ == "__main__":
    main()
