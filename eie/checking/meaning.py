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

from inhabit.eie.checking import english
from inhabit.eie.checking.goal_counts import GoalCounts
from inhabit.eie.checking.goal_places import GoalPlaces
from inhabit.eie.checking.nouns import NUMBERS, SceneNouns
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
class _Comparison(GoalCounts, GoalPlaces):
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
                treated = [kinds for at in said if (kinds := self.treated_at(at))]
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
