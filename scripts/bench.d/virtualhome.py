"""VirtualHome on one core: acts a second, admissible actions enumerated, frames drawn.

Acts and admissible actions are measured on a graph of about 300 nodes: one of `eai-eval`'s where
it is at hand, else the largest of our flats. Medians of the processor's time on one core, which is
the clock's on an idle machine: other work on a busy one is left out.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

from inhabit.envs.core import Task, UnavailableError
from inhabit.envs.virtualhome.drawing.picture import FlatPicture
from inhabit.envs.virtualhome.env import EmbeddedVirtualHome
from inhabit.envs.virtualhome.graph.verbs import ScriptLine, ScriptObject
from inhabit.envs.virtualhome.tasks.sampling import sample
from inhabit.envs.virtualhome.tasks.scene import VirtualHomeScene, build_world
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

LARGEST = 4
"""Number of the largest of our flats."""
ROUNDS = 60
FRAMES = 40


def main() -> None:
    """Print one JSON object."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    env = EmbeddedVirtualHome(VirtualHomeSettings(view="none"))
    env.reset(large_task(), seed=0)
    nodes = len(env.state()["states"])
    acts = statistics.median([*seconds_of_acts(env)])
    admissible = statistics.median(timed(env.admissible) for _ in range(12))
    frame = statistics.median([*seconds_of_frames()])
    figures = {
        "acts_per_second": {
            "value": 1 / acts, "unit": "acts/s", "bound": ">= 100",
            "what": f"acts without pictures, {nodes} nodes, one core",
        },
        "admissible": {
            "value": 1000 * admissible, "unit": "ms", "bound": "<= 100",
            "what": f"admissible actions enumerated, {nodes} nodes",
        },
        "frame": {
            "value": 1000 * frame, "unit": "ms", "bound": "<= 60",
            "what": "a 320x240 frame after a change, first person, one core",
        },
    }  # fmt: skip
    print(json.dumps(figures))


def large_task() -> Task:
    """A task on a graph of about 300 nodes."""
    try:
        from inhabit.envs.virtualhome.tasks.scene import tasks

        return next(iter(tasks()))
    except UnavailableError:
        drawn = next(iter(sample(1, seed=0)))
        return drawn.model_copy(update={"scene": {**drawn.scene, "flat": LARGEST}})


def seconds_of_acts(env: EmbeddedVirtualHome) -> Iterator[float]:
    """Of walking about and handling things, as far as they can be done."""
    for _ in range(ROUNDS):
        offered = [a for a in env.actions() if a.verb in ("WALK", "TURNTO", "OPEN", "CLOSE")]
        for action in offered[:: max(1, len(offered) // 4)][:4]:
            yield timed(lambda chosen=action: env.act(chosen))


def seconds_of_frames() -> Iterator[float]:
    """Of images of what was walked to, opened or switched on just before."""
    world = build_world(VirtualHomeScene(flat=LARGEST, goals=()))
    stage = FlatPicture(world)
    stage.take(world, 1, "first_person", 320, 240)
    goals = [n for n in world.nodes() if n.category in ("Furniture", "Appliances")]
    for node in goals[:FRAMES]:
        for action in ("WALK", "OPEN", "SWITCHON"):
            after, failure = world.step(
                ScriptLine(action, (ScriptObject(node.class_name, node.id),))
            )
            if failure is None:
                world = after
                yield timed(lambda now=world: stage.take(now, 1, "first_person", 320, 240))


def timed(work: Callable[[], Any]) -> float:
    """Seconds of the processor that something takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
