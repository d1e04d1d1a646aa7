"""VirtualHome as an environment: actions in English over script lines, with partial
observability.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Mapping, Sequence, Set
from typing import Any, ClassVar

from pydantic import BaseModel, JsonValue

from inhabit.envs.core import (
    Action,
    Env,
    Observation,
    Outcome,
    Reason,
    SceneError,
    SceneObject,
    Task,
    UnavailableError,
)
from inhabit.envs.plain_data import validated_scene
from inhabit.envs.printable import printable
from inhabit.envs.virtualhome.backends import Embedded, Simulation
from inhabit.envs.virtualhome.expert.planner import NoFlatPlanError, solve
from inhabit.envs.virtualhome.expert.shortest import PlanStart, first_lines
from inhabit.envs.virtualhome.graph.goals import Goal, broken, met
from inhabit.envs.virtualhome.graph.names import NodeNames, held, near, visible
from inhabit.envs.virtualhome.graph.verbs import (
    VERBS,
    LineError,
    ScriptLine,
    ScriptObject,
    parse_line,
    say,
)
from inhabit.envs.virtualhome.graph.world import FlatWorld, Node
from inhabit.envs.virtualhome.language import (
    HELD,
    describe_hands,
    line_of,
    plausible,
    understand,
    verbs,
    vocabulary,
)
from inhabit.envs.virtualhome.tasks.scene import VirtualHomeScene, character_of
from inhabit.envs.virtualhome.world.catalogue import in_words, spoken
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings
from inhabit.envs.world import tools

_THING = re.compile(r"<[^<>]*> \((\d+)\)")
"""An object as the simulator's messages name it."""
_NOT_OBJECTS = frozenset(("Rooms", "Characters", "Walls", "Floor", "Floors", "Ceiling"))
"""Categories of structural parts and of inhabitants."""


def make(backend: str, settings: VirtualHomeSettings) -> Env:
    """The environment over one backend.

    Raises:
        UnavailableError: VirtualHome, or its simulator, is not there.
    """
    if backend == "embedded":
        return EmbeddedVirtualHome(settings)
    if backend == "unity":
        from inhabit.envs.virtualhome.unity.program import Remote

        return VirtualHome(settings, Remote(settings))
    raise UnavailableError(f"VirtualHome has no backend {backend!r}.")


