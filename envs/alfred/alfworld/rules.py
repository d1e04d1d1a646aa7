"""What the text game has: receptacles, what may be put in or on each, and names.

Words are those of the game: a type in lower case without spaces, and a number: "countertop 2".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.plain_data import csv_rows
from inhabit.envs.simulators.household.types.things import BASINS

_FORMERLY = {"bottle": "glassbottle", "sink": "sinkbasin", "bathtub": "bathtubbasin"}
"""Words of the game that AI2-THOR 2.1 names otherwise, where each of them has a basin apart."""
HOLDS: Mapping[str, frozenset[str]] = {
    place: frozenset(row["things"].split())
    for row in csv_rows("inhabit.envs.alfred.alfworld", "takes.csv")
    for place in row["receptacles"].split()
}
"""Every receptacle that one goes to -> what may be put in or on it."""
CLOSABLE = frozenset({"cabinet", "drawer", "fridge", "microwave", "safe"})
VESSELS = frozenset({"bowl", "box", "cup", "mug", "pan", "plate", "pot"})
KNIVES = frozenset({"knife", "butterknife"})
_FIXED = frozenset({"desklamp", "floorlamp", "houseplant", "mirror", "television"})
"""What cannot be taken and is told all the same where it stands in or on a receptacle."""
_NEWER = frozenset({"aluminumfoil", "dumbbell", "roomdecor", "tabletopdecor"})
"""Things that are not in the AI2-THOR that the game was made with."""


def word(type: str) -> str:
    """The game's word for a type: "countertop"."""
    said = type.lower()
    return _FORMERLY.get(said, said)


def kind(name: str) -> str:
    """The word in a name: "mug" of "mug 2"."""
    return name.partition(" ")[0]


def numbered(things: Iterable[ThorObject]) -> Mapping[str, str]:
    """Name -> THOR's id of all objects that the game tells of, in the order of its lists.

    The game sorts ids, and gives the highest number of a word to the first of them.
    """
    things = list(things)
    types = {one.type for one in things}
    told = [one for one in things if _is_told(one) and BASINS.get(one.type) not in types]
    told.sort(key=_key)
    left: dict[str, int] = {}
    for one in told:
        left[word(one.type)] = left.get(word(one.type), 0) + 1
    names = {}
    for one in told:
        names[f"{word(one.type)} {left[word(one.type)]}"] = one.id
        left[word(one.type)] -= 1
    return names


def _is_told(thing: ThorObject) -> bool:
    said = word(thing.type)
    if said in HOLDS:
        return thing.receptacle
    return said in _FIXED or (thing.pickupable and said not in _NEWER)


def _key(thing: ThorObject) -> str:
    """The id by which the game sorts. That of a movable thing says where it lies at the start."""
    id = thing.id
    if thing.pickupable:
        id = "|".join([word(thing.type), *(f"{round(c, 2) + 0:+06.2f}" for c in thing.position)])
    for mark, said in {"|": "bar", "-": "minus", "+": "plus", ".": "dot", ",": "comma"}.items():
        id = id.replace(mark, f"_{said}_")
    return id.lower()


def listed(names: Sequence[str], article: str = "a ") -> str:
    """Names as the game lists them: "a mug 1, and a plate 2"."""
    said = [article + name for name in names]
    if len(said) < 2:
        return said[0] if said else "nothing"
    return f"{', '.join(said[:-1])}, and {said[-1]}"
