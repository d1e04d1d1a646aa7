"""What the text game has: receptacles, what may be put in or on each, and names.

Words are those of the game: a type in lower case without spaces, and a number: "countertop 2".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.simulators.household.types.things import BASINS

_FORMERLY = {"bottle": "glassbottle", "sink": "sinkbasin", "bathtub": "bathtubbasin"}
"""Named otherwise in AI2-THOR 2.1, where each of them has a basin apart."""
_TAKES = {
    "armchair ottoman sofa": (
        "basketball book box cellphone cloth creditcard keychain laptop newspaper pillow "
        "remotecontrol"
    ),
    "bathtubbasin": "cloth dishsponge handtowel soapbar",
    "bed": "baseballbat basketball book cellphone laptop newspaper pillow tennisracket",
    "cabinet": (
        "book bowl box candle cd cloth cup dishsponge glassbottle handtowel kettle ladle mug "
        "newspaper pan peppershaker plate plunger pot saltshaker soapbar soapbottle "
        "spraybottle tissuebox toiletpaper toiletpaperroll vase wateringcan winebottle"
    ),
    "cart": (
        "candle cloth dishsponge handtowel mug papertowel plunger soapbar soapbottle "
        "spraybottle statue tissuebox toiletpaper toiletpaperroll vase"
    ),
    "coffeemachine": "mug",
    "coffeetable countertop diningtable sidetable": (
        "alarmclock apple baseballbat basketball book bowl box bread butterknife candle cd "
        "cellphone cloth creditcard cup dishsponge egg fork glassbottle handtowel kettle "
        "keychain knife ladle laptop lettuce mug newspaper pan papertowel pen pencil "
        "peppershaker plate pot potato remotecontrol saltshaker soapbar soapbottle spatula "
        "spoon spraybottle statue tennisracket tissuebox toiletpaper toiletpaperroll tomato "
        "vase watch wateringcan winebottle"
    ),
    "desk": (
        "alarmclock basketball book bowl box candle cd cellphone cloth creditcard cup "
        "glassbottle keychain laptop mug newspaper pen pencil plate remotecontrol soapbottle "
        "spraybottle statue tennisracket tissuebox toiletpaper toiletpaperroll vase watch "
        "wateringcan winebottle"
    ),
    "drawer": (
        "book butterknife candle cd cellphone cloth creditcard dishsponge fork handtowel "
        "keychain knife ladle newspaper pen pencil peppershaker remotecontrol saltshaker "
        "soapbar soapbottle spatula spoon spraybottle tissuebox toiletpaper toiletpaperroll "
        "watch wateringcan"
    ),
    "dresser": (
        "alarmclock basketball book bowl box candle cd cellphone cloth creditcard cup "
        "glassbottle keychain laptop mug newspaper pen pencil plate remotecontrol spraybottle "
        "statue tennisracket tissuebox toiletpaper toiletpaperroll vase watch wateringcan "
        "winebottle"
    ),
    "fridge": (
        "apple bowl bread cup egg glassbottle lettuce mug pan plate pot potato tomato winebottle"
    ),
    "garbagecan": (
        "apple bread cd cloth dishsponge egg handtowel lettuce newspaper papertowel pen "
        "pencil potato soapbar soapbottle spraybottle tissuebox toiletpaper toiletpaperroll "
        "tomato winebottle"
    ),
    "handtowelholder": "handtowel",
    "laundryhamper": "cloth",
    "microwave": "apple bowl bread cup egg glassbottle mug plate potato tomato",
    "paintinghanger toaster": "",
    "safe": "cd cellphone creditcard keychain statue vase watch",
    "shelf": (
        "alarmclock book bowl box candle cd cellphone cloth creditcard cup dishsponge "
        "glassbottle handtowel kettle keychain mug newspaper papertowel pen pencil "
        "peppershaker plate pot remotecontrol saltshaker soapbar soapbottle spraybottle "
        "statue tissuebox toiletpaper toiletpaperroll vase watch wateringcan winebottle"
    ),
    "sinkbasin": (
        "apple bowl butterknife cloth cup dishsponge egg fork glassbottle handtowel kettle "
        "knife ladle lettuce mug pan plate pot potato soapbar spatula spoon tomato"
    ),
    "stoveburner": "kettle pan pot",
    "toilet": (
        "candle cloth dishsponge handtowel newspaper papertowel soapbar soapbottle "
        "spraybottle tissuebox toiletpaper toiletpaperroll"
    ),
    "toiletpaperhanger": "toiletpaper toiletpaperroll",
    "towelholder": "towel",
    "tvstand": "tissuebox",
}
HOLDS: Mapping[str, frozenset[str]] = {
    place: frozenset(things.split())
    for places, things in _TAKES.items()
    for place in places.split()
}
"""Every receptacle that one goes to -> what may be put in or on it."""
CLOSABLE = frozenset({"cabinet", "drawer", "fridge", "microwave", "safe"})
VESSELS = frozenset({"bowl", "box", "cup", "mug", "pan", "plate", "pot"})
KNIVES = frozenset({"knife", "butterknife"})
_FIXED = frozenset({"desklamp", "floorlamp", "houseplant", "mirror", "television"})
"""What cannot be taken and is told all the same where it stands in or on a receptacle."""
_NEWER = frozenset({"aluminumfoil", "dumbbell", "roomdecor", "tabletopdecor"})
"""Not in the AI2-THOR that the game was made with."""


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
