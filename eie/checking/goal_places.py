"""Whether a goal puts everything where its scene wants it, and in its order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from itertools import combinations

from inhabit.eie.checking import english
from inhabit.eie.checking.goal_text import GoalText, last_preposition
from inhabit.envs.claims import name_and_number
from inhabit.envs.template import ActionKind


@dataclass(frozen=True)
class GoalPlaces(GoalText):
    """Each check says what is wrong, or nothing."""

    def places(self) -> str:
        """Whether everything goes where the scene wants it, and nothing goes elsewhere."""
        moves = {*self.moves.values()}
        for thing, place in moves:
            carried = {thing, *(inner for inner, holder in moves if holder == thing)}
            if not any(carried & m.what and place in m.where for m in self.said_moves):
                return f"The goal does not say that the {thing} goes to the {place}."
            closed = any(e.action_kind is ActionKind.CLOSE and place in e.wish for e in self.events)
            on_top = any(place in self.kinds_of(m) and "on top of" in led for m, led in self.led)
            if on_top and (closed or place in self.lexicon.containers):
                return f"The goal puts something on top of the {place}."
        last = max((move.at for move in self.said_moves), default=len(self.text))
        ends = {place for _, place in moves}
        earlier = re.search(r"\b(?:after|once|when|first|before|having)\b", self.text)
        for mention, between in self.led if not earlier else ():
            further = mention.start > last and last_preposition(between) in english.LEADS
            if further and self.kinds_of(mention) & self.means - ends:
                return f"The goal puts something at the {mention.kind} afterwards."
        if english.UNDONE.search(self.text, last):
            return "The goal takes something away again."
        within = {(thing, end) for thing, holder in moves for h, end in moves if h == holder}
        for move in self.said_moves:
            ends = {place for _, place in moves} & move.where
            pairs = {(thing, place) for thing in move.what for place in ends}
            if ends - self.means and pairs.isdisjoint(moves | within):
                what, where = min(move.what), min(ends)
                return f"The goal puts the {what} at the {where}, and the scene does not."
            numbers = {pair for one in pairs for pair in self.moved_numbers.get(one, ())}
            if numbers and not any(map(move.has_numbers, numbers)):
                return f"The scene wants another {min(move.what)} at another {min(ends)}."
        return ""

    def origins(self) -> str:
        """Something that is said to be where nothing is that the scene wants."""
        for mention, place, _ in self.said_origins:
            holders = [
                h for name in self.objects_of(self.kinds_of(mention)) for h in self.holders(name)
            ]
            of_kind = [h for h in holders if self.things[h].kind in self.kinds_of(place)]
            if place.number is not None:
                of_kind = [h for h in of_kind if name_and_number(h)[1] == str(place.number)]
            if self.objects_of(self.kinds_of(mention)) and not of_kind:
                return f"The scene wants another {mention.kind} than the one at the {place.kind}."
        return ""

    def rooms(self) -> str:
        """A room in which the scene wants nothing of what the goal speaks of there."""
        for at, room in self.said_rooms:
            before = [mention for mention in self.mentions if mention.end <= at]
            after = next((m for m in self.mentions if m.start == at + len(room) + 1), None)
            about = after or (before[-1] if before else None)
            if about is None:
                continue
            kinds: Set[str] = self.kinds_of(about)
            if self.is_taken(about):  # It is where it comes from, or goes to.
                goes = re.search(r"\bto (?:the )?$", self.text[:at])
                kinds = {place for _, place in self.moves.values()} if goes else {*self.wanted}
            wanted = self.rooms_of(kinds)
            if wanted and room not in wanted:
                return f"The goal speaks of the {room}, and the scene wants nothing there."
        return ""

    def order(self) -> str:
        """Whether what the scene wants in an order is said in that order."""
        ends = {place for _, place in self.moves.values()}
        lit = (event for event in self.events if self.verb_of(event) == "light")
        lamps = [event for event in lit if ends.isdisjoint(self.named_in(event))]
        for lamp in lamps:
            for between in (b for m, b in self.led if lamp.thing in self.kinds_of(m)):
                leads = last_preposition(between) in english.LEADS - {"to", "at"}
                leads = leads and not re.search(r"light|\bwatch", between)
                if leads and not english.SWITCHED.search(between):
                    return f"The goal puts something on the {lamp.thing}, which is to be turned on."
        placed = {n: at for n in self.moves if (at := self._position(n)) is not None}
        placed |= {e.name: at for e in lamps if (at := self._named_at(e.thing)) is not None}
        ordered = False
        for one, other in combinations(placed, 2):
            if self._is_one_matter(one, other):
                continue
            if other in self.needed_by(one):
                one, other = other, one
            if one in self.needed_by(other):
                ordered = True
                if self._goes_first(placed[one], placed[other]) is False:
                    return "The goal wants things in another order than the scene."
            elif english.STRICT.search(self.text):
                return "The goal wants things in an order, and the scene does not."
        cut = next((event.name for event in self.events if self.verb_of(event) == "slice"), None)
        treated = [event for event in self.events if self.verb_of(event) in english.TREATED]
        if any(cut in self.needed_by(event.name) for event in treated) and english.CUT_LATE.search(
            self.text
        ):
            return "The goal wants something cut after it is treated."
        if ordered and not english.ORDER.search(self.text):
            return "The scene wants things in an order, and the goal does not say so."
        return self._late(placed)

    def _late(self, placed: Mapping[str, int]) -> str:
        """Whether something is treated after it is `placed`, event by event, where it stays."""
        wished = {*map(self.verb_of, self.events)}
        for said in english.LATER.finditer(self.text, min(placed.values(), default=len(self.text))):
            kinds = self.treated_at(said.end())
            before = {n for n, at in placed.items() if at < said.start()}
            put = {self.moves[n][0] for n in before if n in self.moves}
            left = {thing for thing, _ in self.moves.values()} - put
            if said.lastgroup in wished and kinds.isdisjoint(left):
                return f"The goal wants to {said.lastgroup} something after it is put away."
        return ""

    def _is_one_matter(self, one: str, other: str) -> bool:
        """Whether two events are about things of a kind, or about what is carried in another."""
        a, b = self.moves.get(one), self.moves.get(other)
        return a is not None and b is not None and (a[0] == b[0] or a[1] == b[0] or b[1] == a[0])

    def _goes_first(self, one: int, other: int) -> bool:
        """Whether what is said at a place comes first, before what is said at another one."""
        first, last = sorted((one, other))
        turned = any(first < m.start() < last for m in english.EARLIER.finditer(self.text))
        before = re.search(r"\bbefore\b(?! (?:that|this)\b)", self.text)
        turned = turned or (before is not None and before.start() < first)
        return (one < other) is not turned

    def _position(self, name: str) -> int | None:
        thing, place = self.moves[name]
        said = (m.at for m in self.said_moves if thing in m.what and place in m.where)
        return next(said, None)

    def _named_at(self, kind: str) -> int | None:
        return next((m.start for m in self.mentions if kind in self.kinds_of(m)), None)
