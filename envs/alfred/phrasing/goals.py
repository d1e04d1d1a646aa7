"""Words ALFRED's goals as people do, from learnt units. No sentence is one that a person wrote."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from inhabit.envs.alfred.language.verbs import preposition
from inhabit.envs.alfred.phrasing.nouns import RoomNames, noun_of
from inhabit.envs.alfred.scenes.initial_room import initial_room
from inhabit.envs.alfred.scenes.scene import AlfredGoal
from inhabit.envs.alfred.world.kinds import Treatment
from inhabit.envs.world.phrasing import facts, is_known, pick
from inhabit.envs.world.words import with_article

_TRIES, _TRIES_OF_STYLE = 200, 20
_RARE = 8
"""Weight of a shape that is too rare to be counted."""
_INTO = {
    "in": ("in", "into", "inside", "inside of", "down in"),
    "on": ("on", "onto", "on top of", "down on"),
}
_TO = ("to", "over to")
_JOINS = (", then ", " and then ", ", and then ")


def goal_in_words(goal: AlfredGoal, room: str, rng: random.Random, *, colors: bool = True) -> str:
    """A sentence that means exactly this goal in that room.

    Args:
        goal: what is wanted.
        room: name of the room, in which every name has to be unambiguous.
        rng: the source of randomness.
        colors: whether colours and materials of the embedded household may be told.
    """
    for attempt in range(_TRIES):
        if attempt % _TRIES_OF_STYLE == 0:
            style = rng.getrandbits(32)
        said = sentence(wish(goal, room, rng, style, colors=colors))
        if not is_known(said):
            return said
    raise ValueError(f"Every wording of {goal} in {room} that was tried is one of people's.")


def wish(
    goal: AlfredGoal,
    room: str,
    rng: random.Random,
    style: int | None = None,
    *,
    colors: bool = True,
    plain: bool = False,
) -> str:
    """A goal as a clause: "put a clean mug in the sink".

    Args:
        goal: what is wanted.
        room: name of the room.
        rng: the source of randomness of words.
        style: seed of shape and articles, which stay what they are when other words are tried:
            else the shapes that people use most would be avoided most.
        colors: as in `goal_in_words`.
        plain: as in `RoomNames`.
    """
    chosen = random.Random(rng.getrandbits(32) if style is None else style)
    names = RoomNames(initial_room(room), rng, chosen, colors, plain)
    return _Clause(goal, names, rng, chosen).said()


def put_in_words(
    goal: AlfredGoal, room: str, rng: random.Random, what: str, *, colors: bool = True
) -> str:
    """A goal that places something, as "put WHAT on the table"."""
    return _Clause(goal, RoomNames(initial_room(room), rng, rng, colors), rng, rng).put_down(what)


def sentence(clause: str) -> str:
    """A clause with a capital letter and a full stop."""
    return f"{clause[:1].upper()}{clause[1:]}."


def gerund(verb: str) -> str:
    """The -ing form: "putting" of "put", "cooling down" of "cool down"."""
    head, space, rest = verb.partition(" ")
    if head in ("put", "set", "get", "grab", "drop", "chop", "cut"):
        head += head[-1]
    return f"{head.removesuffix('e')}ing{space}{rest}"


@dataclass(frozen=True, slots=True)
class _Clause:
    goal: AlfredGoal
    names: RoomNames
    rng: random.Random
    style: random.Random

    def said(self) -> str:
        goal = self.goal
        counted = facts().get(f"shape {goal.type}", {})
        shapes = goal.kind.shapes
        weights = [max(_RARE, counted.get(shape, 0)) ** 0.7 for shape in shapes]
        if goal.sliced and goal.kind.count == 1 and self.style.random() < _CUT_FIRST:
            return self._cut_first()
        shape = self.style.choices(shapes, weights)[0]
        return WORDED[shape](self)

    @property
    def _noun(self) -> str:
        return noun_of(str(self.goal.object), sliced=self.goal.sliced)

    @property
    def _place(self) -> str:
        return noun_of(str(self.goal.parent))

    def _object(self, adjective: str = "") -> str:
        if self.goal.kind.count > 1:
            return self.names.two(self._noun, adjective)
        return self.names.one(self._noun, adjective)

    @property
    def _it(self) -> str:
        return "them" if self.goal.kind.count > 1 else "it"

    def _join(self) -> str:
        return (
            pick("join", self.rng) if self.rng.random() < _PLAIN_JOIN else self.rng.choice(_JOINS)
        )

    def _put(self, what: str, *, ing: bool = False) -> str:
        """The clause "place WHAT on the counter"."""
        verb = pick("put", self.rng)
        if self._place == "garbage can" and self.rng.random() < 0.25:
            return self._thrown(what, ing=ing)
        fit = _INTO[preposition(self._place)]
        found = pick(f"prep {verb}", self.rng, lambda p: p in fit or (p in _TO and verb in _MOVES))
        if not found:
            verb, found = "put", fit[0]
        return f"{gerund(verb) if ing else verb} {what} {found} {self.names.place(self._place)}"

    def _thrown(self, what: str, *, ing: bool) -> str:
        """The same for the garbage can, which is often left out."""
        verb, end = self.rng.choice(_THROWN)
        place = self.names.place(self._place) if end.endswith("{}") else ""
        return f"{gerund(verb) if ing else verb} {what} {end.format(place)}".strip()

    def _get(self, unit: str = "get") -> str:
        return f"{pick(unit, self.rng)} {self._object()}"

    # Shapes.

    def put_down(self, what: str) -> str:
        return self._put(what)

    def put(self) -> str:
        return self._put(self._object(self._participle()))

    def get_put(self) -> str:
        get = self._get()
        it = "them" if get.endswith(tuple(facts()["plural"])) else self._it
        return f"{get}{self._join()}{self._put(it)}"

    def one_another(self) -> str:
        """Two by "another": "put a vase and another one on the desk"."""
        name = self.names.name(self._noun, countable=True)
        another = self.rng.choice((f"another {name}", "another one", f"a second {name}"))
        return f"{self._put(f'{with_article(name)} and {another}')}"

    def treat_put(self) -> str:
        return f"{self._treat(self._object())}{self._join()}{self._put(self._it)}"

    def treat_there_put(self) -> str:
        where = f"in {self.names.place(self._treatment.where)}"
        return (
            f"{self._treat(self._object(), there=True)} {where}{self._join()}{self._put(self._it)}"
        )

    def get_treat_put(self) -> str:
        return f"{self._get()}, {self._treat(self._it)}{self._join()}{self._put(self._it)}"

    def before(self) -> str:
        return f"{self._treat(self._object())} before {self._put(self._it, ing=True)}"

    def after(self) -> str:
        return f"{self._put(self._object())} after {self._treat(self._it, ing=True)}"

    def _treat(self, what: str, *, ing: bool = False, there: bool = False) -> str:
        """The clause "heat WHAT"; `there` where the appliance is named as well."""

        def fits(verb: str) -> bool:
            if there and verb in ("microwave", "refrigerate"):
                return False
            return verb != "cook" or self._is_food

        verb = pick(self._treatment.name, self.rng, fits)
        head, _, particle = (gerund(verb) if ing else verb).partition(" ")
        if particle and (what in ("it", "them") or self.rng.random() < 0.3):
            return f"{head} {what} {particle}"
        return f"{head} {particle} {what}" if particle else f"{head} {what}"

    def _participle(self) -> str:
        treatment = self.goal.kind.treatment
        if treatment is None:
            return ""
        said = pick(f"{treatment.name} {self._noun}", self.rng)
        return said or self.rng.choice(treatment.participles)

    @property
    def _treatment(self) -> Treatment:
        assert self.goal.kind.treatment is not None, "Shapes of treatments are of kinds with one."
        return self.goal.kind.treatment

    @property
    def _is_food(self) -> bool:
        return "cooked" in facts().get(f"heat {self._noun}", {})

    def _cut_first(self) -> str:
        """With cutting told first: "slice a tomato, heat a piece and put it in the fridge"."""
        whole = self.names.one(noun_of(str(self.goal.object)))
        cut = f"{self.rng.choice(('slice', 'cut', 'cut up', 'slice up', 'chop'))} {whole}"
        piece = self.rng.choice(("a slice", "one slice", "a piece", "one of the slices"))
        if self.goal.movable is not None:
            return f"{cut}{self._join()}{self._loaded(piece)}"
        if self.goal.kind.treatment is not None:
            return f"{cut}, {self._treat(piece)}{self._join()}{self._put('it')}"
        return f"{cut}{self._join()}{self._put(piece)}"

    def _look(self) -> str:
        return pick("look", self.rng, lambda verb: verb != "read" or self._noun in _READ)

    def look(self) -> str:
        return f"{pick('look', self.rng)} {self._object()} {pick('light', self.rng)} {self._lamp()}"

    def look_in_lamplight(self) -> str:
        """With the lamp's name before "light": "look at a pen in the desk lamp light"."""
        lamp, by = self.names.name(noun_of(str(self.goal.toggle))), self.rng.choice(_BY_LIGHT)
        return f"{pick('look', self.rng)} {self._object()} {by.format(lamp)}"

    def light_to_look(self) -> str:
        """With its purpose: "turn on the lamp to look at a pen"."""
        look, lit = self._look(), self.rng.choice((self._switch(), f"use {self._lamp()}"))
        return f"{lit} to {look} {self._object()}"

    def hold_light(self) -> str:
        return f"{self._get()}{self._join()}{self._switch()}"

    def light_holding(self) -> str:
        return f"{self._switch()} while {pick('holding', self.rng)} {self._object()}"

    def light_in_hand(self) -> str:
        return f"{self._switch()} with {self._object()} in {self.rng.choice(('hand', 'your hand'))}"

    def hold_while(self) -> str:
        verb = self.rng.choice(("hold", "carry"))
        return f"{verb} {self._object()} while {self._switch(ing=True)}"

    def _lamp(self) -> str:
        return self.names.place(noun_of(str(self.goal.toggle)))

    def _switch(self, *, ing: bool = False) -> str:
        verb = "switch" if self.rng.random() < 0.15 else "turn"
        verb = gerund(verb) if ing else verb
        return (
            f"{verb} on {self._lamp()}" if self.rng.random() < 0.6 else f"{verb} {self._lamp()} on"
        )

    def put_with(self) -> str:
        """The contents told first: "put a plate with a fork on it in the sink"."""
        movable = noun_of(str(self.goal.movable))
        inside = preposition(movable) == "in"
        ends = ("", " in it", " inside", " inside it") if inside else ("", " on it", " on top")

        def fits(form: str) -> bool:
            with_, _, end = form.partition("|")
            return with_.split()[0] in ("with", "containing", "holding") and (
                (" " + end if end else "") in ends and (inside or not with_.startswith("contain"))
            )

        with_, _, end = pick("contents", self.rng, fits).partition("|")
        held = f"{self.names.one(movable)} {with_.split()[0]} {self._object()} {end}".rstrip()
        return self._put(held)

    def put_in_on(self) -> str:
        """In one breath: "put a pen in a mug on the desk"."""
        movable = noun_of(str(self.goal.movable))
        fit = _INTO[preposition(movable)]
        into = pick("load", self.rng, fit.__contains__) or fit[0]
        return self._put(f"{self._object()} {into} {self.names.one(movable)}")

    def load_put(self) -> str:
        return self._loaded(self._object())

    def _loaded(self, what: str) -> str:
        movable = noun_of(str(self.goal.movable))
        name = self.names.name(movable)
        fit = _INTO[preposition(movable)]
        into = pick("load", self.rng, fit.__contains__) or fit[0]
        load = (
            f"{self.rng.choice(('put', 'place', 'set', 'drop'))} {what} {into} {with_article(name)}"
        )
        both = self.rng.choice(
            (f"the {name}", f"the {name}", "them", "both", f"that {name}", "it all")
        )
        return f"{load}{self._join()}{self._put(both)}"


