"""Reads plain sentences about a scene and holds each claim against the things in it.

Written apart from the check that `inhabit synth` has of its own, so that one finds what the other
overlooks. It knows four sorts of claims: that something is there, in what state it is, how many of
it there are, and where it is. What it can't read it passes over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from inhabit.envs.core import SceneObject

STATES = {
    "open": (("open", "opened"), ("closed", "shut")),
    "on": (("on", "running", "lit"), ("off",)),
    "dirty": (("dirty",), ("clean",)),
    "sliced": (("sliced", "cut"), ("whole", "uncut", "unsliced")),
    "cooked": (("cooked",), ("raw", "uncooked")),
    "filled": (("filled", "full"), ("empty",)),
    "broken": (("broken",), ("unbroken", "intact")),
    "used up": (("empty",), ()),
    "plugged_in": (("plugged in",), ("unplugged",)),
}
"""State of a thing -> words for when it holds, and for when it does not."""
_NUMBERS = "two three four five six seven eight nine ten"
NUMBERS = {word: number for number, word in enumerate(_NUMBERS.split(), 2)}
STUFF = re.compile(
    r"(?:takes|you need|from the) ((?:(?!takes|from the)[^;:.])+?)(?:, which| that) you carry"
)
"""What is said to be carried: "that takes two sticks and a diamond, which you carry"."""
ROOMS = frozenset(
    ("kitchen", "bathroom", "bedroom", "livingroom", "hall", "hallway", "office", "homeoffice")
)
HANDS = frozenset(("hand", "hands"))
_AMBIGUOUS = frozenset(
    ("can", "light", "watch", "book", "plant", "sink", "cook", "towel", "iron", "cover", "box")
)
"""Words that are things only where an article or the like stands before them."""
_BEFORE = frozenset(
    ("a", "an", "the", "this", "that", "your", "one", "another", "no", "some", "each")
)
_EVERYDAY = """
apple bag ball banana basin bath bed blanket bottle bowl bread bucket candle car cat chair clock
coat cup curtain desk dishwasher dog door drawer egg fork fridge kettle key knife ladle lamp laptop
lettuce microwave mirror mug newspaper oven pan pen pencil phone piano pillow plate pot potato radio
rug shelf shoe soap sofa spoon stove table television toaster tomato toothbrush tv vase window
"""
"""Things that a text may speak of even where no scene of an environment has them."""
_OTHERWISE = {
    "key": "keychain",
    "soap": "soapbar soapbottle",
    "cup": "mug",
    "basin": "sink",
    "stove": "stoveburner",
    "pot": "kettle",
    "television": "tvstand",
    "tv": "tvstand remotecontrol",
    "drawer": "dresser",
    "bath": "bathtub",
    "pan": "fryingpan",
    "bottle": "soapbottle winebottle",
    "towel": "cloth",
    "glass": "cup",
    "lamp": "desklamp floorlamp",
    "table": "sidetable",
    "counter": "countertop",
    "trashcan": "garbagecan",
    "bin": "garbagecan",
    "refrigerator": "fridge",
    "burner": "stoveburner",
    "couch": "sofa",
    "phone": "cellphone",
    "remote": "remotecontrol",
    "sponge": "dishsponge",
}
"""What people also call a thing by: a "cup" may be a mug, and "keys" a key chain."""
_GETTING = frozenset(["get", "obtain", "make", "craft", "smelt", "of", "takes"])
"""Words before things that need not be there: "made of four planks"."""
_FILLING = frozenset(["now", "still", "already", "also", "both"])
_LONGEST = 4
"""Words of a name."""


@dataclass(frozen=True, slots=True)
class Noun:
    """A thing that a text speaks of."""

    kind: str
    """Name of its kind, without spaces and number: "coffeetable"."""
    number: str = ""
    """"2" of "mug_2"."""
    said: str = ""
    """The name that the text uses: "lamp", which may be a desk lamp or a floor lamp."""


Token = str | Noun


def squeeze(name: str) -> str:
    """A name as it is compared: "Coffee Table_2" and "coffeetable" are one."""
    return re.sub(r"[\W_]+", "", re.sub(r"[\s_]+\d+$", "", name)).lower()


class Reader:
    """Reads texts about scenes of one environment."""

    def __init__(
        self,
        names: Iterable[str],
        products: Mapping[str, str] | None = None,
        synonyms: Mapping[str, str] | None = None,
    ) -> None:
        """Know `names` of things as such, with or without numbers, beside everyday ones.

        `synonyms` says what else things are called: "couch" for "sofa".

        `products` says what comes into being, and what of: "planks" of "log".
        """
        self._sources = {squeeze(made): squeeze(of) for made, of in (products or {}).items()}
        self._meant = {squeeze(said): squeeze(kind) for said, kind in (synonyms or {}).items()}
        self._names = {squeeze(name) for name in names} | set(_EVERYDAY.split())
        self._names -= ROOMS | HANDS | {"", "it"}

    def nouns(self, text: str) -> Sequence[Noun]:
        """Everything that `text` says is there, or wants to be."""
        tokens = self._tokens(text)
        return [
            token
            for before, token in zip(["", *tokens], tokens, strict=False)
            if isinstance(token, Noun) and before != "no"
        ]

    def absent(
        self, text: str, things: Sequence[SceneObject], *, made: bool = True
    ) -> Iterator[str]:
        """What `text` speaks of and is not in the scene, nor can be made there if `made`."""
        for noun in self.nouns(text):
            # A coffee table is a table, and a desk lamp a lamp.
            near = noun.said in _EVERYDAY.split() and not noun.number
            other = _OTHERWISE.get(noun.said, "").split() if not noun.number else ()
            if not any(
                _is(thing, noun)
                or squeeze(thing.kind) in other
                or (near and squeeze(thing.kind).endswith(noun.said))
                for thing in things
            ) and not (_comes(noun, things) or (made and self._can_be_made(noun, things))):
                yield f"There is no {noun.kind}{noun.number and ' ' + noun.number}."

    def _can_be_made(self, noun: Noun, things: Sequence[SceneObject]) -> bool:
        """Whether what it is made of is there, or what that is made of."""
        there, kind = {squeeze(thing.kind) for thing in things}, noun.kind
        for _ in self._sources:
            kind = self._sources.get(kind, "")
            if kind in there:
                return not noun.number
        return False

    def counts(self, text: str) -> Iterator[tuple[int, Noun]]:
        """How many of what `text` speaks of, from two on; not of what is to be got first."""
        tokens = self._tokens(text)
        for before, word, *after in zip(
            ["", *tokens], tokens, [*tokens[1:], ""], [*tokens[2:], "", ""], strict=False
        ):
            noun = next((token for token in after if isinstance(token, Noun)), None)
            told = isinstance(word, str) and word in NUMBERS and before not in _GETTING
            if told and noun is not None:
                yield NUMBERS[word], noun

    def wrong(
        self, text: str, things: Sequence[SceneObject], *, made: bool = True
    ) -> Iterator[str]:
        """Every claim in `text` that does not hold, as a sentence.

        `made` lets it speak of what can be made of the things, as a wish or a reason may.
        """
        yield from self.absent(text, things, made=made)
        # Of what is carried there may be more.
        for count, noun in self.counts(STUFF.sub(" ", text)):
            found = [thing for thing in things if _is(thing, noun)]
            whole = sum(thing.count for thing in found)
            if count not in (len(found), whole, sum(thing.pixels > 0 for thing in found)):
                yield f"There are {len(found)} {noun.kind}, not {count}."
        for sentence in re.split(r"(?<=[.!?;:])\s", text):
            yield from self._states(self._tokens(sentence), things)
            yield from self._places(self._tokens(sentence), things)

    def _tokens(self, text: str) -> list[Token]:
        words = re.findall(r"[a-z]+(?:_\d+)?|\d+|[.,;:!?]", text.lower())
        found: list[Token] = []
        at = 0
        while at < len(words):
            noun, taken = self._noun(words, at)
            found.append(noun or words[at])
            at += taken
        return found

    def _noun(self, words: Sequence[str], at: int) -> tuple[Noun | None, int]:
        """The longest name that begins at a word, and how many words it has."""
        for length in range(min(_LONGEST, len(words) - at), 0, -1):
            *first, last = words[at : at + length]
            last, _, number = last.partition("_")
            joined = "".join(first) + last
            if not joined.isalpha() or (
                length == 1 and not number and joined in _AMBIGUOUS and not _stands(words, at)
            ):
                continue
            for kind in singulars(joined):
                if kind in self._names:
                    return Noun(self._meant.get(kind, kind), number, kind), length
        return None, 1

    def _states(self, tokens: Sequence[Token], things: Sequence[SceneObject]) -> Iterator[str]:
        for at, token in enumerate(tokens):
            if not isinstance(token, Noun):
                continue
            if at and isinstance(before := tokens[at - 1], str) and before not in ("on", "off"):
                yield from _state(token, before, True, things)
            rest = [t for t in tokens[at + 1 : at + 6] if t not in _FILLING]
            if rest[:1] in (["is"], ["are"]):
                holds = rest[1:2] != ["not"]
                word, *after = [*rest[1 if holds else 2 :], "", ""][:2]
                # "is on the table" tells of a place.
                if isinstance(word, str) and after[0] not in ("the", "a", "an", "top"):
                    yield from _state(token, word, holds, things)

    def _places(self, tokens: Sequence[Token], things: Sequence[SceneObject]) -> Iterator[str]:
        words = [t for t in tokens if t not in _FILLING and t not in _BEFORE - {"no"}]
        held = [thing for thing in things if thing.held]
        for at in range(len(words)):
            match words[at : at + 4]:
                case [Noun() as noun, "is" | "are", "in" | "on", "hand" | "hands"]:
                    if not any(_is(thing, noun) for thing in held):
                        yield f"The {noun.kind} is not in the hand."
                case [Noun() as noun, "is" | "are", "in" | "on" | "inside" as where, Noun() as at_]:
                    if not _lies(noun, where, at_, things):
                        yield f"No {noun.kind} is {where} a {at_.kind}."
                case ["you", "have", Noun() as noun, *rest]:
                    if "in" in rest and not any(_is(t, noun) for t in held):
                        yield f"The {noun.kind} is not in the hand."
                case ["you", "hold" | "carry", Noun() as noun, *_] | [
                    "you",
                    "are",
                    "holding" | "carrying",
                    Noun() as noun,
                ]:
                    if not any(_is(thing, noun) for thing in held):
                        yield f"The {noun.kind} is not in the hand."
                case (
                    ["nothing", "is", "in", "hand" | "hands"]
                    | ["you", "have", "nothing", "in"]
                    | ["hands", "are", "empty" | "free", *_]
                    | ["you", "are", "not", "holding"]
                ):
                    if held:
                        yield f"The {held[0].kind} is in the hand."


def _stands(words: Sequence[str], at: int) -> bool:
    """Whether a thing may be named at that word: after an article, an adjective, a number."""
    known = {word for both in STATES.values() for some in both for word in some}
    return at > 0 and (words[at - 1] in _BEFORE | known or words[at - 1] in NUMBERS)


def singulars(word: str) -> Iterator[str]:
    """What a word may be the plural of, itself first."""
    yield word
    for plural, singular in (("ies", "y"), ("ves", "f"), ("ves", "fe"), ("es", ""), ("s", "")):
        if word.endswith(plural):
            yield word[: -len(plural)] + singular


def _is(thing: SceneObject, noun: Noun) -> bool:
    if noun.kind not in (squeeze(thing.kind), squeeze(thing.name)):
        return False
    return not noun.number or thing.name.rpartition("_")[2] == noun.number


def _comes(noun: Noun, things: Sequence[SceneObject]) -> bool:
    """Whether it is a piece of what is there, or what a piece that is there was cut of."""
    whole = noun.kind.removesuffix("slice").removesuffix("sliced")
    pieces = {whole, whole + "slice", whole + "sliced"} - {noun.kind}
    return not noun.number and any(squeeze(thing.kind) in pieces for thing in things)


def _state(noun: Noun, word: str, holds: bool, things: Sequence[SceneObject]) -> Iterator[str]:
    """What is wrong with saying that a `noun` is `word`, if that is a state at all."""
    meanings = [
        (state, (word in yes) == holds)
        for state, (yes, no) in STATES.items()
        if word in yes or word in no
    ]
    alike = [thing for thing in things if _is(thing, noun)]
    seen = [thing for thing in alike if thing.pixels or thing.held] or alike
    if not meanings or not alike:
        return
    if not any(thing.states.get(state) is value for thing in seen for state, value in meanings):
        yield f"No {noun.kind} is {'' if holds else 'not '}{word}."


def _lies(noun: Noun, where: str, at: Noun, things: Sequence[SceneObject]) -> bool:
    by_name = {thing.name: thing for thing in things}
    for thing in things:
        support = by_name.get(thing.support or "")
        if (
            support is not None
            and _is(thing, noun)
            and _is(support, at)
            and (thing.inside or where == "on")
        ):
            return True
    return False
