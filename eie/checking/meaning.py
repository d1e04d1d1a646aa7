"""Reads a goal back, and holds it against what the scene wants: an author may say something else.

What the scene wants is told by the events of its task: their wishes name the objects and places,
and what is done to them. A goal has to speak of each of them, of nothing else that could be moved
or treated, with the same numbers, destinations and order, and every word that changes a meaning
has to be licensed by the scene.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from inhabit.eie.checking.nouns import NUMBERS, ObjectMention, SceneNouns
from inhabit.envs.core import SceneObject
from inhabit.envs.template import ActionKind, Event, Lexicon
from inhabit.envs.world.words import is_plural, plural

_POLITE = re.compile(
    r"\b(?:(?:could|can|would|will) you(?: please| kindly| mind)?|do you mind|please|kindly|"
    r"for me|thank you|thanks|(?:i|we) (?:would like|want|need) you to|i'd like you to|"
    r"be so kind as to|(?:it would be \w+|i(?:'d| would) (?:be \w+|appreciate it)) if you "
    r"(?:could|would)|if you (?:can|could|would|don't mind|please)|if possible|"
    r"only (?=after|once|when)|or before|if it(?:'s| is) not too much trouble|"
    r"when(?:ever)? you (?:have time|can|get (?:a|the) chance))\b"
)
_CHANGING = re.compile(
    r"\b(?:not|never|no|nothing|nowhere|none|without|unless|except|until|only|instead|rather|"
    r"either|or|if|twice|thrice|again|three|four|five|six|seven|eight|nine|ten|(?<!it )all|every|"
    r"stop|avoid|refuse|forget|cannot|pretend|anything|anywhere|elsewhere|"
    r"leave (?:\w+ ){1,3}(?:alone|as|where|untouched|there))\b|n['\u2019]t\b"
)
"""Words that change what a goal means."""
_CONDITION = re.compile(
    r"\b(?P<word>if|should|in case|when|unless)\b(?P<between>[^,.;]*?)\b"
    r"(?:(?P<not>not)\s+)?(?P<state>dirty|filthy|clean|washed)\b"
)
_OTHERWISE = re.compile(r"\b(?:if not|otherwise|else)\b")
_FAMILIES: Mapping[str, re.Pattern[str]] = {
    "heat": re.compile(
        r"\b(?:(?:re|pre)?heat\w*|warm\w*|hot|cook\w*|microwaved?|boil\w*|toast(?:ed)?)\b"
    ),
    "cool": re.compile(r"\b(?:cool\w*|chill\w*|cold|refrigerated?|freeze|frozen)\b"),
    "wash": re.compile(r"\b(?:wash\w*|clean\w*|rins\w*|scrub\w*)\b"),
    "slice": re.compile(r"\b(?:slic\w*|cut\w*|chop\w*|pieces?)\b"),
    "light": re.compile(
        r"\b(?:(?:turn|switch)\w* (?:it |them )?on|light|lamp|watch\w*|listen\w*|examin\w*|"
        r"inspect\w*|look at)\b"
    ),
    "off": re.compile(r"\b(?:turn\w* (?:\w+ )?(?:off|out)|switch\w* (?:\w+ )?(?:off|out)|break)\b"),
}
"""What may be done to things, in the words that people have for it."""
_TREATED = ("heat", "cool", "wash")
"""Families of what is done to the thing that is moved."""
_ON_THE_WAY = (ActionKind.MAKE, ActionKind.GATHER, ActionKind.DROP)
"""Kinds of actions that a goal need not tell of, unless they are the last ones."""
_WISHED = {"turn on": "light", "turn off": "off"}
_APPLIANCES = frozenset(
    ("microwave", "fridge", "sink", "faucet", "knife", "butter knife", "stove burner", "toaster")
)
"""Things that a goal may name for what is done with them."""
_LEADS = frozenset(["in", "into", "on", "onto", "inside", "to", "upon", "atop", "within", "at"])
_PREPOSITION = re.compile(
    r"\b(?:in|into|on|onto|inside|to|upon|atop|within|at|from|out|off|with|containing|holding|next|"
    r"near|beside|by|close|across|left|right|above|below|under|underneath|beneath|behind|between|"
    r"opposite|front|along|using)\b"
)
_BESIDE = re.compile(
    r"\b(?:next to|near(?: to)?|beside|by|close to|of|across from|left|right|above|below|under|"
    r"behind|between|from|opposite|over|with|along)\s+(?:\w+\s+){0,3}$"
)
"""What comes before a thing that only tells where another one is."""
_SWITCHED = re.compile(r"\b(?:turn|switch|flick|flip|power|click|put)\w*\s+on\s+(?:\w+\s+){0,2}$")
_NUMBERED = re.compile(rf"\b({'|'.join(NUMBERS)}|pair|couple)\s+(?:of\s+)?(?:\w+\s+)?$")
_TOGETHER = re.compile(r"\s*(?:,|and|as well as|plus|along with)(?:\s+(?:the|an?|both))*\s*$")
_PRONOUN = re.compile(r"\b(?:it|them|that|this)\b")
_ORDER = re.compile(
    r"\b(?:then|first|after\w*|before\w*|once|when|next|finally|followed|later|as soon as|last)\b"
)
_STRICT = re.compile(r"\b(?:first|before|once|after(?:ward)?s?)\b")
_EARLIER = re.compile(
    r"\b(?:after|once|when|as soon as)\b(?!\s*(?:that|this|which|it|doing so)\b(?! is| has))"
)
"""Begins a clause on what comes first, whatever its place in the sentence."""


def misread(
    goal: str,
    events: Sequence[Event],
    things: Sequence[SceneObject],
    lexicon: Lexicon,
    *,
    conditional: bool = False,
) -> str:
    """What a goal says that the scene does not want, or leaves out; empty if they agree.

    Args:
        goal: in an author's words.
        events: of the task, by the environment's template; without any, nothing is checked.
        things: in the scene.
        lexicon: of the environment.
        conditional: whether the scene's goal is to wash something if it is dirty.
    """
    if not events:
        return ""
    text = re.sub(r"\s+", " ", _POLITE.sub(" ", goal.lower()))
    if conditional:
        text, why = _unconditional(text)
        if why:
            return why
    if (word := _CHANGING.search(text)) is not None:
        return f"The goal says {word[0]!r}, and the scene wants nothing like it."
    goal_ = _Goal(text, events, SceneNouns(lexicon, {thing.kind for thing in things}), lexicon)
    checks = (goal_.counts, goal_.nouns, goal_.places, goal_.order)
    return goal_.families(conditional) or next((why for check in checks if (why := check())), "")


def _unconditional(text: str) -> tuple[str, str]:
    """The text without its condition, and what is wrong with that."""
    found = _CONDITION.search(text)
    if found is None:
        return text, "The scene's goal depends on a condition, and the goal names none."
    opposite = (found["word"] == "unless") is (found["not"] is None)
    if (found["state"] in ("dirty", "filthy")) is opposite and not _OTHERWISE.search(text):
        return text, f"The goal's condition, {found[0]!r}, is the opposite of the scene's."
    left = f"{text[: found.start()]}{found['between']}{text[found.end() :]}"
    return _OTHERWISE.sub(" ", left), ""


@dataclass(frozen=True)
class _Goal:
    """A goal's words beside the events of its scene."""

    text: str
    events: Sequence[Event]
    known: SceneNouns
    lexicon: Lexicon

    @cached_property
    def mentions(self) -> Sequence[ObjectMention]:
        return self.known.mentions(self.text)

    @cached_property
    def _led(self) -> Sequence[tuple[ObjectMention, str]]:
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
            for kind in self._named(event):
                found.setdefault(kind, event.action_kind is ActionKind.TAKE)
        return found

    @cached_property
    def moves(self) -> Mapping[str, tuple[str, str]]:
        """Names of the events that put something down -> what, and where; without products."""
        found = {}
        for event in self.events:
            named = self._named(event)
            if event.action_kind is ActionKind.PUT and len(named) > 1:
                found[event.name] = (self._source(named[0]), named[-1])
        return found

    @cached_property
    def _got(self) -> Sequence[Event]:
        """The events that make or gather something that no other event needs."""
        needed = {need for event in self.events for need in event.needs}
        return [e for e in self.events if e.action_kind in _ON_THE_WAY and e.name not in needed]

    def families(self, conditional: bool) -> str:
        """What is to be done that the scene does not want, or the other way round."""
        wished = {self._verb(event): event for event in self.events}
        if conditional:
            wished.setdefault("wash", self.events[0])
        plain = self.text
        for mention in reversed(self.mentions):
            noun = self.text[mention.start : mention.end]
            if not re.match(r"(?:sliced?|clean|dirty|hot|cold)\b", noun) and "lamp" not in noun:
                plain = plain[: mention.start] + " " * len(noun) + plain[mention.end :]
        for family, words in _FAMILIES.items():
            said = [match.end() for match in words.finditer(plain)]
            if said and family not in wished:
                return f"The goal wants to {family} something, and the scene does not."
            if family not in wished:
                continue
            if not said and not words.search(self.text):
                return f"The scene wants to {family} something, and the goal does not say so."
            thing = self._source(next(iter(self._named(wished[family])), ""))
            if said and thing and family in _TREATED:
                treated = [kinds for at in said if (kinds := self._treated(at))]
                if treated and not any(thing in kinds for kinds in treated):
                    return f"The goal does not want to {family} the {thing}."
        return ""

    def _verb(self, event: Event) -> str:
        found = re.match(r"turn (?:on|off)\b|\w+", event.wish)
        return _WISHED.get(found[0], found[0]) if found is not None else ""

    def _treated(self, at: int) -> frozenset[str]:
        """What a word of treatment that ends there is about."""
        known = {*map(self._source, self.wanted)}
        after = next((m for m in self.mentions if m.end > at and self._kinds(m) & known), None)
        if after is not None:
            between = self.text[at : max(at, after.start)]
            if not _PRONOUN.search(between) and _leads(between) is None:
                return self._kinds(after)
        earlier = (m for m in reversed(self.mentions) if m.start < at and self._is_taken(m))
        return next(map(self._kinds, earlier), frozenset())

    def counts(self) -> str:
        """A number of things that the scene does not want."""
        another = re.search(r"\b(?:another|second|the other)\b", self.text) is not None
        for kind, count in self.taken.items():
            said = [self._count(m) for m in self.mentions if self._source(kind) in self._kinds(m)]
            most = max((n for n in said if n is not None), default=1)
            if count > 1 and most == 1 and another:
                most = count
            if said and most != count:
                return f"The scene wants {count} of {kind!r}, and the goal speaks of {most}."
        for mention in (m for event in self._got for m in self.known.mentions(event.wish.lower())):
            said = [m.count for m in self.mentions if mention.kind in self._kinds(m)]
            if (mention.count or 1) not in {count or 1 for count in said or [mention.count]}:
                return f"The scene wants {mention.count or 1} of {mention.kind!r}."
        rest = re.sub(r"\bboth (?:the |an? )?\w+(?: \w+)? and\b", " ", self.text)
        if max(self.taken.values(), default=2) == 1 and re.search(
            r"\b(?:two|both|another|second|pair of)\b(?! (?:things|tasks|goals))", rest
        ):
            return "The goal speaks of two things of a kind, and the scene wants one."
        return ""

    def _count(self, mention: ObjectMention) -> int | None:
        if mention.count is not None:
            return mention.count
        if (found := _NUMBERED.search(self.text[: mention.start])) is not None:
            return NUMBERS.get(found[1], 2)
        noun, kind = self.text[mention.start : mention.end], mention.kind
        many = noun.endswith((plural(kind), f"{kind}s")) and not is_plural(kind)
        return 2 if many and kind not in self.lexicon.products else None

    def nouns(self) -> str:
        """What is named that the scene's goal is not about, or not named that it is about."""
        said = {kind for mention in self.mentions for kind in self._kinds(mention)}
        between = {
            kind for e in self.events if e.action_kind in _ON_THE_WAY for kind in self._named(e)
        } - {kind for event in self._got for kind in self._named(event)}
        for kind in (kind for kind in self.wanted if kind not in between):
            if kind not in said and self._source(kind) not in said:
                return f"The scene wants something of the {kind}, and the goal does not name it."
        known = {*self.wanted, *map(self._source, self.wanted)}
        if any(event.action_kind in (ActionKind.OPEN, ActionKind.CLOSE) for event in self.events):
            known.add("door")
        for mention in self.mentions:
            kinds, before = self._kinds(mention), self.text[: mention.start]
            ours = kinds & known
            if not ours and not kinds & _APPLIANCES and not _BESIDE.search(before):
                return (
                    f"The goal speaks of the {mention.kind}, and the scene's goal is not about it."
                )
            out = re.search(r"\b(?:from|out of|off)\s+(?:\w+\s+){0,3}$", before)
            if out and any(not self.wanted.get(kind, True) for kind in ours):
                return (
                    f"The goal takes something out of the {mention.kind}, where the scene wants it."
                )
        return ""

    def places(self) -> str:
        """Whether everything goes where the scene wants it, and nothing goes elsewhere."""
        moves = {*self.moves.values()}
        for thing, place in moves:
            carried = {thing, *(inner for inner, holder in moves if holder == thing)}
            if not any(carried & what and place in where for _, what, where in self._said_moves):
                return f"The goal does not say that the {thing} goes to the {place}."
        within = {(thing, end) for thing, holder in moves for h, end in moves if h == holder}
        for _, what, where in self._said_moves:
            ends = {place for _, place in moves} & where
            if ends - _APPLIANCES and not any(
                (thing, place) in moves | within for thing in what for place in ends
            ):
                return f"The goal puts the {min(what)} at the {min(ends)}, and the scene does not."
        return ""

    @cached_property
    def _said_moves(self) -> Sequence[tuple[int, frozenset[str], frozenset[str]]]:
        """Where in the text something is put somewhere: what, and where."""
        ends = {place for _, place in self.moves.values()}
        found, now, waiting = [], list[frozenset[str]](), list[ObjectMention]()
        follows = False  # whether the mention before is of what is taken, too
        for mention, between in self._led:
            kinds, word = self._kinds(mention), _leads(between)
            if kinds & ends and word in _LEADS:
                found += [(mention.start, one, kinds) for one in now]
                waiting += [] if now else [mention]
                follows = False
            elif self._is_taken(mention):
                if word in ("with", "containing", "holding") and now:
                    found.append((mention.start, kinds, now[-1]))
                    continue
                now = [*now, kinds] if follows and _TOGETHER.match(between) else [kinds]
                follows = True
                found += [(one.start, kinds, self._kinds(one)) for one in waiting]
                waiting = []
        return found

    def order(self) -> str:
        """Whether what the scene wants in an order is said in that order."""
        lamps = [event for event in self.events if self._verb(event) == "light"]
        for lamp in lamps:
            for between in (b for m, b in self._led if lamp.thing in self._kinds(m)):
                leads = _leads(between) in _LEADS - {"to", "at"} and "light" not in between
                if leads and not _SWITCHED.search(between):
                    return f"The goal puts something on the {lamp.thing}, which is to be turned on."
        placed = {n: at for n in self.moves if (at := self._position(n)) is not None}
        placed |= {e.name: at for e in lamps if (at := self._named_at(e.thing)) is not None}
        ordered = False
        for one, other in combinations(placed, 2):
            if self._is_one_matter(one, other):
                continue
            if other in self._before(one):
                one, other = other, one
            if one in self._before(other):
                ordered = True
                if self._goes_first(placed[one], placed[other]) is False:
                    return "The goal wants things in another order than the scene."
            elif _STRICT.search(self.text):
                return "The goal wants things in an order, and the scene does not."
        if ordered and not _ORDER.search(self.text):
            return "The scene wants things in an order, and the goal does not say so."
        return ""

    def _is_one_matter(self, one: str, other: str) -> bool:
        """Whether two events are about things of a kind, or about what is carried in another."""
        a, b = self.moves.get(one), self.moves.get(other)
        return a is not None and b is not None and (a[0] == b[0] or a[1] == b[0] or b[1] == a[0])

    def _goes_first(self, one: int, other: int) -> bool:
        """Whether what is said at a place comes first, before what is said at another one."""
        first, last = sorted((one, other))
        turned = any(first < m.start() < last for m in _EARLIER.finditer(self.text))
        before = re.search(r"\bbefore\b(?! (?:that|this)\b)", self.text)
        turned = turned or (before is not None and before.start() < first)
        return (one < other) is not turned

    def _before(self, name: str) -> frozenset[str]:
        """The events that an event needs, and those that these need."""
        by_name = {event.name: event for event in self.events}
        found, left = set[str](), [name]
        while left:
            event = by_name.get(left.pop())
            needs = [n for n in (event.needs if event else ()) if n not in found]
            found |= {*needs}
            left += needs
        return frozenset(found)

    def _position(self, name: str) -> int | None:
        thing, place = self.moves[name]
        at = (at for at, what, where in self._said_moves if thing in what and place in where)
        return next(at, None)

    def _named_at(self, kind: str) -> int | None:
        return next((m.start for m in self.mentions if kind in self._kinds(m)), None)

    def _is_taken(self, mention: ObjectMention) -> bool:
        return not self._kinds(mention).isdisjoint(map(self._source, self.taken))

    @cached_property
    def taken(self) -> Counter[str]:
        """How many of each kind are picked up."""
        taking = (e for e in self.events if e.action_kind is ActionKind.TAKE)
        return Counter(kind for event in taking for kind in self._named(event)[:1])

    def _named(self, event: Event) -> Sequence[str]:
        return [mention.kind for mention in self.known.mentions(event.wish.lower())]

    def _source(self, kind: str) -> str:
        return self.lexicon.products.get(kind, kind)

    def _kinds(self, mention: ObjectMention) -> frozenset[str]:
        """The kinds that a name may mean, and what they are made of."""
        noun = re.sub(
            r"^(?:no|any|one|two|both|a|an|the)\s+", "", self.text[mention.start : mention.end]
        )
        kinds = self.lexicon.called.get(noun, frozenset()) | {mention.kind}
        return kinds | {*map(self._source, kinds)}


def _leads(between: str) -> str | None:
    """The last preposition of a text."""
    found: Iterator[re.Match[str]] = _PREPOSITION.finditer(between)
    return next((match[0] for match in reversed([*found])), None)