class VirtualHome(Env):
    """One character in one flat. It sees its room, except inside closed objects."""

    Scene: ClassVar[type[BaseModel]] = VirtualHomeScene

    def __init__(self, settings: VirtualHomeSettings, simulation: Simulation) -> None:
        self._settings = settings
        self._simulation = simulation
        self.determinism = simulation.determinism
        self._verbs = tuple(verbs(settings.verbs == "unity"))
        self._world: FlatWorld | None = None
        self._names: NodeNames
        self._source = ""
        self._character = 0
        self._goals: tuple[Goal, ...] = ()
        self._program: tuple[ScriptLine, ...] = ()
        self._done: tuple[ScriptLine, ...] = ()
        self._sight: frozenset[int] = frozenset()
        self._seen: frozenset[int] = frozenset()

    def reset(self, task: Task, *, seed: int) -> None:
        """Furnish the flat and place the character. The seed has no effect."""
        scene = validated_scene(VirtualHomeScene, task)
        try:
            program = tuple(map(parse_line, scene.program))
        except LineError as error:
            raise SceneError(f"Task {task.id!r}, scene, program: {error}") from error
        self._world = None
        world = self._simulation.reset(scene)
        self._character = character_of(world)
        self._names = NodeNames(world)
        self._goals, self._done = scene.goals, ()
        self._source = scene.model_dump_json()
        self._program = program
        self._seen = frozenset()
        self._look(world)

    def observe(self) -> Observation:
        """The image of the configured view, and a text about held objects."""
        world = self._here()
        text = describe_hands(world, self._names, self._character)
        return Observation(text, self._simulation.picture(world))

    def vocabulary(self) -> Sequence[Action]:
        """Every verb with every class of our flats."""
        return vocabulary(self._verbs)

    def actions(self) -> Sequence[Action]:
        """Navigation to objects seen so far, and interactions with near and visible ones."""
        return list(
            plausible(
                self._here(), self._names, self._character, self._seen, self._sight, self._verbs
            )
        )

    def parse(self, text: str) -> Action | None:
        """Parse English text; case, articles and numbers are optional."""
        return understand(text, self._names, self._settings.verbs == "unity")

    def act(self, action: Action) -> Outcome:
        """Execute one script line, which costs one step."""
        world = self._here()
        line = self._line(action)
        if isinstance(line, Outcome):
            return line
        after, failure = self._simulation.run(world, line)
        if failure is not None:
            return self.outcome(failure.reason, self._explain(failure.message))
        self._look(after)
        if (lie := broken(after, self._character, line)) is not None:
            return self.outcome(
                Reason.WRONG_STATE,
                self._explain(f"The simulator says that it was done, but {lie}"),
            )
        self._done = (*self._done, line)
        return self.outcome(None, f"Done: {action.text}.")

    def progress(self) -> tuple[int, int]:
        """The number of goals that hold, and their total; (1, 1) for a task without goals."""
        if not self._goals:
            return 1, 1
        return met(self._goals, self._here(), self._done), len(self._goals)

    def close(self) -> None:
        """Release the simulator."""
        self._simulation.close()

    def pursue(self, task: Task) -> None:
        """Take on the goals of `task`, which has the same flat and start.

        Raises:
            SceneError: a field of its scene is unknown, missing or out of its range.
        """
        scene = validated_scene(VirtualHomeScene, task)
        self._here()
        self._goals, self._program, self._source = scene.goals, (), scene.model_dump_json()

    def tools(self) -> Sequence[Mapping[str, JsonValue]]:
        """The functions that an agent without images may call."""
        return tools.described("in sight", "the hands")

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
        """Call one of these functions.

        Raises:
            KeyError: there is no such tool.
        """
        seen, hands = sorted(self._sight), held(self._here(), self._character)
        return tools.answer(name, [*map(self._names.of, seen)], [*map(self._names.of, hands)])

    def plan(self) -> Sequence[Action]:
        """The rest of a known program, or the expert's plan from the current state."""
        world = self._here()
        if (rest := self._rest_of_program()) is not None:
            return [self._said(line) for line in rest]
        try:
            lines = solve(world, self._character, self._goals, self._done, self._seen)
        except NoFlatPlanError:
            return []
        return [self._said(line) for line in lines]

    def best_actions(self) -> frozenset[Action] | None:
        """The first actions of all shortest plans with at most two actions; None if they are
        longer.

        Plans use seen objects only. Also None if a program refers to an unseen object.
        """
        following = self._program[len(self._done) : len(self._done) + 1]
        if any(thing.id not in self._seen for line in following for thing in line.things):
            return None
        verbs = frozenset(verb.name for verb in self._verbs)
        start = PlanStart(self._here(), self._character, self._goals, self._done, self._seen, verbs)
        lines = first_lines(start, self._admissible)
        return None if lines is None else frozenset(map(self._said, lines))

    def state(self) -> Mapping[str, Any]:
        """Nodes with states, relations, past lines and seen objects."""
        world = self._here()
        return {
            "states": {str(n.id): sorted(n.states) for n in world.nodes()},
            "edges": [list(edge) for edge in world.edges()],
            "done": [str(line) for line in self._done],
            "seen": sorted(self._seen),
        }

    def digest(self) -> str:
        """The first 16 hexadecimal digits of the state's SHA-256."""
        done = [str(line) for line in self._done]
        text = json.dumps([self._here().changes(), done, sorted(self._seen)], sort_keys=True)
        return hashlib.sha256(f"{self._source} {text}".encode()).hexdigest()[:16]

    def admissible(self) -> Sequence[Action]:
        """Every line on seen objects that the evolving graph would execute now."""
        return [self._said(line) for line in self._admissible()]

    def things(self) -> Sequence[SceneObject]:
        """Every object by id, with its pixels in the current image."""
        world = self._here()
        pixels = self._simulation.pixels(world)
        return _things(world, self._names, self._character, pixels)

    def _admissible(self) -> list[ScriptLine]:
        world = self._here()
        reach = near(world, self._character) | {self._character}
        index = list(world.characters()).index(self._character)
        hands = held(world, self._character)
        found = []
        nodes = [node for node in world.nodes() if node.id in self._seen]
        for verb in self._verbs:
            for things in _combinations(verb.name, nodes, hands, reach if verb.near else None):
                line = ScriptLine(verb.name, things, index)
                if world.check(line) is None:
                    found.append(line)
        return found

    @property
    def world(self) -> FlatWorld:
        """The graph now.

        Raises:
            SceneError: no episode is running.
        """
        return self._here()

    def _here(self) -> FlatWorld:
        if self._world is None:
            raise SceneError("No episode is running. Call reset first.")
        return self._world

    def _look(self, world: FlatWorld) -> None:
        self._world = world
        self._sight = visible(world, self._character)
        self._seen |= self._sight

    def _said(self, line: ScriptLine) -> Action:
        spoken_names = tuple(self._names.of(thing.id) for thing in line.things)
        return Action(say(line.action, *spoken_names), line.action, spoken_names)

    def _line(self, action: Action) -> ScriptLine | Outcome:
        if action.verb not in {v.name for v in self._verbs}:
            return self.outcome(Reason.UNKNOWN_ACTION, "Nobody here can do that.")
        if len(action.arguments) != VERBS[action.verb].arity:
            return self.outcome(Reason.UNKNOWN_ACTION, "That action lacks something.")
        line = self._resolve(action, self._seen)
        if isinstance(line, ScriptLine):
            return line
        # A program that comes with a task refers to objects by id, seen or not.
        known = self._resolve(action, frozenset(self._names.all()))
        following = self._program[len(self._done) : len(self._done) + 1]
        if isinstance(known, ScriptLine) and known in following:
            return known
        if line == HELD:
            return self.outcome(Reason.HANDS_EMPTY, "Your hands are empty.")
        return self.outcome(Reason.NOT_FOUND, f"You have seen no {printable(line[:80])} yet.")

    def _resolve(self, action: Action, among: frozenset[int]) -> ScriptLine | str:
        return line_of(action, self._here(), self._names, self._character, among)

    def _explain(self, message: str) -> str:
        """The simulator's message with the agent's names."""
        sentence = _THING.sub(self._called, message.split(' when executing "')[0])
        sentence = sentence.replace("you is ", "you are ").replace("you does ", "you do ")
        return f"{sentence[:1].upper()}{sentence[1:]}."

    def _called(self, thing: re.Match[str]) -> str:
        id_ = int(thing[1])
        if id_ == self._character:
            return "you"
        return f"the {self._names.of(id_)}" if id_ in self._names.all() else thing[0]

    def _rest_of_program(self) -> Sequence[ScriptLine] | None:
        """The rest of the program, if it was followed so far and is still executable."""
        count = len(self._done)
        if not self._program or tuple(self._done) != self._program[:count]:
            return None
        world = self._here()
        for line in self._program[count:]:
            world, failure = world.step(line)
            if failure is not None:
                return None
        solved = met(self._goals, world, self._program) == len(self._goals)
        return self._program[count:] if solved else None


