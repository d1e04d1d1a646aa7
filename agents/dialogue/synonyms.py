"""Synonyms of the verbs and nouns in instructions for a household, a workshop or outdoors."""

from __future__ import annotations

from collections.abc import Iterator

from inhabit.envs.world.words import plural

HELD = frozenset({"it", "them", "thing in hand"})
"""What an action calls the held object: a text need not name it."""
_VERBS = tuple(
    tuple(tuple(phrase.split()) for phrase in line.split(", "))
    for line in (
        "go, walk, move, navigate, head, approach, run, travel, proceed, return",
        "find, search, locate, look for",
        "pick up, pick, grab, take, get, lift, collect, fetch, grasp",
        "put, place, set, insert, store, stow, deposit, lay, leave",
        "put back, return",
        "drop, release, let go, put down, set down, lay down",
        "open, pull open",
        "close, shut",
        "turn on, switch on, toggle on, power on, activate, start",
        "turn off, switch off, toggle off, power off, deactivate, stop",
        "plug in, plug",
        "unplug, plug out, disconnect",
        "slice, cut, chop",
        "wash, clean, rinse, scrub",
        "wipe, clean",
        "wear, put on",
        "take off, remove, put off",
        "sit, sit down",
        "stand up, get up, rise",
        "look at, watch, observe, examine, inspect",
        "turn to, face, look at",
        "mine, dig, break, harvest, collect",
        "craft, make, build, create",
        "attack, kill, hit, fight, slay",
        "shear, trim",
        "smelt, cook, bake",
        "use, apply, interact with",
        "eat, consume",
        "explore, look around, search around",
    )
)
_NOUNS = tuple(
    tuple(line.split(", "))
    for line in (
        "cabinet, cupboard, kitchen cabinet",
        "fridge, refrigerator",
        "sofa, couch",
        "television, tv, telly",
        "cellphone, phone, cell phone, mobile, mobile phone, smartphone",
        "garbage can, trash can, bin, trash, wastebin, dustbin",
        "countertop, counter, counter top, worktop, kitchen counter",
        "stove burner, stove, cooker, hob",
        "faucet, tap",
        "bathtub, tub, bathtub basin",
        "sink, sink basin, basin",
        "desk lamp, table lamp",
        "toilet paper, toilet roll, roll of toilet paper, rolls of toilet paper",
        "dish sponge, sponge",
        "kettle, tea kettle",
        "closet, wardrobe",
        "watch, wristwatch",
        "remote control, remote",
        "light switch, switch",
        "pillow, cushion",
        "keychain, key chain, set of keys, sets of keys",
        "soap bar, bar of soap, bars of soap",
        "wine bottle, bottle of wine, bottles of wine",
    )
)
_KNOWN = frozenset(phrase for line in _VERBS for phrase in line)
_KINDS = {noun.replace(" ", ""): i for i, line in enumerate(_NOUNS) for noun in line}
_CUT = ("sliced", "slice of", "slices of", "piece of", "pieces of")
_LITTLE = frozenset({"to", "at", "in", "on", "into"})
"""Prepositions at the end of a verb that do not change its meaning: go to, sit on."""


def is_verb(words: tuple[str, ...]) -> bool:
    """Whether these words are exactly a known verb."""
    return words in _KNOWN


def verb_phrases(verb: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], bool]]:
    """Phrases for `verb`, its own (True) first; also without its preposition, unless that would
    mean another verb.
    """
    yield verb, True
    bare = verb
    if len(verb) > 1 and not is_verb(verb) and verb[-1] in _LITTLE:
        bare = verb[:-1]
        yield bare, True
    for line in _VERBS:
        if bare in line:
            yield from ((phrase, False) for phrase in line if phrase != bare)


def same_noun(one: str, other: str) -> bool:
    """Whether two names, letters alone, are singular and plural, or known synonyms."""
    if one.rstrip("s") == other.rstrip("s") or one + "es" == other or other + "es" == one:
        return bool(one and other)
    return one in _KINDS and _KINDS[one] == _KINDS.get(other)


def surface_forms(noun: str) -> Iterator[str]:
    """Names that people use for a noun, singular and plural; its own name first."""
    others = next((line for line in _NOUNS if noun in line), ())
    for name in dict.fromkeys((noun, *others)):
        yield name
        yield plural(name)
    if noun.endswith(" slice"):
        yield from (f"{cut} {noun.removesuffix(' slice')}" for cut in _CUT)
