"""Tasks of the toy house, and its side of EIE."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, NoReturn

from pydantic import JsonValue

from inhabit.envs.core import Action, SceneObject, Task, TaskError
from inhabit.envs.template import ActionKind, Event, Lexicon
from inhabit.envs.toy.house import (
    CONTAINERS,
    HAND,
    ITEMS,
    OPENABLE,
    ROOMS,
    VERBS,
    ToyScene,
    ToySettings,
    cost,
    solve,
)
from inhabit.envs.world.household_names import called
from inhabit.envs.world.rows import kind_of

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
        f"Unknown toy tasks {source!r}. Use --n and --seed, or a .jsonl file "
        "of tasks as printed by `inhabit tasks toy`."
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


_VERBS = {verb.name: verb for verb in VERBS}
_LEXICON = Lexicon(
    kinds=frozenset((*ITEMS, *CONTAINERS)),
    states={"open": ("open", "closed")},
    synonyms={"refrigerator": "fridge"},
    containers=frozenset(CONTAINERS),
    called=called((*ITEMS, *CONTAINERS)),
)
_CHANGES = ("another room", "another object", "changed state", "distractors", "harder")


class ToyTemplate:
    """Samples and evolves tasks of the toy house."""

    lexicon: Lexicon = _LEXICON
    changes: Sequence[str] = _CHANGES
    harder: Set[str] = frozenset({"harder"})

    def __init__(self, settings: ToySettings | None = None) -> None:
        """The settings have no effect."""

    def schema(self) -> Mapping[str, JsonValue]:
        """JSON schema of `ToyScene`, with the valid names of its fields."""
        schema: dict[str, Any] = ToyScene.model_json_schema()
        places = {"type": "string", "enum": [*ROOMS, *CONTAINERS, HAND]}
        containers = {"type": "string", "enum": [*CONTAINERS]}
        fields = schema["properties"]
        fields["items"] |= _by_item(places)
        fields["inside"] |= _by_item(containers)
        for name in ("open", "closed"):
            fields[name]["items"] = {"type": "string", "enum": [*OPENABLE]}
        return schema

    def prose(self) -> str:
        """The possible scenes and goals, for a writer."""
        return (
            f"A house of three rooms in a row: {', '.join(ROOMS)}. "
            + " ".join(f"The {c} stands in the {room}." for c, room in CONTAINERS.items())
            + f" Of these, {' and '.join(OPENABLE)} open and close. There may be one each of: "
            + f"{', '.join(ITEMS)}; each lies on the floor of a room, in a container, or in the "
            + "agent's hand, which holds one. A goal puts one or two items into containers, or has "
            + "containers closed. It must not hold at the start."
        )

    def seed(self, rng: random.Random, name: str) -> Task:
        """Sample a new task."""
        return draw_task(name, rng.choice(KINDS), rng)

    def evolve(self, task: Task, change: str, rng: random.Random, name: str) -> Task | None:
        """Change one aspect of a task; None if the new goal holds at the start."""
        scene = ToyScene.model_validate(dict(task.scene))
        kind, wording = task.kind, task.goal
        match change:
            case "another room":
                scene = _with(scene, room=rng.choice([r for r in ROOMS if r != scene.room]))
            case "another object":
                swapped = _swap(scene, rng)
                if swapped is None:
                    return None
                scene, old, new = swapped
                wording = wording.replace(f"the {old}", f"the {new}").replace(
                    f"The {old}", f"The {new}"
                )
            case "changed state":
                changed = rng.choice(OPENABLE)
                scene = _with(scene, open=tuple(sorted({*scene.open} ^ {changed})))
            case "distractors":
                places = [*ROOMS, *CONTAINERS]
                others = {i: rng.choice(places) for i in ITEMS if i not in scene.inside}
                scene = _with(scene, items={**scene.items, **others})
            case _:
                container = next((c for c in scene.inside.values() if c in OPENABLE), None)
                if container is None or scene.closed:
                    return None
                scene, kind = _with(scene, closed=(container,)), "put_away"
                wording = f"{wording.rstrip('.')}, and see that the {container} is closed."
        if scene.goal().met(scene.house()) == scene.goal().total:
            return None
        return make_task(name, kind, wording, scene)

    def kind(self, scene: Mapping[str, JsonValue]) -> str:
        """put, put_two or put_away, by the goal's fields."""
        inside = scene.get("inside")
        if scene.get("closed"):
            return "put_away"
        return "put_two" if isinstance(inside, Mapping) and len(inside) > 1 else "put"

    def events(self, task: Task) -> Sequence[Event]:
        """The events of the goal: take each item, put it in, and close containers."""
        scene = ToyScene.model_validate(dict(task.scene))
        found = []
        for item, container in sorted(scene.inside.items()):
            found.append(Event(f"take {item}", f"pick up the {item}", "", ActionKind.TAKE, item))
            found.append(
                Event(
                    f"put {item}",
                    f"put the {item} in the {container}",
                    f"The {item} is in the {container}.",
                    ActionKind.PUT,
                    container,
                    (f"take {item}",),
                )
            )
        puts = tuple(e.name for e in found if e.action_kind is ActionKind.PUT)
        for container in sorted(set(scene.closed)):
            found.append(
                Event(
                    f"close {container}",
                    f"close the {container}",
                    f"The {container} is closed.",
                    ActionKind.CLOSE,
                    container,
                    puts,
                )
            )
        return found

    def room(self, task: Task) -> str:
        """There is one house; the initial positions of the items stand for the place."""
        scene = ToyScene.model_validate(dict(task.scene))
        return ", ".join(f"{item}: {place}" for item, place in sorted(scene.items.items()))

    def action_kind(self, action: Action) -> ActionKind:
        """The kind of an action, by its verb."""
        return kind_of(_VERBS, action)

    def unseen(self, text: str, things: Sequence[SceneObject]) -> str:
        """The text, which is about what is held, unless that is visible."""
        return "" if all(thing.pixels for thing in things if thing.held) else text


def _by_item(value: dict[str, Any]) -> dict[str, Any]:
    return {"properties": dict.fromkeys(ITEMS, value), "additionalProperties": False}


def _with(scene: ToyScene, **changes: Any) -> ToyScene:
    return ToyScene.model_validate({**scene.model_dump(), **changes})


def _swap(scene: ToyScene, rng: random.Random) -> tuple[ToyScene, str, str] | None:
    """Exchange a target item with another one."""
    others = [item for item in ITEMS if item not in scene.inside]
    if not scene.inside or not others:
        return None
    old, new = rng.choice(sorted(scene.inside)), rng.choice(others)
    items = dict(scene.items)
    place = items.pop(old)
    if new in items:
        items[old] = items[new]
    items[new] = place
    inside = {new if item == old else item: c for item, c in scene.inside.items()}
    return _with(scene, items=items, inside=inside), old, new