_CUT_FIRST = 0.15
_PLAIN_JOIN = 0.95
_MOVES = ("move", "bring", "carry", "take", "return", "transfer")
_READ = ("book", "newspaper")
_BY_LIGHT = (
    "in the {} light",
    "by {} light",
    "under the {} light",
    "in the {}'s light",
    "with the {} light",
    "with help of the {}",
)
_THROWN = (
    ("throw", "away"),
    ("throw", "out"),
    ("throw", "in {}"),
    ("throw", "into {}"),
    ("throw", "away in {}"),
    ("dispose of", "in {}"),
    ("discard", "in {}"),
    ("toss", "in {}"),
    ("toss", "into {}"),
)
"""Verb, and what follows the object; "{}" is the garbage can."""
WORDED: Mapping[str, Callable[[_Clause], str]] = {
    "put": _Clause.put,
    "get put": _Clause.get_put,
    "one another": _Clause.one_another,
    "treat put": _Clause.treat_put,
    "treat there put": _Clause.treat_there_put,
    "get treat put": _Clause.get_treat_put,
    "before": _Clause.before,
    "after": _Clause.after,
    "look": _Clause.look,
    "look in lamplight": _Clause.look_in_lamplight,
    "light to look": _Clause.light_to_look,
    "hold light": _Clause.hold_light,
    "light holding": _Clause.light_holding,
    "light in hand": _Clause.light_in_hand,
    "hold while": _Clause.hold_while,
    "put with": _Clause.put_with,
    "put in on": _Clause.put_in_on,
    "load put": _Clause.load_put,
}
"""Shape -> the clause that has it."""
