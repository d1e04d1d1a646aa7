"""The word lists for reading claims."""

from __future__ import annotations

from collections.abc import Mapping

_NOUNS = """
alarm clock, clock
bathtub, tub, bathtub basin, bath
bowl, dishbowl
cabinet, cupboard, kitchen cabinet
cell phone, cellphone, phone, mobile phone, mobile, smartphone
closet, wardrobe
coffee machine, coffee maker
counter top, counter, countertop, worktop, kitchen counter, bathroom counter
desk lamp, table lamp
dining table, kitchen table
dish sponge, sponge, washing sponge
dresser, chest of drawers
faucet, tap
fridge, refrigerator
garbage can, trash can, trash, bin, rubbish bin, trash bin, wastebin, dustbin, waste basket
house plant, plant
key chain, keys
knife, butter knife
light switch, switch
pan, frying pan
pot, cooking pot
remote control, remote
sink, sink basin, basin
soap bar, bar of soap, soap
sofa, couch
stove, cooker, hob, stove burner, burner
television, tv, telly
toilet paper, toilet roll, paper
wash cloth, cloth, rag
watch, wristwatch
"""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


SYNONYMS = tuple(
    frozenset(name.replace(" ", "") for name in line.split(", "))
    for line in _NOUNS.strip().splitlines()
)
"""Synonyms, with the words of each written together."""

_STATES: Mapping[tuple[tuple[str, bool], ...], str] = {
    (("open", True),): "open opened ajar",
    (("open", False),): "closed shut unopened",
    (("on", True),): "running lit playing activated",
    (("on", False),): "off unlit",
    (("dirty", True), ("clean", False)): "dirty unclean filthy unwashed stained",
    (("dirty", False), ("clean", True)): "clean cleaned washed rinsed spotless",
    (("sliced", True),): "sliced cut chopped",
    (("sliced", False),): "whole uncut unsliced",
    (("hot", True), ("heated", True)): "hot heated warm warmed",
    (("cold", True), ("cooled", True), ("hot", False)): "cold cooled chilled",
    (("cooked", True),): "cooked baked fried",
    (("cooked", False),): "raw uncooked",
    (("filled", True), ("full", True)): "full filled",
    (("filled", False), ("full", False)): "empty emptied",
    (("broken", True),): "broken cracked smashed",
    (("broken", False),): "intact unbroken",
    (("plugged_in", True),): "plugged",
    (("plugged_in", False),): "unplugged",
}
STATES = {word: states for states, words in _STATES.items() for word in words.split()}
"""Adjective -> the state it means, under all names that environments use for it."""
SWITCHED_ON = (("on", True),)
"""The state that a bare "on" means."""

_VERBS = """
open, opening, opened, open up
close, closing, closed, shut, shutting
take, taking, taken, pick, picking, picked, pick up, grab, grabbing, get, getting, fetch, \
fetching, collect, collecting, collected, lift, grasp, hold, bring, bringing
put, putting, place, placing, placed, set, lay, laying, laid, drop, dropping, insert, store, stow, \
throw, throwing, deposit, load, return
switch on, turn on, turning on, turned on, switching on, switched on, activate, activated, start, \
started, starting
switch off, turn off, turning off, turned off, switching off, switched off, deactivate, stop
slice, slicing, sliced, cut, cutting, chop, chopping, chopped
clean, cleaning, cleaned, wash, washing, washed, rinse, rinsing, rinsed, scrub
heat, heating, heated, warm, warming, warmed, cook, cooking, cooked
cool, cooling, cooled, chill, chilling, chilled
fill, filling, filled
find, finding, found, look for, looking for, search for, searching for, locate
go to, go, walk to, walk, walking to, head to, move to, approach
move, moving, moved, rearrange
eat, eating, drink, drinking
read, reading, examine, examining, inspect, look at, looking at, watch, watching
sit, sitting
wipe, wiping, wiped
plug in
unplug
"""
VERBS = {
    tuple(form.split()): line.split(", ")[0]
    for line in _VERBS.strip().splitlines()
    for form in (form.strip() for form in line.split(", "))
}
"""Any form of a verb -> its canonical form."""
PARTICLE_VERBS = frozenset({"turn", "turned", "turning", "switch", "switched", "switching"})
"""Verbs whose "on" or "off" may be separated: "switch the lamp on"."""

NUMBERS = {
    word: number
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
}
DETERMINERS = _set(
    "the a an my your its this that these those some any another one both each every no"
)
COPULAS = _set("is are was were am be been being stands stand stays remains looks seems has still")
NEGATIONS = frozenset({"not", "never", "no", "neither", "nor", "without", "none", "nothing"})
INSIDE = frozenset({"in", "inside", "within", "into"})
ON = frozenset({"on", "onto", "atop", "upon"})
ELSEWHERE = _set("at near beside behind under below above by from with of to between for off")
"""Prepositions that carry no claim."""
MODALS = _set(
    """should must need needs needed can could will would shall may might ought wants want
    going let please remains remaining"""
)
HYPOTHETICAL = frozenset({"before", "until", "if", "unless", "once", "till", "whether", "after"})
"""Words that begin a clause which states no current fact."""
BREAKS = frozenset({"so", "because", "since", "but", "while", "as", "and", "whose", "which", "who"})
"""Words that begin a new clause."""
PRONOUNS = frozenset({"it", "they", "them", "one"})
SELF = frozenset({"i", "we", "you"})
HANDS = frozenset({"hand", "hands"})
SEEING = frozenset({"see", "sees", "seen", "notice", "spot", "there", "visible"})
HOLDING = frozenset({"hold", "holds", "holding", "carry", "carries", "carrying", "have", "has"})
LEADS = _set("first then next now please just finally also only still simply")
"""Words that may precede an imperative: "now open the fridge"."""
ACTORS = frozenset({"i", "we"})
TOLD = _set("hold find found look read examine inspect watch locate start stop laid")
"""Verbs that tell what is, or was, after "I": "I hold the mug", "I find it on the table"."""
PARTS = frozenset({"door", "doors", "lid"})
"""Parts that stand for the whole: the fridge's door."""
FLOORS = frozenset({"floor", "ground", "wall"})
DONE = (
    "nothing is left",
    "nothing left",
    "nothing to do",
    "i am done",
    "i can stop",
    "task is done",
    "task is complete",
    "goal is reached",
)
