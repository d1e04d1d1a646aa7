"""Whether a goal speaks of as many things as its scene wants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from inhabit.eie.checking import english
from inhabit.eie.checking.goal_text import GoalText, last_preposition
from inhabit.eie.checking.nouns import NUMBERS, ObjectMention


@dataclass(frozen=True)
class GoalCounts(GoalText):
    """Each check says what is wrong, or nothing."""

    def counts(self) -> str:
        """A number of things that the scene does not want."""
        checks = (self._taken_counts, self._made_counts, self._beside_made, self._given_up)
        if why := next((why for check in (*checks, self._switched_counts) if (why := check())), ""):
            return why
        rest = english.BOTH.sub(" ", self.text)
        if max(self.taken.values(), default=2) == 1 and english.TWO.search(rest):
            return "The goal speaks of two things of a kind, and the scene wants one."
        wanted = (*self.taken.items(), *self.switched.items())
        several = {name for kind, n in wanted if n > 1 for name in (kind, self.source(kind))}
        for mention in self.mentions if wanted else ():
            second = english.SECOND.search(self.text[: mention.start])
            if second and several.isdisjoint(self.kinds_of(mention)):
                return f"The goal speaks of another {mention.kind}, and the scene does not."
        return ""

    def _taken_counts(self) -> str:
        """Of what is picked up."""
        for kind, count in self.taken.items():
            said = [
                self.count_of(m) for m in self.mentions if self.source(kind) in self.kinds_of(m)
            ]
            if kind in self.lexicon.products:
                said += [NUMBERS.get(match[1], 2) for match in english.OF_IT.finditer(self.text)]
            numbers = {m.number for m in self.mentions if kind in self.kinds_of(m)}
            origins = {
                (p.kind, p.number) for m, p, _ in self.said_origins if kind in self.kinds_of(m)
            }
            told = max((n for n in said if n is not None), default=1)
            most = max(told, len(numbers), len(origins))
            first = next((m.end for m in self.mentions if kind in self.kinds_of(m)), 0)
            if count > 1 and most == 1 and english.ANOTHER.search(self.text, first):
                most = count
            if said and most != count:
                return f"The scene wants {count} of {kind!r}, and the goal speaks of {most}."
        return ""

    @cached_property
    def _made(self) -> Sequence[ObjectMention]:
        """What is made or gathered in the end, as the wishes mention it."""
        return [m for event in self.got for m in self.known.mentions(event.wish.lower())]

    def _made_counts(self) -> str:
        """Of what is made or gathered."""
        for made in self._made:
            said = [self.count_of(m) for m in self.mentions if made.kind in self.kinds_of(m)]
            if (made.count or 1) not in {count or 1 for count in said or [made.count]}:
                return f"The scene wants {made.count or 1} of {made.kind!r}."
        return ""

    def _beside_made(self) -> str:
        """A number, or something else, of what is not made or gathered in the end."""
        made = {mention.kind for mention in self._made}
        last = max((m.end for m in self.mentions if m.kind in made), default=len(self.text))
        others = [m for m in self.mentions if m.kind not in made] if made else []
        for mention in others:
            if (self.count_of(mention) or 1) > 1:
                return f"The goal wants a number of {mention.kind!r}, and the scene does not."
        for mention in others:
            between = self.text[last : mention.start]
            if between and mention.kind in self.wanted and not english.SOURCE.search(between):
                return f"The goal wants something of the {mention.kind} besides."
        return ""

    def _given_up(self) -> str:
        """What is made, and then put somewhere, or burnt."""
        kinds = {one.kind for one in self._made}
        made = next((m for m in reversed(self.mentions) if m.kind in kinds), None)
        if made is None:
            return ""
        undone = english.GIVEN_UP.search(self.text, made.end)
        if undone and not any(made.end < m.start < undone.start() for m in self.mentions):
            return "The goal wants what it gets put down, or burnt."
        stored = english.STORED.search(self.text[: made.start])
        for mention, between in self.led if stored else ():
            if mention.start > made.end and last_preposition(between) in english.LEADS:
                return f"The goal puts something at the {mention.kind}."
        return ""

    def _switched_counts(self) -> str:
        """Of what is turned on or off."""
        every = english.EVERY.search(self.text)
        for kind, count in self.switched.items():
            ours = [m for m in self.mentions if kind in self.kinds_of(m)]
            many = (self.count_of(m) or 1 for m in ours)
            rooms = self.rooms_of({kind})
            all_rooms = rooms and rooms <= {room for _, room in self.said_rooms}
            if count > 1 and not every and count not in many and not (ours and all_rooms):
                return f"The scene wants {count} of {kind!r}, and the goal does not say so."
        return ""
