"""Finds objects in sentences: kinds and synonyms, with articles, numbers and plurals."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from inhabit.envs.template import Lexicon
from inhabit.envs.world.words import plural

NUMBERS: Mapping[str, int] = {
    word: number
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
} | {"both": 2}


_ABOUT = re.compile(r"\s+(?:the|a|an|some|it|them)\b")


@dataclass(frozen=True, slots=True)
class ObjectMention:
    """An object that a sentence mentions."""

    kind: str
    number: int | None
    """Number in its name: 2 in "mug_2"."""
    count: int | None
    """Claimed number of objects: 2 in "two mugs"."""
    states: tuple[tuple[str, bool], ...]
    """Claims of preceding adjectives: (("open", False),) in "the closed fridge"."""
    denied: bool
    """Whether it is negated: "no mug"."""
    start: int
    end: int


class SceneNouns:
    """Reads sentences about the scenes of one environment."""

    def __init__(self, lexicon: Lexicon, kinds: Collection[str] = ()) -> None:
        """Read with the vocabulary of `lexicon`; `kinds` are those of the scene, if one is meant.

        A name that several kinds go by means the one that is there.
        """
        self._lexicon = lexicon
        self._forms = dict(_forms(lexicon))
        for name, may_be in lexicon.called.items():
            there = sorted(may_be.intersection(kinds))
            if len(there) == 1 and self._forms.get(name) not in kinds:
                self._forms[name] = there[0]
            else:
                self._forms.setdefault(name, min(may_be))
        self.adjectives = dict(_adjectives(lexicon))
        # Without any, an expression that matches nothing.
        self.states = "|".join(map(re.escape, sorted(self.adjectives))) or "(?!)"

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        nouns = "|".join(map(re.escape, sorted(self._forms, key=lambda f: (-len(f), f))))
        counts = "|".join((*NUMBERS, r"\d+"))
        return re.compile(
            rf"(?<![\w-])(?:(?P<no>no|any)\s+|(?P<count>{counts})\s+(?:pieces\s+of\s+)??)?"
            rf"(?P<adjectives>(?:(?:{self.states})(?:,|\s+and)?\s+)*)"
            rf"(?P<noun>{nouns})(?:[ _](?P<number>\d+))?(?![\w-])"
        )

    def mentions(self, clause: str) -> Sequence[ObjectMention]:
        """Objects that a clause in lower case mentions, in order. "Fire the clay" has no fire."""
        found = self._pattern.finditer(clause)
        return [self._mention(match) for match in found if not _is_verb(clause, match)]

    def known(self, noun: str) -> str | None:
        """The kind that a noun in lower case means, singular or plural; None if there is none."""
        return self._forms.get(noun)

    def _mention(self, match: re.Match[str]) -> ObjectMention:
        said = re.findall(r"[\w-]+", match["adjectives"])
        number, count = match["number"], match["count"]
        return ObjectMention(
            kind=self._forms[match["noun"]],
            number=int(number) if number is not None else None,
            count=None if count is None else NUMBERS[count] if count in NUMBERS else int(count),
            states=tuple(self.adjectives[word] for word in said if word in self.adjectives),
            denied=match["no"] is not None,
            start=match.start(),
            end=match.end(),
        )


def _is_verb(clause: str, noun: re.Match[str]) -> bool:
    """Whether a noun without an article stands where a verb does, before what it is done to."""
    return _ABOUT.match(clause, noun.end()) is not None and (
        re.search(r"(?:^|[,.;:]|\b(?:and|then|to))\s*$", clause[: noun.start()]) is not None
    )


def sources(kind: str, lexicon: Lexicon) -> Sequence[str]:
    """The kinds that a kind is made of, directly or through other products."""
    found: list[str] = []
    while (source := lexicon.products.get(kind)) is not None and source not in found:
        found.append(source)
        kind = source
    return found


def _forms(lexicon: Lexicon) -> Iterator[tuple[str, str]]:
    names = {kind: kind for kind in sorted(lexicon.kinds)}
    names |= lexicon.synonyms
    for said, kind in names.items():
        yield plural(said), kind
        yield f"{said}s", kind
        yield said.replace(" ", ""), kind
    yield from names.items()


def _adjectives(lexicon: Lexicon) -> Iterator[tuple[str, tuple[str, bool]]]:
    for state, (holds, does_not) in lexicon.states.items():
        yield does_not, (state, False)
        yield holds, (state, True)
