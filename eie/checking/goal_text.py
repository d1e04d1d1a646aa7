"""What a goal says, and what the events of its scene want: the parts that `meaning` compares."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from inhabit.eie.checking import english
from inhabit.eie.checking.nouns import NUMBERS, ObjectMention, SceneNouns
from inhabit.envs.claims import name_and_number
from inhabit.envs.core import SceneObject
from inhabit.envs.template import ActionKind, Event, Lexicon
from inhabit.envs.world.words import is_plural, plural


@dataclass(frozen=True, slots=True)
class SaidMove:
    """Something that a goal puts somewhere."""

    at: int
    """Where in the text the move is told."""
    what: frozenset[str]
    """The kinds that the thing may be."""
    where: frozenset[str]
    numbers: tuple[int | None, int | None]
    """Numbers of the thing and of its new place, if the text gives them."""

    def has_numbers(self, wanted: tuple[int, int]) -> bool:
        """Whether its numbers are these, as far as it has any."""
        return all(said in (None, one) for said, one in zip(self.numbers, wanted, strict=True))


@dataclass(frozen=True)
class GoalText:
    """A goal's words beside the events of its scene."""

    text: str
    events: Sequence[Event]
    known: SceneNouns
    lexicon: Lexicon
    things: Mapping[str, SceneObject]

    @cached_property
    def there(self) -> Counter[str]:
        """How many of each kind are in the scene."""
        return Counter(thing.kind for thing in self.things.values())

    @cached_property
    def room_of(self) -> Mapping[str, str]:
        """Name of an object -> its room, in scenes of several rooms."""
        return {name: thing.room for name, thing in self.things.items() if thing.room}

    @cached_property
    def switched(self) -> Counter[str]:
        """How many of each kind are turned on or off."""
        switching = (ActionKind.SWITCH_ON, ActionKind.SWITCH_OFF)
        switched = (event for event in self.events if event.action_kind in switching)
        return Counter(kind for event in switched for kind in self.named_in(event)[:1])

    @cached_property
    def done_by(self) -> Mapping[str, str]:
        """What is done by what is closed or turned on -> by what."""
        started = (ActionKind.CLOSE, ActionKind.SWITCH_ON)
        names = (n for e in self.events if e.action_kind in started for n in self.named_in(e))
        return {english.DOES[name]: name for name in names if name in english.DOES}

    @cached_property
    def means(self) -> frozenset[str]:
        """What may be named for what the scene wants done."""
        wished = {*map(self.verb_of, self.events), *self.done_by}
        return frozenset(t for family in wished for t in english.MEANS.get(family, ()))

    @cached_property
    def mentions(self) -> Sequence[ObjectMention]:
        """Objects that the text names; of two names together ("glass coffee table") the last."""
        found = self.known.mentions(self.text)
        starts = {mention.start for mention in found}
        return [mention for mention in found if mention.end + 1 not in starts]

    @cached_property
    def led(self) -> Sequence[tuple[ObjectMention, str]]:
        """Each mention with the words between the one before it and it."""
        ends = [0, *(mention.end for mention in self.mentions)]
        # A mention may begin with "on", which is a state too: "put it on end table".
        starts = [m.start + 3 * self.text.startswith("on ", m.start) for m in self.mentions]
        pairs = zip(self.mentions, ends, starts, strict=False)
        return [(mention, self.text[end:start]) for mention, end, start in pairs]

    @cached_property
    def wanted(self) -> Mapping[str, bool]:
        """What the wishes name -> whether it is taken."""
        found: dict[str, bool] = {}
        for event in self.events:
            for kind in self.named_in(event):
                found.setdefault(kind, event.action_kind is ActionKind.TAKE)
        return found

    @cached_property
    def numbers(self) -> Mapping[str, set[int]]:
        """The numbers of the objects that alone will do, by kind."""
        found: dict[str, set[int]] = {}
        for name in (name for event in self.events for name in event.objects):
            stem, number = name_and_number(name)
            kind = self.known.known(stem) or stem
            found.setdefault(kind, set()).add(int(number or 1))
        return found

    @cached_property
    def moves(self) -> Mapping[str, tuple[str, str]]:
        """Names of the events that put something down -> what, and where; without products."""
        found = {}
        for event in self.events:
            named = self.named_in(event)
            if event.action_kind is ActionKind.PUT and len(named) > 1:
                found[event.name] = (self.source(named[0]), named[-1])
        return found

    @cached_property
    def got(self) -> Sequence[Event]:
        """The events that make or gather something that no other event needs."""
        made = [event for event in self.events if event.action_kind in english.ON_THE_WAY]
        needed = {need for event in made for need in event.needs}
        return [
            e for e in self.events if e.action_kind in english.ON_THE_WAY and e.name not in needed
        ]

    def verb_of(self, event: Event) -> str:
        """The verb of what an event wishes, or its family."""
        found = re.match(r"turn (?:on|off)\b|\w+", event.wish)
        return english.WISHED.get(found[0], found[0]) if found is not None else ""

    def count_of(self, mention: ObjectMention) -> int | None:
        """How many of a kind a name speaks of; None if it does not tell."""
        if mention.count is not None:
            return mention.count
        found = english.NUMBERED.search(self.text[: mention.start])
        one_of = found and found[1] == "both" and self.text.startswith(" and ", mention.end)
        noun, kind = self.text[mention.start : mention.end], mention.kind
        if found is not None and found[1] == "pair" and is_plural(kind):
            return None
        if found is not None and not one_of:
            return NUMBERS.get(found[1], 2)
        many = noun.endswith((plural(kind), f"{kind}s")) and not is_plural(kind)
        return 2 if many and kind not in self.lexicon.products else None

    @cached_property
    def moved_numbers(self) -> Mapping[tuple[str, str], set[tuple[int, int]]]:
        """What is put, and where -> the numbers of the objects, where no others will do."""
        found: dict[tuple[str, str], set[tuple[int, int]]] = {}
        for event in self.events:
            if event.name in self.moves and len(event.objects) == 2:
                thing, place = (int(name_and_number(name)[1] or 1) for name in event.objects)
                found.setdefault(self.moves[event.name], set()).add((thing, place))
        return found

    @cached_property
    def said_moves(self) -> Sequence[SaidMove]:
        """What the goal puts somewhere, in the order of the text."""
        ends = {place for _, place in self.moves.values()}
        found, now, waiting = list[SaidMove](), list[ObjectMention](), list[ObjectMention]()

        def say(at: ObjectMention, thing: ObjectMention, place: ObjectMention) -> None:
            numbers = thing.number, place.number
            found.append(SaidMove(at.start, self.kinds_of(thing), self.kinds_of(place), numbers))

        lead = ""  # what comes before the last thing
        above = waiting  # the places that are named before what goes there
        follows = False  # whether the mention before is of what is taken, too
        for mention, between in self.led:
            kinds, word = self.kinds_of(mention), last_preposition(between)
            fetched = english.FETCHED.search(lead) and english.ORIGIN.fullmatch(between)
            leads = word in english.LEADS or english.LAID.search(between)
            if kinds & ends and leads and not fetched:
                for one in now:
                    say(mention, one, mention)
                waiting += [] if now else [mention]
                follows = False
            elif self.is_taken(mention):
                apart = english.APART.match(self.text, mention.end)
                if word in ("with", "containing", "holding") and now and not apart:
                    say(mention, mention, now[-1])
                    continue
                together = follows and english.TOGETHER.match(between)
                now, above = ([*now, mention], above) if together else ([mention], waiting)
                follows, lead = True, between
                for one in above:
                    say(one, mention, one)
                waiting = []
        return found

    @cached_property
    def said_rooms(self) -> Sequence[tuple[int, str]]:
        """Where in the text a room is named that nothing comes from, and which."""
        if not self.room_of:
            return ()
        nouns = [range(mention.start, mention.end) for mention in self.mentions]
        names = "|".join(sorted({*self.room_of.values()}))
        return [
            (found.start(), found[1])
            for found in re.finditer(rf"\b({names})s?\b", self.text)
            if not any(found.start() in noun for noun in nouns)
            and not re.search(r"\bfrom\s+(?:\w+\s+){0,2}$", self.text[: found.start()])
        ]

    def rooms_of(self, kinds: Set[str]) -> frozenset[str]:
        """The rooms of the objects of these kinds that the scene wants something of."""
        return frozenset(self.room_of[n] for n in self.objects_of(kinds) if n in self.room_of)

    def objects_of(self, kinds: Set[str]) -> Set[str]:
        """The objects of these kinds that the scene wants something of, if no others will do."""
        names = {name for event in self.events for name in event.objects}
        known = {*kinds, *map(self.source, kinds)}
        return {n for n in names if n in self.things and self.things[n].kind in known}

    @cached_property
    def said_origins(self) -> Sequence[tuple[ObjectMention, ObjectMention, bool]]:
        """What is taken, where the goal says that it is, and whether it says no more than that.

        "The cup on the desk" may be wanted there.
        """
        ends = {place for _, place in self.moves.values()}
        found = []
        for mention, (place, between) in zip(self.mentions, self.led[1:], strict=False):
            origin = english.ORIGIN.fullmatch(between) if self.is_taken(mention) else None
            told = origin is not None and bool(origin["clause"] or origin["from"])
            if told or (origin and self.kinds_of(place).isdisjoint(ends)):
                found.append((mention, place, told))
        return found

    def holders(self, name: str) -> Iterator[str]:
        """What an object is in or on, and what that is in or on, and so on."""
        seen = {name}
        while (thing := self.things.get(name)) and thing.support and thing.support not in seen:
            name = thing.support
            seen.add(name)
            if name in self.things:
                yield name

    def needed_by(self, name: str) -> frozenset[str]:
        """The events that an event needs, and those that these need."""
        by_name = {event.name: event for event in self.events}
        found, left = set[str](), [name]
        while left:
            event = by_name.get(left.pop())
            needs = [n for n in (event.needs if event else ()) if n not in found]
            found |= {*needs}
            left += needs
        return frozenset(found)

    def treated_at(self, at: int) -> frozenset[str]:
        """What a word of treatment that ends there is about."""
        known = {*map(self.source, self.wanted)}
        named = next((m for m in self.mentions if m.start >= at), None)
        if named is not None and english.BARE.fullmatch(self.text[at : named.start]):
            return self.kinds_of(named)
        after = next((m for m in self.mentions if m.end > at and self.kinds_of(m) & known), None)
        if after is not None:
            between = self.text[at : max(at, after.start)]
            if not english.PRONOUN.search(between) and last_preposition(between) is None:
                return self.kinds_of(after)
        earlier = (m for m in reversed(self.mentions) if m.start < at and self.is_taken(m))
        return next(map(self.kinds_of, earlier), frozenset())

    def is_taken(self, mention: ObjectMention) -> bool:
        """Whether a name may mean what is picked up."""
        return not self.kinds_of(mention).isdisjoint(map(self.source, self.taken))

    @cached_property
    def taken(self) -> Counter[str]:
        """How many of each kind are picked up."""
        taking = (e for e in self.events if e.action_kind is ActionKind.TAKE)
        return Counter(kind for event in taking for kind in self.named_in(event)[:1])

    def named_in(self, event: Event) -> Sequence[str]:
        """The kinds that the wish of an event names, in order."""
        return [mention.kind for mention in self.known.mentions(event.wish.lower())]

    def source(self, kind: str) -> str:
        """What a kind is made of; itself if nothing."""
        return self.lexicon.products.get(kind, kind)

    def kinds_of(self, mention: ObjectMention) -> frozenset[str]:
        """The kinds that a name may mean, and what they are made of."""
        noun = re.sub(
            r"^(?:no|any|one|two|both|a|an|the)\s+", "", self.text[mention.start : mention.end]
        )
        kinds = self.lexicon.called.get(noun, frozenset()) | {mention.kind}
        return kinds | {*map(self.source, kinds)}


def last_preposition(between: str) -> str | None:
    """The last preposition of a text."""
    found: Iterator[re.Match[str]] = english.PREPOSITION.finditer(between)
    return next((match[0] for match in reversed([*found])), None)
