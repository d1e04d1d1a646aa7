"""A key and a door on a grid: take the key, unlock the door."""

import random
from dataclasses import dataclass, replace

import numpy as np
from pydantic import BaseModel, Field

from inhabit.envs.core import Action, Reason, SceneObject
from inhabit.envs.template import ActionKind
from inhabit.envs.world.rows import Verb
from inhabit.envs.world.small import SmallWorld

MOVES = {"north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}


class Scene(BaseModel, frozen=True, extra="forbid"):
    """A square room: cells count from 0, x to the east, y to the south."""

    size: int = Field(default=5, ge=2, le=12)
    agent: tuple[int, int] = (0, 0)
    key: tuple[int, int] = (2, 2)
    door: tuple[int, int] = (4, 4)


@dataclass(frozen=True)
class State:
    scene: Scene
    at: tuple[int, int]
    has_key: bool = False
    open: bool = False


def act(now: State, action: Action) -> tuple[State, Reason | None, str]:
    way = action.verb.removeprefix("go ")
    if way in MOVES:
        at = (now.at[0] + MOVES[way][0], now.at[1] + MOVES[way][1])
        if not all(0 <= side < now.scene.size for side in at):
            return now, Reason.BLOCKED, "There is a wall."
        return replace(now, at=at), None, f"You went {way}."
    thing = action.arguments[0]
    if thing == "key" and now.has_key:
        return now, Reason.ALREADY, "You have the key already."
    if now.at != getattr(now.scene, thing):
        return now, Reason.OUT_OF_REACH, f"The {thing} is not here."
    if thing == "key":
        return replace(now, has_key=True), None, "You took the key."
    if not now.has_key:
        return now, Reason.MISSING_ITEM, "The door is locked, and you have no key."
    return replace(now, open=True), None, "The door is open."


def cells(now: State) -> np.ndarray:
    seen = np.full((now.scene.size, now.scene.size), "floor")
    seen[now.scene.door[::-1]] = "door"
    seen[now.scene.key[::-1]] = "floor" if now.has_key else "key"
    seen = seen.repeat(3, axis=0).repeat(3, axis=1)
    x, y = 3 * now.at[0] + 1, 3 * now.at[1] + 1
    seen[y, x], seen[y, x + 1] = "agent", "key" if now.has_key else seen[y, x + 1]
    return seen


def draw(rng: random.Random) -> tuple[str, str, Scene]:
    size = rng.randint(4, 7)
    a, k, d = rng.sample([(x, y) for x in range(size) for y in range(size)], 3)
    return "escape", "Take the key and unlock the door.", Scene(size=size, agent=a, key=k, door=d)


REGISTRATION = SmallWorld(
    name="keydoor",
    summary="a key and a locked door on a grid",
    scene=Scene,
    begin=lambda scene: State(scene, scene.agent),
    verbs={
        **{Verb(f"go {way}", f"go {way}", ActionKind.GO): [()] for way in MOVES},
        Verb("take", "take {}", ActionKind.TAKE): [("key",)],
        Verb("unlock", "unlock {}", ActionKind.OPEN): [("door",)],
    },
    act=act,
    goal=lambda now: (now.has_key, now.open),
    cells=cells,
    colours={"floor": "#e1e1d7", "agent": "#1e5ac8", "key": "#e6b41e", "door": "#78461e"},
    things=lambda now: [
        SceneObject("key", "key", {}, held=now.has_key),
        SceneObject("door", "door", {"open": now.open}),
    ],
    draw=draw,
    text=lambda now: "You have the key." if now.has_key else "",
    states={"open": ("open", "locked")},
).registration()
