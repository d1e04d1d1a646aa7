"""Notes and actions as numbers: what `network.py` reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from agents.models.ranker.reading import SLOTS, VERBS, Deed, Noted

_GO, _TAKE, _PUT, _OPEN = (VERBS.index(v) for v in ("go to", "pick up", "put", "open"))
_LOOKS = (VERBS.index("look around"), VERBS.index("explore"))
USES = tuple(VERBS.index(v) for v in ("turn on", "close", "put"))
"""What is remembered of every noun, whether the goal speaks of it or not: that is how things get
clean, hot and cold."""
MOMENT = 2 * len(VERBS) + 6 + (SLOTS + 1) * (len(VERBS) + 6)
"""Numbers that tell of a moment."""
CHOICE = SLOTS + 1 + 12 + 2 * len(VERBS) + 8
"""Numbers that tell of an action at a moment."""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The words that a reader has learnt; all others are one."""

    nouns: tuple[str, ...]
    words: tuple[str, ...]
    """Single words of goals, and pairs of them, such as "put a"."""

    def noun(self, text: str) -> int:
        """Its number; 0 for none at all, 1 for one that is not known."""
        if not text:
            return 0
        return self.nouns.index(text) + 2 if text in self.nouns else 1


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A moment and its choices, in numbers."""

    goal: NDArray[np.int64]
    """Numbers of the goal's words and pairs, from 1."""
    seen: NDArray[np.float32]
    """(nouns + 2,): how sure each is to have been seen."""
    here: NDArray[np.float32]
    used: NDArray[np.float32]
    """(len(USES), nouns + 2): what was turned on, closed, and had something put in or on it."""
    last: NDArray[np.int64]
    """(2,): nouns of the last two deeds."""
    moment: NDArray[np.float32]
    """(MOMENT,)."""
    verbs: NDArray[np.int64]
    """(choices,)."""
    nouns: NDArray[np.int64]
    """(choices,)."""
    choices: NDArray[np.float32]
    """(choices, CHOICE)."""


def question(noted: Noted, actions: Sequence[Deed], lexicon: Lexicon) -> Question:
    """The numbers of a moment and of what may be done."""
    goal = pairs(noted.goal)
    place = {word: i + 1 for i, word in enumerate(lexicon.words)}
    last = [lexicon.noun(deed.noun) for deed in noted.done[-2:]]
    by_noun: dict[str, list[Deed]] = {}
    for deed in noted.done:
        by_noun.setdefault(deed.noun, []).append(deed)
    return Question(
        np.array([place[word] for word in goal if word in place] or [0]),
        _sighted(noted.seen, lexicon),
        _sighted(noted.here, lexicon),
        np.stack([_used(noted.done, verb, lexicon) for verb in USES]),
        np.array([0] * (2 - len(last)) + last),
        _moment(noted),
        np.array([deed.verb for deed in actions]),
        np.array([lexicon.noun(deed.noun) for deed in actions]),
        np.array([_choice(deed, noted, by_noun) for deed in actions], np.float32),
    )


def pairs(goal: Sequence[str]) -> list[str]:
    """Its words, and every two that follow one another."""
    return [*goal, *(f"{a} {b}" for a, b in pairwise(goal))]


def _sighted(kinds: Mapping[str, float], lexicon: Lexicon) -> NDArray[np.float32]:
    found = np.zeros(len(lexicon.nouns) + 2, np.float32)
    for kind, sure in kinds.items():
        number = lexicon.noun(kind)
        found[number] = max(float(found[number]), sure)
    return found


def _used(done: Sequence[Deed], verb: int, lexicon: Lexicon) -> NDArray[np.float32]:
    found = np.zeros(len(lexicon.nouns) + 2, np.float32)
    for deed in done:
        if deed.verb == verb and not deed.failed:
            found[lexicon.noun(deed.noun)] = 1.0
    return found


def _moment(noted: Noted) -> NDArray[np.float32]:
    done = noted.done
    lately = [deed.verb for deed in done[-2:]]
    verbs = np.zeros((2, len(VERBS)), np.float32)
    for row, verb in zip(verbs[2 - len(lately) :], lately, strict=True):
        row[verb] = 1.0
    looks = sum(deed.verb in _LOOKS for deed in done)
    general = [
        bool(noted.held),
        min(looks, 4) / 4,
        len(done) / 30,
        bool(done) and done[-1].failed,
        sum(deed.failed for deed in done) / 5,
        sum(deed.verb == _PUT and not deed.failed for deed in done) / 2,
    ]
    slots = [_of_slot(noted, noun) for noun in (*noted.slots, *[""] * SLOTS)[:SLOTS]]
    known = set(noted.slots)
    slots.append(_of_slot(noted, noted.held if noted.held not in known else ""))
    return np.concatenate([verbs.ravel(), np.array(general, np.float32), np.concatenate(slots)])


def _of_slot(noted: Noted, noun: str) -> NDArray[np.float32]:
    """What has become of a noun."""
    found = np.zeros(len(VERBS) + 6, np.float32)
    if noun:
        for deed in noted.done:
            if deed.noun == noun and not deed.failed:
                found[deed.verb] = 1.0
        found[len(VERBS) :] = (
            noted.seen.get(noun, 0.0),
            noted.here.get(noun, 0.0),
            noted.held == noun,
            bool(noted.done) and noted.done[-1].noun == noun,
            any(deed.thing == noun for deed in noted.done),
            1.0,
        )
    return found


def _choice(deed: Deed, noted: Noted, by_noun: Mapping[str, Sequence[Deed]]) -> NDArray[np.float32]:
    """What an action has to do with the moment."""
    noun, done = deed.noun, noted.done
    slot = np.zeros(SLOTS + 1, np.float32)
    slot[noted.slots.index(noun) if noun in noted.slots else SLOTS] = float(bool(noun))
    own = by_noun.get(noun, ())
    worked = [d for d in own if not d.failed]
    alike = [d for d in own if d.verb == deed.verb]
    numbered = [d for d in worked if deed.number and d.number == deed.number]
    at = next((d for d in reversed(done) if d.verb == _GO and not d.failed), None)
    put = next((d for d in reversed(done) if d.verb == _PUT and not d.failed), None)
    counts = np.zeros((2, len(VERBS)), np.float32)
    for d in worked:
        counts[0, d.verb] = min(counts[0, d.verb] + 0.25, 1.5)
    if own:
        counts[1, own[-1].verb] = 1.0
    rest = [
        noted.seen.get(noun, 0.0),
        noted.seen.get(noun, 0.0) == 0.5,
        noted.here.get(noun, 0.0),
        noted.here.get(noun, 0.0) == 0.5,
        bool(noun) and noted.held == noun,
        bool(noun) and at is not None and at.noun == noun,
        bool(done) and bool(noun) and done[-1].noun == noun,
        bool(noun) and bool(own) and own[-1].failed,
        bool(alike) and alike[-1].failed,
        min(len(alike), 6) / 6,
        bool(deed.number),
        bool(numbered),
        put is not None and bool(deed.number) and (put.noun, put.number) == (noun, deed.number),
        put is not None and bool(noun) and put.noun == noun,
        any(d.thing == noun for d in done) and bool(noun),
        len({d.number for d in worked if d.verb == _GO}) / 6,
        len({d.number for d in worked if d.verb == _OPEN}) / 6,
        len({d.number for d in worked if d.verb == _TAKE}) / 3,
        sum(d.failed for d in alike) / 3,
        bool(deed.number) and len(noted.done) > 0 and done[-1].number == deed.number,
    ]
    return np.concatenate([slot, counts.ravel(), np.array(rest, np.float32)])
