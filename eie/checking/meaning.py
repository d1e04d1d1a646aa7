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
    r"be so kind as to|(?:it would be \w+|i(?:'d| would) (?:be \w+|appreciate it)) if"
    r"(?: you (?:could|would))?|(?:do not|don['\u2019]t|never) forget to|"
    r"why do(?: not|n['\u2019]t) you|"
    r"if you (?:can|could|would|don't mind|please)|if possible|"
    r"only (?=after|once|when)|or before|if it(?:'s| is) not too much trouble|"
    r"(?:starting )?from (?:nothing|scratch)|"
    r"when(?:ever)? you (?:have time|can|get (?:a|the) chance))\b"
)
_CHANGING = re.compile(
    r"\b(?:not|never|no|nothing|nowhere|none|without|unless|except|until|only|instead|rather|"
    r"either|or|if|twice|thrice|again|three|four|five|six|seven|eight|nine|ten|(?<!it )all|every|"
    r"anything|anywhere|elsewhere|tomorrow|midnight|noon|minutes?|hours?|"
    r"half|(?:a|one) (?:third|quarter)|part of|"
    r"(?:throw|toss|give)\w* (?:\w+ ){0,3}(?:away|at|past)|"
    r"leave (?!(?:it|them) there)(?:\w+ ){1,3}(?:alone|as|where|untouched|there))\b|n['\u2019]t\b"
)
"""Words that change what a goal means."""
_BEGINS = re.compile(
    r"(?:^\s*|(?:[.,;:!?\u2014]|\b(?:and|then|but|to|you|must|should|be|been|being|gets?|"
    r"after|before|once|when|while|until|during))\s+)"
    r"(?=(?:\w+ly\s+)?(?P<word>[^\W\d_]+))"
)
"""What comes before a verb that is asked for, and before other words."""
_WORD = re.compile(r"(?P<word>[^\W\d_]+)")
_NEUTRAL = """
a able about after afterwards again all also an and another any as at away back be been before
behind being beside between both bring bringing but by can careful carried carry certain close
closed could dark directly do does done each end ends ensure every everything fetch few finally
find first for found from get gets glad go goes grab happy have having he head help her here his
hold home how i if in inside into is it its just keep keeping kept let lets like locate look made
make makes making may me might more must my myself need needs next nice no nobody not now off on
once one only open or our out over pick picked please ready second see she should shut so some
somebody someone start starting stay straight sure take taken thank thanks that the their them
then there these they this those time to today together try turn turned two under up us use used
using walk want wants was way we were what when where wherever which while who will with would you
your yourself
"""
"""Words that may stand where a verb does and ask for nothing that the scene could lack."""
_NEUTRAL_WORDS = frozenset(_NEUTRAL.split())
_PLAIN = """
a all an and another back both down each every get go have hold inside it its of off one other out
over pick piece pieces slice slices some take the them to top up use you your hand hands
"""
_PLAIN_WORDS = frozenset((*_PLAIN.split(), *NUMBERS))
"""All that plain steps may have besides objects, verbs that are wished, prepositions and order."""
_PURPOSE = re.compile(
    r"^\s*to (?!the\b|an?\b|my\b|your\b)\w+[^,;.]*,|"
    r"\bso(?: that)? (?:\w+ ){1,4}?(?:can|could|may|might|will|won['\u2019]t|(?:do|does) not|"
    r"do(?:es)?n['\u2019]t)\b.*?(?=[.,;]|\band\b|\bthen\b|$)"
)
"""What a goal is good for, which asks for nothing: "so that I can find it"."""
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
        r"\b(?:(?:turn|switch)\w*\s+(?:it\s+|them\s+|the\s+(?:\w+\s+){0,2})?on|light|running|"
        r"start\w*\s+(?:it|them|the)|on(?=\s*(?:$|[.,;:!?]|and\b))|"
        r"(?:under|beneath|with|using)\s+(?:\w+\s+){0,2}\w*lamp(?![^.;]*\boff\b)|watch\w*|listen\w*|examin\w*|"
        r"inspect\w*|look at)\b"
    ),
    "off": re.compile(
        r"\b(?:(?:turn|switch)\w*\s+(?:\w+\s+){0,3}(?:off|out)|"
        r"(?:leav\w*|keep\w*|is|are|be)\s+(?:\w+\s+){0,3}off)\b"
    ),
    "fill": re.compile(r"\b(?:fill|pour)\w*\b"),
    "read": re.compile(r"\bread(?:s|ing)?\b"),
    "eat": re.compile(r"\b(?:(?<!to )eat(?:s|ing|en)?|feed\w*)\b"),
}
"""What may be done to things, in the words that people have for it."""
_TOLD: Mapping[str, re.Pattern[str]] = {
    "close": re.compile(r"\b(?:clos(?:e|es|ed|ing)|shut\w*)\b(?! (?:to|by)\b)"),
    "defeat": re.compile(
        r"\b(?:defeat|kill|slay|slain|hunt|fight|combat|slaughter|attack|battle|butcher|beat|"
        r"take (?:out|down))\w*\b"
    ),
    "put": re.compile(
        r"\b(?:put|plac|set|mov|bring|brought|tak|carr|get|leav|left|lay|laid|drop|stor|stow|stash|"
        r"stick|stuck|pop|tuck|return|transfer|deliver|transport|relocat|shift|throw|toss|load|clear|"
        r"tid|stand|hang|deposit|position|arrang|shelv|go|belong|ends? up|be|is|are|were|have|want|"
        r"need|like|keep|gather|collect|serv|with)\w{0,4}\b"
    ),
    "lie": re.compile(r"\b(?:lie|lies|lying|lay|sleep|nap|rest)\w*\b"),
    "sit": re.compile(r"\b(?:sit|sat|seat)\w*\b"),
    "get": re.compile(
        r"\b(?:get|got|obtain|collect|gather|mine|mining|dig|chop|cut|harvest|pick|fetch|bring|brought|"
        r"craft|mak|made|build|produc|smelt|acquir|hav|hold|own|need|want|hunt|kill)\w*\b|\blike\b"
    ),
}
"""What has to be said if it is wished, and may be said otherwise."""
_DOES = {
    "microwave": "heat",
    "stove": "heat",
    "toaster": "heat",
    "washing machine": "wash",
    "dishwasher": "wash",
    "fridge": "cool",
}
"""What a thing does to what is in it while it is closed or on."""
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
    r"\b(?:(?:next|close|near) to|in|into|on|onto|inside|to|upon|atop|within|at|from|out|off|with|"
    r"containing|holding|next|near|beside|by|close|across|left|right|above|below|under|underneath|"
    r"beneath|behind|between|opposite|front|along|using)\b"
)
_BESIDE = re.compile(
    r"\b(?:next to|near(?: to)?|beside|by|close to|across from|left|right|above|below|"
    r"(?<!piece )(?<!pieces )(?<!slice )(?<!slices )of|under|"
    r"behind|between|from|off|opposite|over|with|using|along|"
    r"(?:that|which) (?:is|are|stands?|lies?) (?:in|on|inside))\s+(?:\w+\s+){0,3}$"
)
"""What comes before a thing that only tells where another one is."""
_LAID = re.compile(r"\b(?:set|lay|load)\s+(?:the\s+)?$")
"""What comes before a place that something is put on: "set the table with a plate"."""
_SWITCHED = re.compile(r"\b(?:turn|switch|flick|flip|power|click|put)\w*\s+on\s+(?:\w+\s+){0,2}$")
_NUMBERED = re.compile(
    rf"\b({'|'.join(NUMBERS)}|pair|couple)\s+(?:of\s+)?(?:(?:\w+\s+)?of\s+|\w+\s+)?$"
)
_OF_IT = re.compile(
    rf"\b({'|'.join(NUMBERS)}|pair|couple)\s+(?:of\s+(?:the|its|those)\s+)?(?:slices|pieces)\b"
)
"""Counts what something named before is cut into: "two of the slices"."""
_UNDONE = re.compile(
    r"\b(?:take|remove|pull|get|fetch|lift|pick|bring)\w* (?:it|them|the \w+) "
    r"(?:\w+ )?(?:out|off|away|up)\b|"
    r"\b(?:open (?:it|them|the)|go (?:back )?to)\b"
)
_BARE = re.compile(r"\s*(?:the\s+|an?\s+)?$")
_SOURCE = re.compile(r"\b(?:from|of|with|using|by)\b")
_TOGETHER = re.compile(r"\s*(?:,|and|as well as|plus|along with)(?:\s+(?:the|an?|both))*\s*$")
_PRONOUN = re.compile(r"\b(?:it|them|that|this)\b")
_ORDER = re.compile(
    r"\b(?:then|first|after\w*|before\w*|once|when|next|finally|followed|later|as soon as|last)\b"
)
_LATER = re.compile(r"\b(?:then|afterwards?|later|finally|after that)\b")
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
    text = re.sub(r"\s+", " ", _POLITE.sub(" ", goal.lower()))
    if conditional:
        text, why = _unconditional(text)
        if why:
            return why
    text = _PURPOSE.sub(" ", text)
    there = Counter(thing.kind for thing in things)
    goal_ = _Goal(text, events, SceneNouns(lexicon, {*there}), lexicon, there)
    for word in _CHANGING.finditer(text):
        if word[0] not in goal_.licensed:
            return f"The goal says {word[0]!r}, and the scene wants nothing like it."
    checks = (goal_.counts, goal_.nouns, goal_.places, goal_.order)
    why = goal_.families(conditional) or next((why for check in checks if (why := check())), "")
    return why or goal_.words(plain)


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
    there: Mapping[str, int]
    """How many of each kind are in the scene."""

    @cached_property
    def licensed(self) -> frozenset[str]:
        """Words of number that the scene agrees with; `counts` sees whose number it is."""
        wishes = " ".join(event.wish.lower() for event in self.events)
        every = any(n > 1 and n == self.there.get(kind) for kind, n in self._switched.items())
        words = {*re.findall(r"\w+", wishes)} | ({"all", "every"} if every else set())
        return frozenset(words | {w for w, n in NUMBERS.items() if n in self._switched.values()})

    @cached_property
    def _switched(self) -> Counter[str]:
        """How many of each kind are turned on or off."""
        switching = (ActionKind.SWITCH_ON, ActionKind.SWITCH_OFF)
        switched = (event for event in self.events if event.action_kind in switching)
        return Counter(kind for event in switched for kind in self._named(event)[:1])

    @cached_property
    def _done_by(self) -> Mapping[str, str]:
        """What is done by what is closed or turned on -> by what."""
        started = (ActionKind.CLOSE, ActionKind.SWITCH_ON)
        names = (n for e in self.events if e.action_kind in started for n in self._named(e))
        return {_DOES[name]: name for name in names if name in _DOES}

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
        by_itself = any(_FAMILIES[family].search(plain) for family in self._done_by)
        seated = any(event.action_kind is ActionKind.OTHER for event in self.events)
        skipped = {
            "slice": self._got,  # A log is chopped, and coal comes in pieces.
            "light": by_itself,  # What heats is on.
            "read": seated or "light" in wished,
        }
        for family, words in _FAMILIES.items():
            if skipped.get(family):
                continue
            said = [match.end() for match in words.finditer(plain)]
            if said and family not in {*wished, *self._done_by}:
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
        return self._told(wished)

    def _told(self, wished: Mapping[str, Event]) -> str:
        others = {
            verb: re.compile(rf"\b{re.escape(verb.removesuffix('e'))}")
            for verb, event in wished.items()
            if event.action_kind is ActionKind.OTHER and verb not in _FAMILIES
        }
        for verb, words in {**others, **_TOLD}.items():
            event = wished.get(verb)
            if event is None or any(kind in self._switched for kind in self._named(event)):
                continue
            bare = _BARE.match(self.text[: next((m.start for m in self.mentions), 0)])
            if (verb == "put" and self._got) or (verb in ("put", "get") and bare):
                continue  # A station is put down on the way, and "the cup on the table" says it.
            said = [match.end() for match in words.finditer(self.text)]
            if not said:
                return f"The scene wants to {verb} something, and the goal does not say so."
            if verb == "close" and (
                re.search(r"\bopen", self.text[said[-1] :])
                or re.search(r"\bafter (?:\w+ ){0,3}(?:clos|shut)", self.text)
            ):
                return "The goal wants something open that the scene wants closed."
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

    def words(self, plain: bool) -> str:
        """A verb for what the scene does not want; in plain steps, any other word."""
        named = {*map(self._verb, self.events), *self._done_by}
        words = [r for v, r in (*_FAMILIES.items(), *_TOLD.items()) if v in named]
        known = [*words, _PREPOSITION, _ORDER]
        nouns = [range(mention.start, mention.end) for mention in self.mentions]
        neutral = self.licensed | (_PLAIN_WORDS | self.lexicon.places if plain else _NEUTRAL_WORDS)
        for found in (_WORD if plain else _BEGINS).finditer(self.text):
            word, at = found["word"], found.start("word")
            if word in neutral or (word.endswith("ly") and not plain):
                continue
            if any(at in noun for noun in nouns) or any(r.match(self.text, at) for r in known):
                continue
            return f"The goal says {word!r}, and nothing in the scene explains it."
        return ""

    def counts(self) -> str:
        """A number of things that the scene does not want."""
        another = re.search(r"\b(?:another|second|the other)\b", self.text) is not None
        for kind, count in self.taken.items():
            said = [self._count(m) for m in self.mentions if self._source(kind) in self._kinds(m)]
            if kind in self.lexicon.products:
                said += [NUMBERS.get(match[1], 2) for match in _OF_IT.finditer(self.text)]
            most = max((n for n in said if n is not None), default=1)
            most = max(most, len({m.number for m in self.mentions if kind in self._kinds(m)}))
            if count > 1 and most == 1 and another:
                most = count
            if said and most != count:
                return f"The scene wants {count} of {kind!r}, and the goal speaks of {most}."
        for mention in (m for event in self._got for m in self.known.mentions(event.wish.lower())):
            said = [self._count(m) for m in self.mentions if mention.kind in self._kinds(m)]
            if (mention.count or 1) not in {count or 1 for count in said or [mention.count]}:
                return f"The scene wants {mention.count or 1} of {mention.kind!r}."
        got = {m.kind for event in self._got for m in self.known.mentions(event.wish.lower())}
        for mention in self.mentions if got else ():
            if (self._count(mention) or 1) > 1 and mention.kind not in got:
                return f"The goal wants a number of {mention.kind!r}, and the scene does not."
        last = max((m.end for m in self.mentions if m.kind in got), default=len(self.text))
        for mention in self.mentions if got else ():
            between = self.text[last : mention.start]
            if between and mention.kind in self.wanted and not _SOURCE.search(between):
                return f"The goal wants something of the {mention.kind} besides."
        for kind, count in self._switched.items():
            ours = [m for m in self.mentions if kind in self._kinds(m)]
            many = (self._count(m) or 1 for m in ours)
            every = re.search(r"\b(?:all|every|each)\b", self.text)
            if count > 1 and not every and count not in many:
                return f"The scene wants {count} of {kind!r}, and the goal does not say so."
        both = r"\bboth (?:the |an? )?\w+(?: \w+)? and\b|\b(?:them|these) both\b|\bboth of them\b"
        rest = re.sub(both, " ", self.text)
        if max(self.taken.values(), default=2) == 1 and re.search(
            r"\b(?:two|both|another|second|pair of)\b(?! (?:things|tasks|goals))", rest
        ):
            return "The goal speaks of two things of a kind, and the scene wants one."
        return ""

    def _count(self, mention: ObjectMention) -> int | None:
        if mention.count is not None:
            return mention.count
        found = _NUMBERED.search(self.text[: mention.start])
        one_of = found and found[1] == "both" and self.text.startswith(" and ", mention.end)
        if found is not None and not one_of:
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
            if kind not in said and (self._got or self._source(kind) not in said):
                return f"The scene wants something of the {kind}, and the goal does not name it."
        known = {*self.wanted, *map(self._source, self.wanted)}
        if any(event.action_kind in (ActionKind.OPEN, ActionKind.CLOSE) for event in self.events):
            known.add("door")
        for mention in self.mentions:
            kinds, before = self._kinds(mention), self.text[: mention.start]
            ours = ({mention.kind} if self._got else kinds) & known
            if not ours and not kinds & _APPLIANCES and not _BESIDE.search(before):
                return (
                    f"The goal speaks of the {mention.kind}, and the scene's goal is not about it."
                )
            out = re.search(
                r"\b(?:from|out of|(?<!turn )(?<!turned )(?<!switch )(?<!switched )off)\s+"
                r"(?:\w+\s+){0,3}$",
                before,
            )
            if out and not self._got and any(not self.wanted.get(kind, True) for kind in ours):
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
            closed = any(e.action_kind is ActionKind.CLOSE and place in e.wish for e in self.events)
            on_top = any(place in self._kinds(m) and "on top of" in led for m, led in self._led)
            if on_top and (closed or place in self.lexicon.containers):
                return f"The goal puts something on top of the {place}."
        last = max((at for at, _, _ in self._said_moves), default=len(self.text))
        if _UNDONE.search(self.text, last):
            return "The goal takes something away again."
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
        above = waiting  # the places that are named before what goes there
        follows = False  # whether the mention before is of what is taken, too
        for mention, between in self._led:
            kinds, word = self._kinds(mention), _leads(between)
            if kinds & ends and (word in _LEADS or _LAID.search(between)):
                found += [(mention.start, one, kinds) for one in now]
                waiting += [] if now else [mention]
                follows = False
            elif self._is_taken(mention):
                if word in ("with", "containing", "holding") and now:
                    found.append((mention.start, kinds, now[-1]))
                    continue
                together = follows and _TOGETHER.match(between)
                now, above = ([*now, kinds], above) if together else ([kinds], waiting)
                follows = True
                found += [(one.start, kinds, self._kinds(one)) for one in above]
                waiting = []
        return found

    def order(self) -> str:
        """Whether what the scene wants in an order is said in that order."""
        ends = {place for _, place in self.moves.values()}
        lit = (event for event in self.events if self._verb(event) == "light")
        lamps = [event for event in lit if ends.isdisjoint(self._named(event))]
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
        late = next((v for event in self.events if (v := self._verb(event)) in _TREATED), "")
        at = [match.start() for match in _FAMILIES[late].finditer(self.text)] if late else []
        put = min(placed.values(), default=len(self.text))
        if at and min(at) > put and _LATER.search(self.text, put, min(at)):
            return f"The goal wants to {late} something after it is put where the scene wants it."
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