class EmbeddedVirtualHome(VirtualHome):
    """VirtualHome over the evolving graph, whose states are immutable, so that it can be forked."""

    def __init__(self, settings: VirtualHomeSettings) -> None:
        super().__init__(settings, Embedded(settings.width, settings.height, settings.view))

    def fork(self) -> EmbeddedVirtualHome:
        """An independent copy of the current state."""
        self._here()
        return copy.copy(self)  # The stage is shared: images depend on the world alone.


def _combinations(
    action: str, nodes: Sequence[Any], hands: Sequence[int], reach: Set[int] | None
) -> Sequence[tuple[ScriptObject, ...]]:
    """Every possible target of an action; only near objects if it requires that."""
    if VERBS[action].arity == 0:
        return [()]
    things = [ScriptObject(n.class_name, n.id) for n in nodes if reach is None or n.id in reach]
    if VERBS[action].arity == 1:
        return [(thing,) for thing in things]
    taken = [ScriptObject(n.class_name, n.id) for n in nodes if n.id in hands]
    return [(one, two) for one in taken for two in things]


def _things(
    world: FlatWorld, names: NodeNames, character: int, pixels: Mapping[int, int]
) -> tuple[SceneObject, ...]:
    """Every object, by id, in the form common to all environments."""
    nodes = {node.id: node for node in world.nodes()}
    objects = {i: n for i, n in nodes.items() if n.category not in _NOT_OBJECTS}
    hands = held(world, character)
    washable = {n.class_name for n in nodes.values() if n.states & {"CLEAN", "DIRTY"}}
    found = []
    for id_, node in objects.items():
        support, inside = None, False
        if id_ not in hands:
            support, inside = _support(world, id_, {*objects, *world.characters()})
        room = world.room(id_)
        found.append(
            SceneObject(
                name=names.of(id_),
                kind=spoken(node.class_name),
                states=_states(node, node.class_name in washable),
                support=None if support is None else names.of(support),
                inside=inside,
                held=id_ in hands,
                pixels=pixels.get(id_, 0),
                room="" if room is None else in_words(nodes[room].class_name),
            )
        )
    return tuple(found)


def _support(world: FlatWorld, id_: int, among: set[int]) -> tuple[int | None, bool]:
    """What an object is in, or else on; without rooms."""
    for relation, inside in (("INSIDE", True), ("ON", False)):
        for parent in world.targets(id_, relation):
            if parent in among and parent != id_:
                return parent, inside
    return None, False


def _states(node: Node, washable: bool) -> Mapping[str, bool]:
    can = {
        "open": ("OPEN", "CAN_OPEN" in node.properties or bool(node.states & {"OPEN", "CLOSED"})),
        "on": ("ON", "HAS_SWITCH" in node.properties or bool(node.states & {"ON", "OFF"})),
        "plugged_in": (
            "PLUGGED_IN",
            "HAS_PLUG" in node.properties or bool(node.states & {"PLUGGED_IN", "PLUGGED_OUT"}),
        ),
        "dirty": ("DIRTY", washable),
    }
    return {name: state in node.states for name, (state, possible) in can.items() if possible}
