"""Tasks in which the first likely choice is a dead end, and a scorer that walks into it.

The scorer knows what a task takes and is wrong in one way: it likes to take up something else a
little better than what is wanted. With a hand too few left nothing that it holds likely works any
more, and it goes on with what comes first. Seen three actions ahead, the way past it is likelier.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from inhabit.agents.core import Grant
from inhabit.agents.models.core import Ability
from inhabit.agents.models.scripted import Rule, Script, ScriptedModel
from inhabit.envs.core import Action, Determinism, Env, Task
from inhabit.envs.toy.house import CONTAINERS, ITEMS, OPENABLE, ToyScene
from inhabit.envs.virtualhome.graph.goals import RelationGoal
from inhabit.envs.virtualhome.graph.names import NodeNames
from inhabit.envs.virtualhome.tasks.scene import Move, VirtualHomeScene, build_world
from inhabit.episodes.playing.plan import plan
from inhabit.episodes.playing.run import run_episodes
from inhabit.episodes.recording.folder import begin
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Choice
from inhabit.episodes.scoring.scores import score

LURE, STEP, COME, LAST, ELSE = -2.5, -3.0, -4.0, -0.1, -8.0
"""How likely the scorer holds: taking something else, a right step, walking up to where the steps
are, the step that reaches the goal, and all the rest."""


@dataclass(frozen=True, slots=True)
class DeadEnd:
    """A task, and how the scorer sees it."""

    task: Task
    way: tuple[str, ...]
    """What solves it."""
    lure: str
    """What the scorer would rather do than what takes up the thing."""
    rules: tuple[Rule, ...]


def script(ends: Sequence[DeadEnd]) -> Script:
    """The scorer for all of `ends`, told apart by their goals."""
    return Script(
        abilities=frozenset({Ability.RANK}),
        rules=tuple(rule for end in ends for rule in end.rules),
        default=ELSE,
        by_order=0.0,
    )


def toy() -> Iterator[DeadEnd]:
    """One hand: who holds the wrong thing can't take the right one. 24 of them."""
    for container, room in CONTAINERS.items():
        for i, thing in enumerate(ITEMS if container in OPENABLE else ()):
            for k in (1, 2, 3):
                other = ITEMS[(i + k) % len(ITEMS)]
                start = "hall" if k == 1 else room
                goal = f"Have the {thing} in the {container} by {6 + k}."
                scene = ToyScene(
                    room=start,
                    items={thing: room, other: room},
                    inside={thing: container},
                )
                come = (f"go to the {room}",) if start != room else ()
                take, lure = f"pick up the {thing}", f"pick up the {other}"
                opening, put = f"open the {container}", f"put the {thing} in the {container}"
                yield _dead_end(
                    "toy", scene.model_dump(mode="json"), goal, (*come, take, opening, put), lure
                )


THINGS = ("mug", "book", "cellphone", "apple", "waterglass", "dishbowl", "toothbrush", "towel")
PLACES = (
    ("kitchencabinet", "kitchen"),
    ("microwave", "kitchen"),
    ("dresser", "bedroom"),
    ("bathroomcabinet", "bathroom"),
)


def virtualhome() -> Iterator[DeadEnd]:
    """Two hands, and one is needed to open: who has taken two things opens nothing. 24 of them."""
    for flat in range(6):
        for n, (kind, room) in enumerate(PLACES):
            names = NodeNames(build_world(VirtualHomeScene(flat=flat, goals=())))
            there = set(names.all().values())
            found = [f"{thing}_1" for thing in THINGS if f"{thing}_1" in there]
            thing, other = found[(flat + n) % len(found)], found[(flat + n + 1) % len(found)]
            place = f"{kind}_1"
            wanted = RelationGoal(
                from_id=names.find(thing)[0], relation="INSIDE", to_id=names.find(place)[0]
            )
            scene = VirtualHomeScene(
                flat=flat,
                room=room,
                moves=tuple(Move(thing=one, relation="ON", target=place) for one in (thing, other)),
                goals=(wanted,),
            )
            goal = f"Put {thing} away in {place} of flat {flat}."
            way = (
                f"walk to the {place}",
                f"grab the {thing}",
                f"open the {place}",
                f"put the {thing} in the {place}",
            )
            yield _dead_end(
                "virtualhome", scene.model_dump(mode="json"), goal, way, f"grab the {other}"
            )


