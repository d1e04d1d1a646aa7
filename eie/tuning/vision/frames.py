"""Frames labelled by the environment: the image, and the classes in each of its cells.

Any environment with instance masks (`Observation.instances`) and object states
(`inhabit.envs.core.Factual`) will do. A random walk over plausible actions shows the model what a
planner comes to see: objects up close, open drawers, hands that hold something.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.core import Action, Env, Factual, Observation, SceneObject, Task

CELLS = 10
"""Along each side of a picture."""
LEAST = 8
"""Pixels of a 160x160 picture that a thing has to show in a cell to count as being there."""
_STATES = ("open", "on")
"""States that are a class of their own: an open fridge is a fridge and an "open fridge"."""
_WEIGHTS: Mapping[str, float] = {"go to": 9.0, "turn left": 2.5, "turn right": 2.5, "open": 3.0}
"""How often a kind of action is drawn; 1 for all others."""


@dataclass(frozen=True, slots=True, eq=False)
class LabelledFrame:
    """A picture and what is in which of its cells."""

    rgb: NDArray[np.uint8]
    """(H, W, 3)."""
    shown: Mapping[str, frozenset[int]]
    """Class to the cells that show it, row by row from the top left."""


def random_walk(
    env: Env, tasks: Sequence[Task], *, steps: int, seed: int
) -> Iterator[LabelledFrame]:
    """Walk `steps` steps in the scene of each task, and look after every one.

    Args:
        env: with masks; it must tell of its things.
        tasks: for their scenes.
        steps: in each.
        seed: of the lots.

    Raises:
        ValueError: the environment tells nothing of its things, or masks nothing.
    """
    if not isinstance(env, Factual):
        raise ValueError("Frames are labelled where an environment tells of its things alone.")
    for task in tasks:
        rng = random.Random(f"{seed} {task.id}")
        env.reset(task, seed=seed)
        for _ in range(steps):
            yield label_frame(env.observe(), env.things())
            env.act(_sampled(env.actions(), rng))


def label_frame(seen: Observation, things: Sequence[SceneObject]) -> LabelledFrame:
    """A picture with what its mask shows; what is in the hand is left out: one knows of it.

    Raises:
        ValueError: there is no picture, or no mask.
    """
    if seen.rgb is None or seen.instances is None:
        raise ValueError("A frame needs a picture and its masks: set instances=true.")
    known = {thing.name: thing for thing in things if not thing.held}
    rows, columns = seen.instances.shape
    cell = (np.arange(rows) * CELLS // rows)[:, None] * CELLS + np.arange(
        columns
    ) * CELLS // columns
    least = LEAST * rows * columns / 160**2
    count = len(seen.names)
    places = cell * (count + 1) + seen.instances + 1
    pixels = np.bincount(places.ravel(), minlength=CELLS**2 * (count + 1))
    pixels = pixels.reshape(CELLS**2, count + 1)[:, 1:]
    shown: dict[str, set[int]] = {}
    for where, number in np.argwhere(pixels >= least):
        thing = known.get(seen.names[number])
        if thing is not None:
            for name in classes_of(thing):
                shown.setdefault(name, set()).add(int(where))
    return LabelledFrame(seen.rgb, {name: frozenset(shown[name]) for name in sorted(shown)})


def classes_of(thing: SceneObject) -> Sequence[str]:
    """What eyes are to say of a thing: its kind, and its kind in a state that one can see."""
    states = [f"{state} {thing.kind}" for state in _STATES if thing.states.get(state)]
    return [thing.kind, *states]


def _sampled(actions: Sequence[Action], rng: random.Random) -> Action:
    """One of them: first its verb, so that those with many things don't crowd out the others."""
    verbs = sorted({action.verb for action in actions})
    verb = rng.choices(verbs, [_WEIGHTS.get(v, 1.0) for v in verbs])[0]
    return rng.choice([action for action in actions if action.verb == verb])
