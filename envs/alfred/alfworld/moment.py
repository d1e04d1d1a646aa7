"""One moment of a game: what is told, which commands it allows, and what of the goal holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from inhabit.envs.alfred.alfworld import rules
from inhabit.envs.alfred.alfworld.rules import kind, listed
from inhabit.envs.alfred.scenes.scene import AlfredGoal
from inhabit.envs.alfred.thor.body import AgentPose
from inhabit.envs.alfred.thor.objects import ThorObject, ThorObjects
from inhabit.envs.alfred.world.things import that_suit


@dataclass(frozen=True, slots=True)
class HeldTreatment:
    """A treatment of the held thing, and what it is told by."""

    state: str
    place: str
    """The word of the receptacle in which it is done."""
    suits: frozenset[str]


def _suits(task: str) -> frozenset[str]:
    return frozenset(type.lower() for type in that_suit(task))


TREATMENTS: Mapping[str, HeldTreatment] = {
    "heat": HeldTreatment("hot", "microwave", _suits("heat")),
    "cool": HeldTreatment("cool", "fridge", _suits("cool")),
    "clean": HeldTreatment("clean", "sinkbasin", _suits("clean")),
}
_MIDDLE = "You are in the middle of a room. Looking quickly around you, you see {}."
SLICEABLE = frozenset({"apple", "bread", "egg", "lettuce", "potato", "tomato"})


@dataclass(frozen=True, slots=True)
class Game:
    """What of a game the room does not hold."""

    names: Mapping[str, str]
    """Name -> THOR's id, in the order of lists."""
    spots: Mapping[str, AgentPose]
    """Receptacle -> the pose before it. Several may have one pose in common."""
    lamp: str
    """The word of the lamps that can be used: those of the goal."""
    at: AgentPose | None = None
    """The pose that the agent has gone to."""
    marks: frozenset[tuple[str, str]] = frozenset()
    """What was done to things: ("hot", "mug 1")."""

    def marked(self, name: str, state: str, *gone: str) -> Game:
        """The game after something was done to a thing, which ends the states `gone`."""
        left = {mark for mark in self.marks if mark not in {(one, name) for one in gone}}
        return replace(self, marks=frozenset({*left, (state, name)}))


