"""Reads a goal back, and holds it against what the scene wants: an author may say something else.

What the scene wants is told by the events of its task: their wishes name the objects and places,
and what is done to them. A goal has to speak of each of them, of nothing else that could be moved
or treated, and every word that changes a meaning has to be licensed by the scene.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from inhabit.eie.checking.nouns import ObjectMention, SceneNouns
from inhabit.envs.core import SceneObject
from inhabit.envs.template import ActionKind, Event, Lexicon

_POLITE = re.compile(
    r"\b(?:(?:could|can|would|will) you(?: please| kindly)?|please|kindly|for me|thank you|thanks|"
    r"(?:i|we) (?:would like|want|need) you to|i'd like you to|be so kind as to|"
    r"if you (?:can|could|would|don't mind|please)|when you have time|if possible)\b"
)
_CHANGING = re.compile(
    r"\b(?:not|never|no|nothing|nowhere|none|without|unless|except|until|only|instead|rather|"
    r"either|or|if|twice|thrice|again|three|four|five|six|seven|eight|nine|ten|(?<!it )all|every|"
    r"leave|stop|avoid|refuse|forget|cannot|pretend|anything|anywhere|elsewhere)\b|n['\u2019]t\b"
)
"""Words that change what a goal means."""
_IF = frozenset(("if", "not"))
"""Those of them that a condition licenses."""
_FAMILIES: Mapping[str, re.Pattern[str]] = {
    "heat": re.compile(
        r"\b(?:(?:re|pre)?heat\w*|warm\w*|hot|cook\w*|microwaved?|boil\w*|toast(?:ed)?)\b"
    ),
    "cool": re.compile(r"\b(?:cool\w*|chill\w*|cold|refrigerated?|freeze|frozen)\b"),
    "wash": re.compile(r"\b(?:wash\w*|clean\w*|rins\w*|scrub\w*)\b"),
    "slice": re.compile(r"\b(?:slic\w*|cut\w*|chop\w*|pieces?)\b"),
    "light": re.compile(r"\b(?:turn\w* on|switch\w* on|light|lamp|examin\w*|inspect\w*|look at)\b"),
    "off": re.compile(r"\b(?:turn\w* (?:\w+ )?(?:off|out)|switch\w* (?:\w+ )?(?:off|out)|break)\b"),
}
"""What may be done to things, in the words that people have for it."""
_WISHED = {"turn on": "light", "turn off": "off"}
_APPLIANCES = frozenset(
    ("microwave", "fridge", "sink", "faucet", "knife", "butter knife", "stove burner", "toaster")
)
"""Things that a goal may name for what is done with them."""
_BESIDE = re.compile(
    r"\b(?:next to|near(?: to)?|beside|by|close to|of|across from|left|right|above|below|under|"
    r"behind|between|from|opposite|over|with|along)\s+(?:\w+\s+){0,3}$"
)
"""What comes before a thing that only tells where another one is."""
_INTO = re.compile(
    r"\b(?:in|on|into|onto|inside|to|at|upon|under|of|atop|within|by)\s+(?:\w+\s+){0,4}$"
)
_OUT_OF = re.compile(r"\b(?:from|out of|off)\s+(?:\w+\s+){0,3}$")


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
        conditional: whether the scene's goal depends on a condition.
    """
    if not events:
        return ""
    text = re.sub(r"\s+", " ", _POLITE.sub(" ", goal.lower()))
    wished = " ".join(event.wish for event in events)
    several = "another" in wished
    for word in _CHANGING.findall(text):
        if not (conditional and word in _IF):
            return f"The goal says {word!r}, and the scene wants nothing like it."
    if not several and re.search(
        r"\b(?:two|both|another|second)\b(?! (?:things|tasks|goals))", text
    ):
        return "The goal speaks of two things of a kind, and the scene wants one."
    nouns = SceneNouns(lexicon, {thing.kind for thing in things})
    return _families(text, wished, nouns) or _nouns(text, events, nouns, lexicon)


def _families(text: str, wished: str, nouns: SceneNouns) -> str:
    """What is to be done that the scene does not want, or the other way round."""
    verbs = {_WISHED.get(verb, verb) for verb in re.findall(r"\bturn (?:on|off)\b|\b\w+\b", wished)}
    plain = text
    for mention in reversed(nouns.mentions(text)):
        noun = text[mention.start : mention.end]
        if not re.match(r"(?:sliced?|clean|dirty|hot|cold)\b", noun) and "lamp" not in noun:
            plain = plain[: mention.start] + " " * len(noun) + plain[mention.end :]
    for family, words in _FAMILIES.items():
        wants, says = family in verbs, words.search(plain) is not None
        if says and not wants:
            return f"The goal wants to {family} something, and the scene does not."
        if wants and not says and not words.search(text):
            return f"The scene wants to {family} something, and the goal does not say so."
    return ""


def _nouns(text: str, events: Sequence[Event], nouns: SceneNouns, lexicon: Lexicon) -> str:
    """What is named that the scene's goal is not about, or not named that it is about."""
    wanted: dict[str, bool] = {}
    for event in events:
        for mention in nouns.mentions(event.wish.lower()):
            wanted.setdefault(mention.kind, event.action_kind is ActionKind.TAKE)
    mentions = nouns.mentions(text)
    said = {kind for mention in mentions for kind in _meant(mention, text, lexicon)}
    sources = {lexicon.products.get(kind, kind) for kind in said}
    for kind in wanted:
        if (
            kind not in said
            and kind not in sources
            and lexicon.products.get(kind, kind) not in said
        ):
            return f"The scene wants something of the {kind}, and the goal does not name it."
    for mention in mentions:
        meant, before = _meant(mention, text, lexicon), text[: mention.start]
        ours = meant & {*wanted, *(lexicon.products.get(kind, kind) for kind in wanted)}
        if not ours and not meant & _APPLIANCES and not _BESIDE.search(before):
            return f"The goal speaks of the {mention.kind}, and the scene's goal is not about it."
        if any(not wanted.get(kind, True) for kind in ours) and _OUT_OF.search(before):
            return f"The goal takes something out of the {mention.kind}, where the scene wants it."
    return _roles(text, mentions, events, nouns, lexicon)


def _roles(
    text: str,
    mentions: Sequence[ObjectMention],
    events: Sequence[Event],
    nouns: SceneNouns,
    lexicon: Lexicon,
) -> str:
    """Whether each place where something is wanted follows a preposition that leads there."""
    taken = {event.thing for event in events if event.action_kind is ActionKind.TAKE}
    for event in events:
        place = [m.kind for m in nouns.mentions(event.wish.lower())][-1:]
        if event.action_kind is not ActionKind.PUT or not place or event.thing in taken:
            continue
        named = [m for m in mentions if place[0] in _meant(m, text, lexicon)]
        if named and not any(_INTO.search(text[: m.start]) for m in named):
            return f"The goal does not say that anything goes to the {place[0]}."
    return ""


def _meant(mention: ObjectMention, text: str, lexicon: Lexicon) -> frozenset[str]:
    """The kinds that a name may mean."""
    noun = re.sub(r"^(?:no|any|one|two|both|a|an|the)\s+", "", text[mention.start : mention.end])
    return lexicon.called.get(noun, frozenset()) | {mention.kind}