def household(env: Env, tasks: Sequence[Task]) -> Iterator[DeadEnd]:
    """One hand again, where the expert's way takes up one thing, and carries it somewhere.

    Walking always works there. So the scorer looks at what is in the hand: it holds nothing likely
    before it has taken the thing but what leads there, and nothing at all with the wrong one.

    Args:
        env: an ALFRED environment, to look for what else can be taken up there.
        tasks: of which those are kept that have such an end.
    """
    for task in tasks:
        env.reset(task, seed=0)
        way = tuple(action.text for action in env.plan())  # type: ignore[attr-defined]
        taking = [i for i, text in enumerate(way) if text.startswith("pick up")]
        if len(taking) != 1 or taking[0] > len(way) - 3:
            continue
        for text in way[: taking[0]]:
            env.act(_read(env, text))
        take = way[taking[0]]
        able = [a.text for a in env.admissible()]  # type: ignore[attr-defined]
        lures = [text for text in able if text.startswith("pick up") and text != take]
        env.act(_read(env, take))
        if lures:
            goal = f"{task.goal} ({task.id})"
            told = f"Now: {env.observe().text}"
            yield _dead_end("alfred", dict(task.scene), goal, way, lures[0], taking[0], told)


def _read(env: Env, text: str) -> Action:
    action = env.parse(text)
    assert action is not None
    return action


def _dead_end(
    env: str,
    scene: dict,
    goal: str,
    way: tuple[str, ...],
    lure: str,
    take: int = -3,
    told: str = "",
) -> DeadEnd:
    """A task that `way` solves, which takes the thing up in its step `take`.

    What the scorer would do to get hold of the thing counts only while it holds nothing, and what
    it would do with it only where it is `told` that it has it.
    """
    before, after = ("Goal: " + goal,), ("Goal: " + goal, told)
    held = ("Now: You have",) if told else ()
    task = Task(id=goal, env=env, kind="dead_end", goal=goal, scene=scene, max_steps=len(way) + 4)
    come = {text: COME - i / 5 for i, text in enumerate(reversed(way[:take]))}
    rules = [
        *(Rule(contains=t, logprob=p, when=before, unless=held) for t, p in come.items()),
        Rule(contains=lure, logprob=LURE, when=before, unless=held),
        Rule(contains=way[take], logprob=STEP, when=before, unless=held),
        *(Rule(contains=text, logprob=STEP, when=after) for text in way[take + 1 : -1]),
        Rule(contains=way[-1], logprob=LAST, when=after),
    ]
    return DeadEnd(task, way, lure, tuple(rules))


def solved(
    folder: Path, make: Callable[[], Env], ends: Sequence[DeadEnd], *, depth: int, lookahead: bool
) -> int:
    """How many of `ends` a beam over plans of `depth` solves by the scorer; a run in `folder`."""
    grants = [Grant.LOOKAHEAD] if lookahead else []
    width = 4 if depth > 1 else 1  # one action ahead the likeliest that works is done, however wide
    chosen = plan(
        ends[0].task.env,
        "beam",
        model="scripted:first",
        assignments=["plan=true", f"agent.depth={depth}", f"agent.width={width}", "max_invalid=15"],
        grants=grants,
        candidates=Choice.SEEN,  # The actions of a vocabulary have no numbers.
    )
    tasks = [end.task for end in ends]
    folder.mkdir(parents=True)
    run = begin(folder, chosen.header(Determinism.STATE, tasks, ["test"]), tasks)
    agent = chosen.agent.make(chosen.settings["agent"], ScriptedModel(script(ends)))
    asyncio.run(run_episodes(run, make, agent, chosen, workers=1, watch=_unwatched))
    return round(score(Run.open(folder)).success_rate * len(ends))


def _unwatched(episode: object, end: object) -> None:
    return None
