"""Checks the claims of generated texts against the state of a scene.

A request ("put a clean mug in the fridge") claims only that its objects exist; a statement ("the
fridge is closed") has to be true. What can't be parsed as a claim is accepted; a noun that no scene
of the environment has is rejected. `inhabit.envs.claims` is the lenient counterpart for the output
of agents: it leaves unknown nouns and states unjudged.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from inhabit.eie.checking.nouns import ObjectMention, SceneNouns, sources
from inhabit.envs.core import SceneObject
from inhabit.envs.template import Lexicon

_BE = r"(?:is|are|was|were|stands|lies|sits|rests|stays|remains|looks)"
_NOT = r"(?P<not>(?:\s+(?:not|no longer))|n't|n\u2019t)?"
_ADVERBS = r"(?:\s+(?:still|already|now|currently|right now|just|also|both|all|lying|standing))*"
_IN_HAND = re.compile(
    rf"\s+{_BE}{_NOT}{_ADVERBS}\s+(?:held|in (?:your|the|my|the agent's) hands?)\b"
)
_WHERE = re.compile(
    rf"(?:\s*,?\s*(?:which|that))?\s+{_BE}{_NOT}{_ADVERBS}\s+"
    r"(?P<where>in|on|inside|inside of|on top of|within)\s+$"
)
_YOU_HOLD = re.compile(
    r"\byou(?:'re| are)?(?P<not>(?: do not| don't| don\u2019t| are not| aren't| not))?"
    r"(?: already| now| still)?\s+(?:hold|holding|carry|carrying|have)(?: already| now)?\s+"
    r"(?P<article>a |an |the |one |your )?$"
)
_EMPTY_HANDED = re.compile(
    r"\byour hands? (?:is|are)(?P<not> not|n't)?(?: still| now)? (?:empty|free)\b"
    r"|\b(?:you (?:hold|have|are holding) nothing|nothing is) in your hands?\b"
    r"|\byou hold nothing\b"
)
_WISH = re.compile(
    r"^(?:please )?(?:put|place|find|move|bring|gather|look|examine|hold|pick|switch|take|wash|"
    r"rinse|clean|give|heat|warm|microwave|make|cool|chill|let|set|load|open|close|turn|go|walk|"
    r"slice|cut|get|drop|grab|keep|clear|do|tidy|leave|wipe|store)\b"
    r"|\b(?:should|want|wants|wanted|need|needs|needed|would like|belongs?|must|has to|have to|"
    r"can|could|will|would|may|might|so that|in order to|if|once|until|before|after|to be|"
    r"(?:asks?|asked|task is)(?: not)?(?: of)?(?: you)?(?: is)? (?:to|for)|"
    r"(?:that|making it|making them) takes)\b"
    r"|\b(?:craft|smelt|make)\s+(?:the|a|an|some)\b"
)
_OF_NO_USE = re.compile(r"\bnot (?:help|the moment)\b|\btake more steps\b")
"""Words in clauses on what need not be possible: "it does not help to craft the planks", "it would
take more steps to craft the planks"."""
_UNKNOWN = re.compile(
    r"(?<!\bfor )\b(?:the|a|an|your|two|three|four|no)\s+(?P<noun>[a-z][a-z-]+)\b"
)
_GENERAL = """
action agent answer apartment back bath bathroom bedroom best bit block blocks both bottom
breakfast cause ceiling chilled choice clean cleaned cleaning clear close closed cold cooled
cooling corner correct couple current dark day dinner dirty distance door each empty end evening
few film first flat floor following free front full goal good ground hall hand hands heated
heating here hold home hot hour house idea image instruction inventory item items job kitchen last
left lid light lit little living longer look lot lump lumps lunch main microwaved middle moment
moment's more morning most near nearest need new next night object objects of only open opened
order other others pack pair pairs part picture pictures piece pieces place plan point present
previous reach reason receptacle rest result right rinse rinsed robot room same scene seat second
shorter shortest sight single slice slices slicing small spot state step steps subgoal supper
surface switch table task thing things third time top try two view wall warm warmed wash washed
water way ways while whole window work wrong
"""
_GENERAL_WORDS = frozenset(_GENERAL.split())
"""Nouns that are not objects of a scene, and words that may precede them."""


def contradictions(
    text: str,
    things: Sequence[SceneObject],
    lexicon: Lexicon,
    *,
    wish: bool = False,
    got: Collection[str] = (),
) -> Sequence[str]:
    """The false claims of a text, a sentence each; empty if there are none.

    Args:
        text: with any number of sentences.
        things: in the scene.
        lexicon: of the environment.
        wish: whether the whole text is a request.
        got: kinds that are obtained on the way to the goal, and need not be there yet.
    """
    return list(dict.fromkeys(_Reader(things, lexicon, got).read(text, wish)))


