"""The action language of a flat: vocabulary, plausible actions, parser."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cache

from inhabit.envs.core import Action
from inhabit.envs.virtualhome.graph.names import NodeNames, held, near, squeeze
from inhabit.envs.virtualhome.graph.verbs import VERBS, ScriptLine, ScriptObject, read, say
from inhabit.envs.virtualhome.graph.world import FlatWorld, Node
from inhabit.envs.virtualhome.world.catalogue import ROOMS, catalogue, class_of
from inhabit.envs.world.rows import Verb

HELD = "thing in hand"
"""Placeholder for the held object, right hand first, in the vocabulary."""


def verbs(only_unity: bool) -> Sequence[Verb[object]]:
    """The verbs of a run."""
    return [v for v in VERBS.values() if not only_unity or "unity" in v.traits]


def vocabulary(chosen: Iterable[Verb[object]]) -> Sequence[Action]:
    """The vocabulary by class, of all built-in flats rather than the current one."""
    found = []
    for verb in chosen:
        if verb.arity == 0:
            found.append(Action(say(verb.name), verb.name))
        for name, properties in _classes():
            if verb.arity == 1 and _fits(verb, properties):
                found.append(Action(say(verb.name, name), verb.name, (name,)))
            elif verb.arity == 2 and _fits(verb, properties):
                found.append(Action(say(verb.name, HELD, name), verb.name, (HELD, name)))
    return found


def plausible(
    world: FlatWorld,
    names: NodeNames,
    character: int,
    seen: Set[int],
    sight: Set[int],
    chosen: Iterable[Verb[object]],
) -> Iterator[Action]:
    """Plausible actions: navigation to seen objects, and interactions with near and visible ones.

    States are not looked at: whether a fridge is open already is for the agent to see.
    """
    reach = near(world, character)
    hands = held(world, character)
    nodes = [n for n in world.nodes() if n.id in seen and n.id != character]
    for verb in chosen:
        if verb.arity == 0:
            yield Action(say(verb.name), verb.name)
            continue
        for node in nodes:
            if not _fits(verb, node.properties) or (verb.near and node.id not in reach):
                continue
            if verb.name not in ("WALK", "RUN", "FIND") and node.id not in sight:
                continue
            if node.category == "Rooms" and verb.name not in ("WALK", "RUN"):
                continue
            name = names.of(node.id)
            if verb.arity == 1:
                yield Action(say(verb.name, name), verb.name, (name,))
                continue
            for hand in hands:
                if hand != node.id:
                    spoken_names = names.of(hand), name
                    yield Action(say(verb.name, *spoken_names), verb.name, spoken_names)


def understand(
    text: str, names: NodeNames, only_unity: bool, words: Set[str] | None = None
) -> Action | None:
    """Parse a text: a verb, and names of this flat or of any flat."""
    known = words if words is not None else _known_words()
    for verb, said in read(text):
        if only_unity and "unity" not in verb.traits:
            continue
        called = [_called(name, names, known) for name in said]
        if None not in called:
            spoken_names = tuple(name for name in called if name is not None)
            return Action(say(verb.name, *spoken_names), verb.name, spoken_names)
    return None


def line_of(
    action: Action, world: FlatWorld, names: NodeNames, character: int, seen: Set[int]
) -> ScriptLine | str:
    """The script line of an action, or the name of an unseen object.

    A class without a number means what is held, then what is near, then what was seen first.
    """
    hands = held(world, character)
    index = list(world.characters()).index(character)
    things: list[ScriptObject] = []
    for name in action.arguments:
        if squeeze(name) == squeeze(HELD):
            fit: Sequence[int] = hands[:1]
        else:
            fit = [i for i in names.find(name) if i in seen or i in hands]
        if not fit:
            return name
        reach = near(world, character) if len(fit) > 1 else frozenset()
        best = min(fit, key=lambda i: (_use(action.verb, i, hands), i not in reach, i))
        node = world.node(best)
        assert node is not None
        things.append(ScriptObject(node.class_name, best))
    return ScriptLine(action.verb, tuple(things), index)


def _use(verb: str, id_: int, hands: Sequence[int]) -> bool:
    """Sort key that prefers held objects; for taking, the others."""
    return (id_ in hands) == (verb in ("GRAB", "WALK", "FIND"))


@cache
def _known_words() -> frozenset[str]:
    return frozenset(squeeze(name) for name, _ in _classes())


def _classes() -> Iterator[tuple[str, Iterable[str]]]:
    for room in ROOMS:
        yield room, ("ROOM",)
    for article in catalogue().values():
        yield article.class_name, article.properties


def _fits(verb: Verb[object], properties: Iterable[str]) -> bool:
    properties = set(properties)
    if "ROOM" in properties:
        return verb.name in ("WALK", "RUN")
    return not verb.needs or not properties.isdisjoint(verb.needs)


def _called(said: str, names: NodeNames, known: Set[str]) -> str | None:
    """A name in this flat: full name, class, its words, or the held object."""
    squeezed = squeeze(said)
    if squeezed in (squeeze(HELD), "it"):
        return HELD
    said = class_of(squeezed) or said
    squeezed = squeeze(said)
    ids = names.find(said)
    if len(ids) == 1 and squeeze(names.of(ids[0])) == squeezed:
        return names.of(ids[0])
    if ids or squeezed in known:
        return next(
            (name for name, _ in _classes() if squeeze(name) == squeezed),
            re_number(names.of(ids[0])) if ids else None,
        )
    return None


def re_number(name: str) -> str:
    """A name without its number."""
    return name.rpartition("_")[0] or name


def describe_hands(world: FlatWorld, names: NodeNames, character: int) -> str:
    """The text of an observation: held objects and posture."""
    hands = [names.of(i) for i in held(world, character)]
    node = world.node(character)
    parts = [f"You hold {' and '.join(f'the {h}' for h in hands)}."] if hands else []
    states: Set[str] = node.states if isinstance(node, Node) else frozenset()
    for state, words in (("SITTING", "You are sitting."), ("LYING", "You are lying down.")):
        if state in states:
            parts.append(words)
    return " ".join(parts)
