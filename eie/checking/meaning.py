"""Reads a goal back, and holds it against what the scene wants: an author may say something else.

What the scene wants is told by the events of its task: their wishes name the objects and places,
and what is done to them. A goal has to speak of each of them, of nothing else that could be moved
or treated, with the same numbers, destinations and order, and every word that changes a meaning
has to be licensed by the scene.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from inhabit.eie.checking import english
from inhabit.eie.checking.goal_text import GoalText, last_preposition
from inhabit.eie.checking.nouns import NUMBERS, ObjectMention, SceneNouns
from inhabit.envs.claims import name_and_number
from inhabit.envs.core import SceneObject
from inhabit.envs.template import ActionKind, Event, Lexicon


def misread(
    goal: str,
    events: Sequence[Event],
    things: Sequence[SceneObject],
    lexicon: Lexicon,
    *,
    conditional: bool = False,
    plain: bool = False,
) -> str:
    """What a goal says that the scene does not want, or leaves out; empty if they agree.

    Args:
        goal: in an author's words.
        events: of the task, by the environment's template; without any, nothing is checked.
        things: in the scene.
        lexicon: of the environment.
        conditional: whether the scene's goal is to wash something if it is dirty.
        plain: whether the goal is in plain steps, so that each of its words has to be known.
    """
    if not events:
        return ""
    text = _impolite(goal)
    if conditional:
        text, why = _unconditional(text)
        if why:
            return why
    if english.NO_WISH.match(text):
        return "The goal asks or tells for a fact, and wishes nothing."
    plainly = SceneNouns(lexicon)
    text = english.BRIEFLY.sub(r"\1", english.PURPOSE.sub(" ", text))
    text = _with_products(text, plainly)
    wished = {m.kind for event in events for m in plainly.mentions(event.wish.lower())}
    nouns = SceneNouns(lexicon, {*wished, *(thing.kind for thing in things)})
    goal_ = _Comparison(text, events, nouns, lexicon, {thing.name: thing for thing in things})
    for word in english.CHANGING.finditer(text):
        if word[0] not in goal_.licensed:
            return f"The goal says {word[0]!r}, and the scene wants nothing like it."
    checks = (goal_.counts, goal_.nouns, goal_.places, goal_.rooms, goal_.origins, goal_.order)
    why = goal_.families(conditional) or next((why for check in checks if (why := check())), "")
    return why or goal_.words(plain)


def changing_words(goal: str) -> Sequence[str]:
    """The words of a goal that may change what it means, such as "not", in order."""
    text = english.PURPOSE.sub(" ", _impolite(goal))
    return [re.sub("n['\u2019]t", "not", word) for word in english.CHANGING.findall(text)]


def unknown_words(steps: str, lexicon: Lexicon, known: str) -> Sequence[str]:
    """The words of plain steps that no scene explains, in order, each once.

    Args:
        steps: as a reader of goals words them.
        lexicon: of the environment.
        known: a text of words that a scene may explain, such as verbs.
    """
    text = re.sub(r"\w+n['\u2019]t\b", "not", _impolite(steps))
    neutral = english.PLAIN_WORDS | lexicon.places | {"do", *re.findall(r"\w+", known.lower())}
    nouns = [range(m.start, m.end) for m in SceneNouns(lexicon).mentions(text)]
    told = [*english.FAMILIES.values(), *english.TOLD.values(), english.CHANGING, english.ROOM]
    told += [english.PREPOSITION, english.ORDER]
    unknown = (
        found["word"]
        for found in english.WORD.finditer(text)
        if found["word"] not in neutral
        and not any(found.start() in noun for noun in nouns)
        and not any(words.match(text, found.start()) for words in told)
    )
    return [*dict.fromkeys(unknown)]


def _impolite(goal: str) -> str:
    return re.sub(r"\s+", " ", english.POLITE.sub(" ", goal.lower()))


def _with_products(text: str, nouns: SceneNouns) -> str:
    """The text with "get some cooked mutton" for "cook some mutton"."""
    for mention in reversed(nouns.mentions(text)):
        before = english.COOKED.search(text[: mention.start])
        cooked = f"cooked {mention.kind}"
        plainly = mention.count is None and not mention.denied
        if before is not None and plainly and nouns.known(cooked) == cooked:
            got = f"get {before['which']}{cooked}"
            text = f"{text[: before.start()]}{got}{text[mention.end :]}"
    return text


def _unconditional(text: str) -> tuple[str, str]:
    """The text without its condition, and what is wrong with that."""
    found = english.CONDITION.search(text)
    if found is None:
        return text, "The scene's goal depends on a condition, and the goal names none."
    opposite = (found["word"] == "unless") is (found["not"] is None)
    if (found["state"] in ("dirty", "filthy")) is opposite and not english.OTHERWISE.search(text):
        return text, f"The goal's condition, {found[0]!r}, is the opposite of the scene's."
    left = f"{text[: found.start()]}{found['between']}{text[found.end() :]}"
    return english.OTHERWISE.sub(" ", left), ""


@dataclass(frozen=True)
class _Comparison(GoalText):
    """Each check says what is wrong, or nothing."""

    @cached_property
    def licensed(self) -> frozenset[str]:
        """Words of number that the scene agrees with; `counts` sees whose number it is."""
        wishes = " ".join(event.wish.lower() for event in self.events)
        every = any(n > 1 and n == self.there.get(kind) for kind, n in self.switched.items())
        words = {*re.findall(r"\w+", wishes)} | ({"all", "every", "each"} if every else set())
        if any(other in self.needed_by(one) for one in self.moves for other in self.moves):
            words.add("only")  # "only after"
        if 2 in self.taken.values():
            words.add("second")
        if self.got:
            words |= {"until", "till"}
        return frozenset(words | {w for w, n in NUMBERS.items() if n in self.switched.values()})

    def families(self, conditional: bool) -> str:
        """What is to be done that the scene does not want, or the other way round."""
        wished = {self.verb_of(event): event for event in self.events}
        if conditional:
            wished.setdefault("wash", self.events[0])
        plain = self.text
        for mention in reversed(self.mentions):
            noun = self.text[mention.start : mention.end]
            if not re.match(r"(?:sliced?|clean|dirty|hot|cold)\b", noun) and "lamp" not in noun:
                plain = plain[: mention.start] + " " * len(noun) + plain[mention.end :]
        by_itself = any(english.FAMILIES[family].search(plain) for family in self.done_by)
        seated = any(event.action_kind is ActionKind.OTHER for event in self.events)
        skipped = {
            "slice": self.got,  # A log is chopped, and coal comes in pieces.
            "heat": any("cooked" in kind for event in self.got for kind in self.named_in(event)),
            "light": by_itself,  # What heats is on.
            "read": seated or "light" in wished,
        }
        for family, words in english.FAMILIES.items():
            if skipped.get(family):
                continue
            said = [match.end() for match in words.finditer(plain)]
            if said and family not in {*wished, *self.done_by}:
                return f"The goal wants to {family} something, and the scene does not."
            if family not in wished:
                continue
            if not said and not words.search(self.text):
                return f"The scene wants to {family} something, and the goal does not say so."
            thing = self.source(next(iter(self.named_in(wished[family])), ""))
            if said and thing and family in english.TREATED:
                treated = [kinds for at in said if (kinds := self._treated(at))]
                if treated and not any(thing in kinds for kinds in treated):
                    return f"The goal does not want to {family} the {thing}."
        switched = [match.end() for match in english.SWITCHES.finditer(self.text)]
        if self.switched and (other := self._done_besides(switched, {*self.switched})):
            return f"The goal turns the {other} on or off, and the scene does not."
        return self._told(wished)

    def _told(self, wished: Mapping[str, Event]) -> str:
        """Whether the goal has the verbs that the scene wants, and "use" only if it does."""
        others = {
            verb: re.compile(
                rf"\b{re.escape(verb.removesuffix('e'))}(?!s?\b)|\b{re.escape(verb)}s?\b"
            )
            for verb, event in wished.items()
            if event.action_kind is ActionKind.OTHER and verb not in english.FAMILIES
        }
        for verb, words in {**others, **english.TOLD}.items():
            event = wished.get(verb)
            if event is None:
                continue
            if event.action_kind is not ActionKind.OTHER and self.switched.keys() & self.named_in(
                event
            ):
                continue  # "Heat it in the microwave" puts it there, and closes that.
            bare = english.BARE.match(self.text[: next((m.start for m in self.mentions), 0)])
            if (verb == "put" and self.got) or (verb in ("put", "get") and bare):
                continue  # A station is put down on the way, and "the cup on the table" says it.
            said = [match.end() for match in words.finditer(self.text)]
            if not said:
                return f"The scene wants to {verb} something, and the goal does not say so."
            if verb == "close" and (why := self._closed(said)):
                return why
        if "use" not in wished and re.search(r"\bus(?:e|ing) (?:it|them)\b", self.text):
            return "The goal wants something used, and the scene does not."
        return ""

    def _closed(self, said: Sequence[int]) -> str:
        """Whether what is closed, at these places in the text, is wanted closed, and stays so."""
        closing = (e for e in self.events if e.action_kind is ActionKind.CLOSE)
        wanted = {kind for event in closing for kind in self.named_in(event)} | {"door"}
        if other := self._done_besides(said, wanted):
            return f"The goal closes the {other}, and the scene does not."
        opened = re.search(r"\bopen", self.text[said[-1] :])
        if opened or re.search(r"\bafter (?:\w+ ){0,3}(?:clos|shut)", self.text):
            return "The goal wants something open that the scene wants closed."
        return ""

    def _done_besides(self, said: Sequence[int], wanted: Set[str]) -> str:
        """The kind that stands right after one of these places in the text and is not wanted."""
        for at in said:
            about = next((m for m in self.mentions if m.start >= at), None)
            if about is None or not english.BARE.fullmatch(self.text[at : about.start]):
                continue
            if self.kinds_of(about).isdisjoint(wanted):
                return about.kind
        return ""

    def _treated(self, at: int) -> frozenset[str]:
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

    def words(self, plain: bool) -> str:
        """A verb for what the scene does not want; in plain steps, any other word."""
        named = {*map(self.verb_of, self.events), *self.done_by}
        words = [r for v, r in (*english.FAMILIES.items(), *english.TOLD.items()) if v in named]
        known = [*words, english.PREPOSITION, english.ORDER]
        nouns = [range(mention.start, mention.end) for mention in self.mentions]
        neutral = self.licensed | (
            english.PLAIN_WORDS | self.lexicon.places if plain else english.NEUTRAL_WORDS
        )
        neutral |= {word for room in self.room_of.values() for word in (*room.split(), f"{room}s")}
        for found in (english.WORD if plain else english.BEGINS).finditer(self.text):
            word, at = found["word"], found.start("word")
            if word in neutral or (word.endswith("ly") and not plain):
                continue
            if any(at in noun for noun in nouns) or any(r.match(self.text, at) for r in known):
                continue
            return f"The goal says {word!r}, and nothing in the scene explains it."
        return ""

    def counts(self) -> str:
        """A number of things that the scene does not want."""
        checks = (self._taken_counts, self._made_counts, self._beside_made, self._given_up)
        if why := next((why for check in (*checks, self._switched_counts) if (why := check())), ""):
            return why
        rest = english.BOTH.sub(" ", self.text)
        if max(self.taken.values(), default=2) == 1 and english.TWO.search(rest):
            return "The goal speaks of two things of a kind, and the scene wants one."
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
        made = [m for m in self.mentions if m.kind in {one.kind for one in self._made}]
        if not made:
            return ""
        begin, end = (getattr(max(made, key=lambda m: m.end), name) for name in ("start", "end"))
        undone = english.GIVEN_UP.search(self.text, end)
        if undone and not any(end < m.start < undone.start() for m in self.mentions):
            return "The goal wants what it gets put down, or burnt."
        stored = english.STORED.search(self.text[:begin])
        for mention, between in self.led if stored else ():
            if mention.start > end and last_preposition(between) in english.LEADS:
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

    def nouns(self) -> str:
        """What is named that the scene's goal is not about, or not named that it is about."""
        said = {kind for mention in self.mentions for kind in self.kinds_of(mention)}
        between = {
            kind
            for e in self.events
            if e.action_kind in english.ON_THE_WAY
            for kind in self.named_in(e)
        } - {kind for event in self.got for kind in self.named_in(event)}
        for kind in (kind for kind in self.wanted if kind not in between):
            if kind not in said and (self.got or self.source(kind) not in said):
                return f"The scene wants something of the {kind}, and the goal does not name it."
        known = {*self.wanted, *map(self.source, self.wanted)}
        if any(event.action_kind in (ActionKind.OPEN, ActionKind.CLOSE) for event in self.events):
            known.add("door")
        origins = {place.start for _, place, told in self.said_origins if told}
        for mention in self.mentions:
            kinds, before = self.kinds_of(mention), self.text[: mention.start]
            meant = self.numbers.get(mention.kind, {mention.number})
            aside = mention.start in origins or english.BESIDE.search(before)
            if not aside and mention.number is not None and mention.number not in meant:
                return f"The scene wants another {mention.kind} than number {mention.number}."
            ours = ({mention.kind} if self.got else kinds) & known
            tool = kinds & self.means and not english.ASIDE.match(self.text, mention.end)
            if not ours and not tool and not aside:
                return (
                    f"The goal speaks of the {mention.kind}, and the scene's goal is not about it."
                )
            out = re.search(
                r"\b(?:from|out of|(?<!turn )(?<!turned )(?<!switch )(?<!switched )off)\s+"
                r"(?:\w+\s+){0,3}$",
                before,
            )
            if out and not self.got and any(not self.wanted.get(kind, True) for kind in ours):
                return (
                    f"The goal takes something out of the {mention.kind}, where the scene wants it."
                )
        return ""

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
        """Whether something is treated after it is put where it stays.

        Args:
            placed: names of events, and where in the text they are told.
        """
        wished = {*map(self.verb_of, self.events)}
        for said in english.LATER.finditer(self.text, min(placed.values(), default=len(self.text))):
            kinds = self._treated(said.end())
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