class _Reader:
    def __init__(
        self, things: Sequence[SceneObject], lexicon: Lexicon, got: Collection[str]
    ) -> None:
        self._things = things
        self._got = got
        self._lexicon = lexicon
        self._nouns = SceneNouns(lexicon, {*(thing.kind for thing in things), *got})
        self._by_name = {thing.name: thing for thing in things}

    def read(self, text: str, wish: bool) -> Iterator[str]:
        for clause in _clauses(text):
            mentions = self._nouns.mentions(clause)
            wanted = wish or _wishes(clause, mentions)
            yield from self._unknown(clause, mentions)
            if _OF_NO_USE.search(clause):
                continue
            for mention in mentions:
                yield from self._exists(mention, wanted)
            if not wanted:
                yield from self._told(clause, mentions)

    def _told(self, clause: str, mentions: Sequence[ObjectMention]) -> Iterator[str]:
        for i, mention in enumerate(mentions):
            yield from self._adjectives(mention)
            yield from self._predicates(clause, mention)
            yield from self._in_hand(clause, mention)
            if i + 1 < len(mentions):
                yield from self._place(clause, mention, mentions[i + 1])
        empty = _EMPTY_HANDED.search(clause)
        held = next((t for t in self._things if t.held), None)
        if empty is not None and (held is None) == (empty["not"] is not None):
            yield f"It says {empty[0]!r}, and {held.name if held else 'nothing'} is held."

    def _meant(self, mention: ObjectMention) -> Sequence[SceneObject]:
        found = [t for t in self._things if t.kind == mention.kind]
        if mention.number is not None:
            found = [t for t in found if t.name.endswith(f"_{mention.number}")]
        return found

    def _exists(self, mention: ObjectMention, wanted: bool) -> Iterator[str]:
        found = sum(thing.count for thing in self._meant(mention))
        if mention.denied:
            if found and not wanted:
                yield f"It says that there is no {mention.kind}, and there is."
            return
        there = {thing.kind for thing in self._things}
        can_be_made = not there.isdisjoint(sources(mention.kind, self._lexicon))
        made = wanted and (mention.kind in self._got or can_be_made)
        if not found and not made:
            yield f"It speaks of {mention.kind!r}, which is not in the scene."
        elif mention.count is not None and mention.count > found and not made:
            yield f"It speaks of {mention.count} of {mention.kind!r}, and there are {found}."

    def _adjectives(self, mention: ObjectMention) -> Iterator[str]:
        for state, holds in mention.states:
            found = self._meant(mention)
            if mention.denied or not found:
                continue
            if not any(t.states.get(state) is holds for t in found):
                yield f"No {mention.kind} is {self._said(state, holds)}."

    def _predicates(self, clause: str, mention: ObjectMention) -> Iterator[str]:
        """Check a predicate after "is": "the fridge is closed and empty"."""
        match = re.match(
            rf"(?:\s*,?\s*(?:which|that|it))?\s+{_BE}{_NOT}{_ADVERBS}\s+(?P<state>{self._nouns.states})\b"
            r"(?! (?:the|a|an|one|top|your|its)\b)",
            clause[mention.end :],
        )
        if match is None or mention.denied:
            return
        state, holds = self._nouns.adjectives[match["state"]]
        holds = holds is (match["not"] is None)
        found = self._meant(mention)
        if found and not any(t.states.get(state) is holds for t in found):
            yield f"The {mention.kind} is not {self._said(state, holds)}."

    def _in_hand(self, clause: str, mention: ObjectMention) -> Iterator[str]:
        match = _IN_HAND.match(clause[mention.end :]) or _YOU_HOLD.search(clause[: mention.start])
        if match is None or mention.denied:
            return
        if any(t.held for t in self._meant(mention)) is not (match["not"] is None):
            isnt = "isn't" if match["not"] is None else "is"
            yield f"The {mention.kind} {isnt} held."

    def _place(self, clause: str, mention: ObjectMention, place: ObjectMention) -> Iterator[str]:
        between = re.sub(r"\b(?:the|a|an|one|this|that)\s+$", "", clause[mention.end : place.start])
        match = _WHERE.fullmatch(between)
        if match is None or mention.denied or place.denied:
            return
        places = {t.name for t in self._meant(place)}
        there = [t for t in self._meant(mention) if places & set(self._around(t))]
        wanted = mention.count or 1
        if (len(there) >= wanted) is not (match["not"] is None):
            isnt = "is not" if match["not"] is None else "is"
            yield f"The {mention.kind} {isnt} {match['where']} the {place.kind}."

    def _around(self, thing: SceneObject) -> Iterator[str]:
        """Names of all objects that it lies in or on, at any depth."""
        passed = {thing.name}
        support = thing.support
        while support is not None and support not in passed:
            yield support
            passed.add(support)
            outer = self._by_name.get(support)
            support = outer.support if outer is not None else None

    def _unknown(self, clause: str, mentions: Sequence[ObjectMention]) -> Iterator[str]:
        spans = [range(m.start, m.end) for m in mentions]
        for match in _UNKNOWN.finditer(clause):
            noun, at = match["noun"], match.start("noun")
            inside = any(at in span for span in spans)
            general = noun in _GENERAL_WORDS or noun in self._lexicon.places or noun.endswith("ly")
            if not inside and not general and noun not in self._nouns.adjectives:
                end = match.end()
                compound = any(
                    span.start > at and not clause[end : span.start].strip() for span in spans
                )
                if not compound:
                    yield f"It speaks of {noun!r}, which no scene has."

    def _said(self, state: str, holds: bool) -> str:
        return self._lexicon.states[state][0 if holds else 1]


def _wishes(clause: str, mentions: Sequence[ObjectMention]) -> bool:
    """Whether a clause asks for something; the "can" of a watering can does not.

    A noun at its start may be a verb: "microwave the apple".
    """
    for mention in mentions:
        if mention.start:
            blank = "_" * (mention.end - mention.start)
            clause = f"{clause[: mention.start]}{blank}{clause[mention.end :]}"
    return _WISH.search(clause) is not None


def _clauses(text: str) -> Iterator[str]:
    """Parts of sentences that claim one thing each, in lower case."""
    plain = re.sub(r"\s+", " ", text.lower())
    for part in re.split(r"[.;:!?]+|, (?:and|but|so|then|where) |, (?=the |your |it )", plain):
        if part.strip():
            yield part.strip()
