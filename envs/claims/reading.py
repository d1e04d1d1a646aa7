"""Reads the claims and intents of a clause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inhabit.envs.claims.claim import About, Claim, Intent, Noun
from inhabit.envs.claims.clauses import Clause, Mention
from inhabit.envs.claims.words import (
    COPULAS,
    DETERMINERS,
    DONE,
    ELSEWHERE,
    FLOORS,
    HANDS,
    HOLDING,
    INSIDE,
    NEGATIONS,
    NUMBERS,
    ON,
    PARTICLE_VERBS,
    PRONOUNS,
    SEEING,
    SELF,
    STATES,
    SWITCHED_ON,
    VERBS,
)

_PREPOSITIONS = INSIDE | ON | ELSEWHERE


class Facts:
    """The claims of one clause."""

    def __init__(self, clause: Clause) -> None:
        self._clause = clause
        self._tokens = clause.tokens[: clause.modal]
        self._mentions = [m for m in clause.mentions if m.start < clause.modal]

    def claims(self) -> Iterator[Claim]:
        """All claims, in no particular order."""
        if self._clause.hypothetical:
            return
        absent = self._absent()
        for mention in self._mentions:
            here = mention not in absent
            yield self._claim(About.PRESENCE, mention.noun, here)
            if here:
                yield from self._attributes(mention)
        if not absent or self._predicate_denied():
            yield from self._states()
            yield from self._places()
        yield from self._held()

    def _claim(self, about: About, subject: Noun | None, positive: bool = True) -> Claim:
        return Claim(self._clause.words, about, subject, positive)

    def _absent(self) -> list[Mention]:
        """Negated presence: "no mug", "I don't see any mug"."""
        tokens = self._tokens
        unseen = len(tokens)
        for i, token in enumerate(tokens):
            if token in SEEING and self._denied(max(0, i - 2), i + 3):
                unseen = min(unseen, i)
        return [m for m in self._mentions if m.start > unseen or "no" in tokens[: m.start][-2:]]

    def _predicate_denied(self) -> bool:
        """Whether "no" negates a state or place: "no cabinet is open"."""
        return not SEEING & set(self._tokens)

    def _denied(self, start: int, end: int) -> bool:
        return any(token in NEGATIONS for token in self._tokens[start:end])

    def _attributes(self, mention: Mention) -> Iterator[Claim]:
        """Attributes before a noun: "two dirty mugs"."""
        words = self._before(mention)
        for i, word in enumerate(words):
            if word in STATES:
                positive = "not" not in words[:i]
                yield Claim(self._clause.words, About.STATE, mention.noun, positive, STATES[word])
            number = NUMBERS.get(word, int(word) if word.isdecimal() and len(word) < 4 else None)
            if number:
                place, inside = self._place_after(mention)
                yield Claim(
                    self._clause.words,
                    About.COUNT,
                    mention.noun,
                    place=place,
                    inside=inside,
                    count=number,
                )

    def _before(self, mention: Mention) -> tuple[str, ...]:
        """Up to three words before a noun that modify it."""
        words: list[str] = []
        for word in reversed(self._tokens[max(0, mention.start - 3) : mention.start]):
            if word in _PREPOSITIONS or word in COPULAS or word in DETERMINERS - {"one"}:
                break
            words.insert(0, word)
        return tuple(words)

    def _place_after(self, mention: Mention) -> tuple[Noun | None, bool]:
        for i in range(mention.end, len(self._tokens)):
            if self._tokens[i] in INSIDE | ON and isinstance(there := self._target(i), Mention):
                return there.noun, self._tokens[i] in INSIDE
        return None, False

    def _states(self) -> Iterator[Claim]:
        """Predicates: "the lamp is not on", "has been sliced", "and off"."""
        tokens = self._tokens
        if (subject := self._subject()) is None or HANDS & set(tokens):
            return
        for i, token in enumerate(tokens):
            states = STATES.get(token)
            if token == "on" and self._target(i) is None:
                states = SWITCHED_ON
            linked = bool(COPULAS & set(tokens[max(0, i - 4) : i])) or len(tokens) <= 3
            if states and linked and not self._names_next(i):
                yield Claim(
                    self._clause.words, About.STATE, subject, not self._denied(0, i), states
                )

    def _names_next(self, i: int) -> bool:
        """Whether a noun follows, so that the word at `i` modifies it."""
        return any(m.start in (i + 1, i + 2) and i < m.start for m in self._mentions) and not (
            set(self._tokens[i + 1 : i + 2]) & (DETERMINERS | _PREPOSITIONS)
        )

    def _places(self) -> Iterator[Claim]:
        tokens = self._tokens
        for i, token in enumerate(tokens):
            if token not in INSIDE | ON or (target := self._target(i)) is None:
                continue
            subject = self._placed(i, target)
            if subject is None:
                continue
            positive = not self._denied(0, i)
            if target == "hand":
                yield self._claim(About.HELD, subject, positive)
                continue
            place = target.noun if isinstance(target, Mention) else None
            if target == "it" and (place := self._it(subject)) is None:
                continue
            yield Claim(
                self._clause.words,
                About.PLACE,
                subject,
                positive,
                place=place,
                inside=token in INSIDE,
            )

    def _target(self, i: int) -> Mention | str | None:
        """The object of the preposition at `i`: a noun, "hand", "floor", "it", or unknown."""
        for j in range(i + 1, min(i + 5, len(self._tokens))):
            token = self._tokens[j]
            for mention in self._mentions:
                if mention.start == j:
                    return mention
            if token in HANDS:
                return "hand"
            if token in FLOORS:
                return "floor"
            if token in PRONOUNS:
                return "it"
            if token == "front" or (token in _PREPOSITIONS and token != "of"):
                return None
            if token in COPULAS:
                return None
        return None

    def _placed(self, i: int, target: Mention | str) -> Noun | None:
        """The objects claimed to be in the place after the preposition at `i`."""
        before = [m for m in self._mentions if m.start < i]
        if before:
            return before[-1].noun
        after = [m for m in self._mentions if m.start > i and m is not target]
        if i == 0 and after:
            return after[0].noun
        return None if SELF & set(self._tokens[:i]) else self._clause.topic

    def _it(self, subject: Noun) -> Noun | None:
        near = [m.noun for m in reversed(self._mentions)]
        for noun in (*near, self._clause.topic, self._clause.other):
            if noun is not None and noun != subject:
                return noun
        return None

    def _subject(self) -> Noun | None:
        """The subject of the clause."""
        for mention in self._mentions:
            words = self._tokens[: mention.start]
            if not _PREPOSITIONS & set(words[-3:]):
                return mention.noun
        return None if SELF & set(self._tokens) else self._clause.topic

    def _held(self) -> Iterator[Claim]:
        """Claims about the hand: "I hold a mug", "my hands are empty", "my hand is full with the
        mug".
        """
        tokens = self._tokens
        words = set(tokens)
        if (
            HANDS & words
            and words & {"empty", "free"}
            and self._clause.modal == len(self._clause.tokens)
        ):
            yield self._claim(About.HELD, None, self._denied(0, len(tokens)))
        if not words & (SELF | HANDS):
            return
        for i, token in enumerate(tokens):
            if token not in HOLDING and not (token == "full" and HANDS & words):
                continue
            positive = not self._denied(0, i)
            following = [m for m in self._mentions if i < m.start <= i + 4]
            before = [m for m in self._mentions if m.end < i and tokens[m.end : i] == ("i",)]
            if following or before:
                yield self._claim(About.HELD, (following or before)[0].noun, positive)
            elif words & {"anything", "nothing"}:
                yield self._claim(About.HELD, None, False)


_AHEAD = 6
"""Maximum distance in words of the "on" in "switch the lamp on"."""


class Intents:
    """The intents of one clause."""

    def __init__(self, clause: Clause) -> None:
        self._clause = clause
        self._tokens = clause.tokens

    def intents(self) -> Iterator[Intent]:
        """All intents in order; "stop" if the clause says that nothing is left to do."""
        clause = self._clause
        if clause.hypothetical:
            return
        if any(done in clause.words for done in DONE):
            yield Intent(clause.words, "stop", ())
            return
        i = 0
        while i < len(self._tokens):
            verb, length = self._verb(i)
            if verb and self._is_due(i) and not self._denied(i):
                yield self._intent(verb, i, i + length)
            i += max(1, length)

    def _verb(self, i: int) -> tuple[str, int]:
        """The verb at `i` and its number of tokens; empty if there is none."""
        token = self._tokens[i]
        if token in PARTICLE_VERBS:
            for j in range(i + 1, min(i + _AHEAD, len(self._tokens))):
                if self._tokens[j] in ("on", "off"):
                    return f"switch {self._tokens[j]}", j - i + 1 if j == i + 1 else 1
        for length in (2, 1):
            if (found := VERBS.get(self._tokens[i : i + length])) is not None:
                return found, length
        return "", 0

    def _is_due(self, i: int) -> bool:
        """Whether the verb at `i` is an intent, not a state."""
        tokens = self._tokens
        if tokens[i] in STATES and i > 0 and tokens[i - 1] in DETERMINERS:
            return False
        return i >= self._clause.modal or tokens[i].endswith("ing")

    def _denied(self, i: int) -> bool:
        return any(token in NEGATIONS for token in self._tokens[max(0, i - 4) : i])

    def _intent(self, verb: str, start: int, end: int) -> Intent:
        before = [m for m in self._clause.mentions if m.end <= start]
        after = [m for m in self._clause.mentions if m.start >= end]
        subject = self._subject(before, start)
        moves = verb == "go to" and not SELF & set(self._tokens[:start])
        if subject is not None and (moves or self._is_passive(start)):
            nouns = [subject, *(m.noun for m in after[:1])]
            verb = "put" if moves else verb
        else:
            it = self._it(end, after)
            nouns = [*([] if it is None else [it]), *(m.noun for m in after)]
            if not nouns and (it := self._pronoun()) is not None:
                nouns = [it]
        places = 2 if verb == "put" else 1
        return Intent(self._clause.words, verb, tuple(nouns[:places]))

    def _is_passive(self, start: int) -> bool:
        return "be" in self._tokens[max(0, start - 2) : start]

    def _subject(self, before: list[Mention], start: int) -> Noun | None:
        if before:
            return before[0].noun
        return self._pronoun() if not SELF & set(self._tokens[:start]) else None

    def _it(self, end: int, after: list[Mention]) -> Noun | None:
        """The antecedent of a pronoun after the verb."""
        first = after[0].start if after else len(self._tokens)
        if PRONOUNS & set(self._tokens[end : min(first, end + 3)]):
            near = [m.noun for m in self._clause.mentions if m.end <= end]
            return _any_of(near) if near else self._pronoun()
        return None

    def _pronoun(self) -> Noun | None:
        """The antecedent of "it": whichever of the last two nouns fits."""
        topic, other = self._clause.topic, self._clause.other
        near = [noun for noun in (topic, other) if noun is not None]
        return _any_of(near) if near else None


def _any_of(nouns: Sequence[Noun]) -> Noun:
    """Whichever fits; numbers are dropped if several do."""
    if len(nouns) == 1:
        return nouns[0]
    return Noun("it", frozenset().union(*(noun.kinds for noun in nouns)))
