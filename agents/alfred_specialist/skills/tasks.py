"""What to do next for a task, as actions in the order of preference.

A task is a chain of subgoals: get a thing (and slice it), treat it, put it into a movable
receptacle, bring it to its place or under a lamp. The state of the chain is worked out from past
actions at every step, so that a step that failed or was undone is done again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from inhabit.agents.alfred_specialist.ranker.notes import SURE
from inhabit.agents.alfred_specialist.ranker.parsing import (
    CLOSE,
    GO,
    OPEN,
    PUT,
    SLICE,
    TAKE,
    TURN_ON,
    uncut,
)
from inhabit.agents.alfred_specialist.reading.reading import Reading
from inhabit.agents.alfred_specialist.skills.situation import DOORS, Name, Surroundings, verb
from inhabit.agents.alfred_specialist.skills.tries import UsualPlaces, missed, opened_here, search
from inhabit.envs.alfred.language.verbs import word
from inhabit.envs.alfred.world import things
from inhabit.envs.alfred.world.kinds import TREATMENTS
from inhabit.envs.core import Action, Reason

TURN_OFF, DROP = verb("turn off"), verb("drop")
KNIVES = tuple(word(type) for type in sorted(things.KNIVES, reverse=True))
_TREATMENTS = {one.name: (one.where, verb(one.verb), word(one.by)) for one in TREATMENTS}
"""Part of the name of a task type -> where the object is put, and what is then done to what."""
_CERTAIN = 0.8
"""Confidence at which a slice that lies there already is believed."""
_TOO_OFTEN = 3
"""Failures of an action on a kind of object, after which another way is looked for."""
_TWICE = 2
"""How often the same wrong object is taken for a treated one before it is treated as well."""


def treatment(task: str) -> tuple[str, int, str] | None:
    """The treatment that a type of task asks for."""
    return next((found for part, found in _TREATMENTS.items() if f"_{part}_" in task), None)


def wants_light(task: str) -> bool:
    """Whether the object is to be held in the light of a lamp."""
    return "light" in task


def count(task: str) -> int:
    """How many objects are asked for."""
    return 2 if "two" in task else 1


def is_done(now: Surroundings, reading: Reading) -> bool:
    """Whether everything that the reading asks for was done, as far as the agent can tell."""
    left = now.progress.left
    if wants_light(reading.task):
        lit = any(
            d.what.verb == TURN_ON and d.what.noun == reading.place and d.reason is None
            for d in now.past_actions
        )
        return lit and now.held == reading.thing
    placed = [name for name, at in left.items() if at[0] == reading.place]
    if reading.movable:
        inside = [at for name, at in left.items() if name[0] == reading.thing]
        return any(name[0] == reading.movable and name in inside for name in placed)
    good = [n for n in placed if n[0] == reading.thing and is_treated(now, n, reading.task)]
    places = {left[name] for name in good}
    return any(sum(left[n] == p for n in good) >= count(reading.task) for p in places)


def is_treated(now: Surroundings, name: Name, task: str) -> bool:
    """Whether an object had the treatment that the task asks for, or needs none."""
    asked = treatment(task)
    if asked is None:
        return True
    return asked[1:] in now.progress.worked.get(name, frozenset())


@dataclass(frozen=True)
class Skills:
    """The skills for one reading at one step."""

    now: Surroundings
    reading: Reading
    usual: UsualPlaces

    def actions(self) -> Iterator[Action]:
        """What to do next, the best first, without what failed since the last success."""
        given: set[str] = set()
        for action in self._wished():
            if action is not None and action.text not in given:
                given.add(action.text)
                if not self.now.failed_lately(action.text):
                    yield action

    def _wished(self) -> Iterator[Action | None]:
        reading, now = self.reading, self.now
        thing = reading.thing
        if now.held == thing:
            yield from self._with_thing()
        elif reading.movable and now.held == reading.movable:
            if self._loaded() is None:
                # Taken too early: what goes into it comes first.
                yield from self._put_down()
            yield from self._deliver(reading.place)
        elif base := uncut(thing):
            yield from self._sliced(base)
        elif now.held:
            yield from self._put_down()
        yield from self._get()

    def _with_thing(self) -> Iterator[Action | None]:
        reading, now = self.reading, self.now
        asked = treatment(reading.task)
        if asked is not None and not is_treated(now, now.holding, reading.task):
            yield from self._deliver(asked[0])
        if wants_light(reading.task):
            if now.at[0] == reading.place:
                yield now.offered(TURN_ON, reading.place)
                last = now.last()
                if last is not None and last.reason is Reason.ALREADY:
                    yield now.offered(TURN_OFF, reading.place)
            yield from self._go(reading.place)
        yield from self._deliver(reading.movable or reading.place)

    def _get(self) -> Iterator[Action | None]:
        """Get what is to be handled next, with empty hands."""
        reading = self.reading
        treated = treatment(reading.task)
        if treated is not None:
            yield from self._treat(*treated)
        loaded = self._loaded()
        if loaded is not None:
            yield from self._take(reading.movable, loaded[1])
        yield from self._take(reading.thing)

    def _treat(self, place: str, work: int, what: str) -> Iterator[Action | None]:
        """Treat the thing that was put there, and take it out again."""
        now, thing = self.now, self.reading.thing
        inside = [n for n, at in now.progress.left.items() if n[0] == thing and at[0] == place]
        if not inside:
            return
        name = self._to_take_out(inside)
        where = now.progress.left[name]
        if (work, what) not in now.progress.worked.get(name, frozenset()):
            if now.at != where:
                yield now.offered(GO, *where)
            if place in DOORS and where in now.opened:
                yield now.offered(CLOSE, place)
            yield now.offered(work, what)
            yield now.offered(TURN_OFF, what)
            yield now.offered(GO, *where)
        elif place != self.reading.place or self.reading.movable:
            if work == TURN_ON and self._is_on(what):
                yield now.offered(TURN_OFF, what)
            if place in DOORS and where not in now.opened:
                yield now.offered(OPEN, place)
            if now.at in (name, where) and not self._missed_since_arriving(thing):
                yield now.offered(TAKE, thing)
            # Of many slices, "go to the slice" comes to one after the other, then to the nearest.
            again = any(n[0] == thing and times > 1 for n, times in now.visits.items())
            if now.at[0] == thing and again:
                yield now.offered(GO, *where)
            yield now.offered(GO, thing)
            yield now.offered(GO, *where)

    def _to_take_out(self, inside: Sequence[Name]) -> Name:
        """A treated one if there is one; not after a wrong one was taken for it twice."""
        treated = [name for name in inside if is_treated(self.now, name, self.reading.task)]
        last = inside[-1]
        taken = sum(
            past.reason is None
            and (past.what.verb, past.what.noun, past.what.number) == (TAKE, *last)
            for past in self.now.past_actions
        )
        return treated[0] if treated and taken < _TWICE else last

    def _missed_since_arriving(self, thing: str) -> bool:
        """Whether picking it up failed since the last time that the agent went anywhere."""
        for past in reversed(self.now.past_actions):
            if past.what.verb == GO and past.reason is None:
                return False
            if past.what.verb == TAKE and past.what.noun == thing and past.reason is not None:
                return True
        return False

    def _is_on(self, what: str) -> bool:
        for past in reversed(self.now.past_actions):
            switched = past.what.verb in (TURN_ON, TURN_OFF) and past.reason is None
            if switched and past.what.noun == what:
                return past.what.verb == TURN_ON
        return False

    def _loaded(self) -> Name | None:
        """The movable receptacle that the thing was put into."""
        left, reading = self.now.progress.left, self.reading
        if not reading.movable:
            return None
        inside = (at for n, at in left.items() if n[0] == reading.thing)
        return next((at for at in inside if at[0] == reading.movable), None)

    def _sliced(self, base: str) -> Iterator[Action | None]:
        """Slice the thing's base, and lay the knife down."""
        now = self.now
        if self._was_cut(base) or (
            self.reading.thing in now.seen and now.seen[self.reading.thing] >= _CERTAIN
        ):
            if now.held:
                yield from self._put_down()
            return
        if now.held in KNIVES:
            last = now.last()
            unknown = any(True for _ in self._not_found(base))
            if now.at[0] == base or (now.here.get(base, 0.0) >= SURE and not unknown):
                yield now.offered(SLICE, base)
            if last is not None and last.what.verb == GO and last.reason is Reason.CLOSED:
                yield from self._open_around(last.named)
            yield from self._go(base)
        elif now.held:
            yield from self._put_down()
        else:
            knife = min(
                KNIVES,
                key=lambda kind: (
                    sum(1 for _ in self._not_found(kind)),
                    -now.seen.get(kind, 0.0),
                ),
            )
            yield from self._take(knife)

    def _was_cut(self, base: str) -> bool:
        return any(
            d.what.verb == SLICE and d.what.noun == base and d.reason is None
            for d in self.now.past_actions
        )

    def _put_down(self) -> Iterator[Action | None]:
        now = self.now
        if now.at[0] and not now.offered(TAKE, now.at[0]):
            yield now.offered(PUT, now.at[0])
        yield now.offered(DROP, "it") or now.offered(DROP, "")

    def _take(self, kind: str, number: str = "") -> Iterator[Action | None]:
        """Go to an object and pick it up; search for it where it was not seen."""
        now = self.now
        last = now.last()
        at_it = now.at[0] == kind and now.at not in self._settled(number)
        left_here = any(
            name[0] == kind and at == now.at and name not in self._settled(number)
            for name, at in now.progress.left.items()
        )
        if not (at_it or left_here or number):
            yield from opened_here(now, kind, self.usual)
        if at_it or left_here or (self._freshly_seen(kind) and not number):
            yield now.offered(TAKE, kind)
        if last is not None and last.reason is Reason.CLOSED:
            yield from self._open_around(last.named)
        yield from self._go(kind, number)

    def _settled(self, number: str) -> Collection[Name]:
        """Objects that are where they belong, unless one of them is wanted by its number."""
        if number:
            return ()
        left = self.now.progress.left
        placed = [name for name, at in left.items() if at[0] == self.reading.place]
        if count(self.reading.task) > 1:
            # Both belong in the same place: one that lies elsewhere is to be brought there.
            return [name for name in placed if left[name] == left[placed[-1]]]
        return placed

    def _freshly_seen(self, kind: str) -> bool:
        """Whether the object is in view at a place that was just searched."""
        now = self.now
        last = now.last()
        if last is None or last.reason is not None or last.what.verb not in (GO, OPEN):
            return False
        settled = self._settled("")
        # What is in view may be the one that was brought already.
        brought = any(n[0] == kind for n in settled) and last.what.verb != OPEN
        if brought or now.at in settled or any(True for _ in self._not_found(kind)):
            return False
        return now.here.get(kind, 0.0) >= SURE

    def _open_around(self, named: tuple[Name, ...]) -> Iterator[Action | None]:
        """Go to what an object is shut in, and open it."""
        for noun, number in named:
            if noun in DOORS:
                if self.now.at == (noun, number):
                    yield self.now.offered(OPEN, noun)
                yield self.now.offered(GO, noun, number)

    def _deliver(self, kind: str) -> Iterator[Action | None]:
        """Put the held thing into or onto a kind of receptacle."""
        now = self.now
        full = {
            name
            for past in now.past_actions
            if past.what.verb == PUT and past.reason in (Reason.NO_ROOM, Reason.BLOCKED)
            for name in past.named
            if name[0] == kind
        }
        if now.at[0] == kind and now.at not in full:
            last = now.last()
            shut = last is not None and last.what.verb == PUT and last.reason is Reason.CLOSED
            if (kind in DOORS and now.at not in now.opened) or shut:
                yield now.offered(OPEN, kind)
            yield now.offered(PUT, kind)
        before = [at for n, at in now.progress.left.items() if n[0] == now.held and at[0] == kind]
        if before and count(self.reading.task) > 1 and before[-1] != now.at:
            yield now.offered(GO, *before[-1])
        for number in sorted(now.offers.get((GO, kind), {})):
            if full and number and (kind, number) not in full:
                yield now.offered(GO, kind, number)
        yield from self._go(kind)

    def _go(self, kind: str, number: str = "") -> Iterator[Action | None]:
        """Go to an object or a place, or search for it."""
        now = self.now
        yield from opened_here(now, kind, self.usual)
        lately = [d for d in now.failures(GO, kind) if d.reason is Reason.BLOCKED]
        if len(lately) < _TOO_OFTEN and self._worth_going(kind):
            yield now.offered(GO, kind, number)
        yield from search(now, kind, self.usual)
        if kind in now.seen:
            yield now.offered(GO, kind, number)

    def _not_found(self, kind: str) -> Iterator[int]:
        """The steps at which there was no such object to go to or to take."""
        for step, past in enumerate(self.now.past_actions):
            if past.what.noun == kind and past.reason is Reason.NOT_FOUND:
                yield step

    def _worth_going(self, kind: str) -> bool:
        """Whether an object of that kind was seen, and not gone to in vain."""
        now = self.now
        if missed(now, kind) or (now.at[0] == kind and now.at in self._settled("")):
            return False
        if uncut(kind) and self._was_cut(uncut(kind)):
            return True
        return now.seen.get(kind, 0.0) >= SURE or any(name[0] == kind for name in now.visits)