@dataclass(frozen=True, slots=True)
class GameMoment:
    """A game and its room, as they are now."""

    game: Game
    world: ThorObjects

    def thing(self, name: str) -> ThorObject | None:
        """The object of a name."""
        return self.world.get(self.game.names.get(name, ""))

    @property
    def held(self) -> str | None:
        """The name of what is in the hand."""
        held = self.world.held
        return next((n for n, id in self.game.names.items() if held and id == held.id), None)

    @property
    def here(self) -> Sequence[str]:
        """The receptacles that the agent stands before."""
        at, spots = self.game.at, self.game.spots
        return [name for name, pose in spots.items() if pose == at]

    def shut(self, place: str) -> bool:
        """Whether a receptacle is closed."""
        thing = self.thing(place)
        return kind(place) in rules.CLOSABLE and thing is not None and thing.shut

    def inside(self, place: str) -> Sequence[str]:
        """What is in or on a receptacle or a vessel, at any depth."""
        holder = self.thing(place)
        ids = set(self.world.inside(holder)) | set(holder.contents) if holder is not None else set()
        return [name for name, id in self.game.names.items() if id in ids and self._lies(name)]

    def _lies(self, name: str) -> bool:
        thing = self.thing(name)
        return name not in self.game.spots and thing is not None and not thing.held

    def where(self, name: str) -> Sequence[str]:
        """The receptacles that hold a thing."""
        return [place for place in self.game.spots if name in self.inside(place)]

    @property
    def open_to(self) -> Sequence[tuple[str, str]]:
        """Each thing that can be got at from here, with its receptacle."""
        return [(o, r) for r in self.here if not self.shut(r) for o in self.inside(r)]

    def look(self) -> str:
        """What `look` tells."""
        if self.here:
            facing = listed(self.here, article="")
            return f"You are facing the {facing}. Next to it, you see nothing."
        # Its grammar lists receptacles in the introduction alone.
        return _MIDDLE.format("nothing")

    def introduction(self) -> str:
        """What is told of the room at the start."""
        return _MIDDLE.format(listed(list(self.game.spots)))

    def receptacle(self, name: str) -> str:
        """What is told of a receptacle."""
        if self.shut(name):
            return f"The {name} is closed."
        seen = f"you see {listed(self.inside(name))}."
        if kind(name) in rules.CLOSABLE:
            return f"The {name} is open. In it, {seen}"
        return f"On the {name}, {seen}"

    def described(self, name: str) -> str:
        """What is told of a thing."""
        if kind(name) in rules.VESSELS:
            return f"This is a normal {name}. In it, you see {listed(self.inside(name))}."
        done = {state for state, one in self.game.marks if one == name}
        felt = [state for state in ("hot", "cool", "clean") if state in done]
        if "sliced" in done:
            return f"This is a {' and '.join(felt)} sliced {name}.".replace("a  ", "a ")
        if felt == ["cool"]:
            return f"This is a cold {name}."
        if felt:
            return f"This is a {' and '.join(felt)} {name}."
        if "on" in done:
            return f"This {name} is on."
        return f"There's nothing special about {name}."

    def commands(self) -> Sequence[str]:
        """The game's admissible commands, sorted."""
        return sorted({"look", "inventory", "help", *self._about_places(), *self._about_things()})

    def _about_places(self) -> Iterator[str]:
        here = self.here
        for place in self.game.spots:
            if place not in here:
                yield f"go to {place}"
                continue
            yield f"examine {place}"
            if kind(place) in rules.CLOSABLE:
                yield f"{'open' if self.shut(place) else 'close'} {place}"

    def _about_things(self) -> Iterator[str]:
        held = self.held
        for name, place in self.open_to:
            thing = self.thing(name)
            if held is None and thing is not None and thing.pickupable:
                yield f"take {name} from {place}"
        for place in self.here:
            yield from (
                f"use {name}" for name in self.inside(place) if kind(name) == self.game.lamp
            )
        if held is not None:
            yield f"examine {held}"
            yield from self._with_held(held)

    def _with_held(self, held: str) -> Iterator[str]:
        for place in self.here:
            if not self.shut(place) and kind(held) in rules.HOLDS[kind(place)]:
                yield f"move {held} to {place}"
            for verb, one in TREATMENTS.items():
                if kind(place) == one.place and kind(held) in one.suits:
                    yield f"{verb} {held} with {place}"
            if kind(held) in rules.KNIVES:
                food = [name for name in self.inside(place) if kind(name) in SLICEABLE]
                yield from (f"slice {name} with {held}" for name in food)

    def facts(self) -> Sequence[str]:
        """The game's facts about things, as its expert reads them: "inreceptacle mug 1 desk 1"."""
        held, spots = self.held, self.game.spots
        found = [f"inreceptacle {o} {r}" for r in spots for o in self.inside(r)]
        found += [f"is{state} {name}" for state, name in sorted(self.game.marks)]
        return found + ([f"holds agent1 {held}", "holdsany agent1"] if held else [])

    def conditions(self, goal: AlfredGoal) -> tuple[int, int]:
        """How many conditions of a goal hold, and how many there are."""
        word = rules.word(str(goal.object))
        if goal.toggle is not None:
            lit = [o for o, r in self.game.marks if o == "on" and self._before(r)]
            return int(bool(lit)) + int(self.held is not None and kind(self.held) == word), 2
        parent = rules.word(str(goal.parent))
        there = [[o for o in self.inside(r) if kind(o) == word] for r in self._all(parent)]
        if goal.kind.treatment is None:
            return min(goal.kind.count, max(map(len, there), default=0)), goal.kind.count
        state = TREATMENTS[goal.kind.treatment.name].state
        treated = {name for one, name in self.game.marks if one == state and kind(name) == word}
        return int(bool(treated)) + any(treated & set(names) for names in there), 2

    def _before(self, lamp: str) -> bool:
        return any(lamp in self.inside(place) for place in self.here)

    def _all(self, word: str) -> Sequence[str]:
        return [place for place in self.game.spots if kind(place) == word]
