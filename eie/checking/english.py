"""English words and wordings of goals, by which `meaning` reads them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from inhabit.eie.checking.nouns import NUMBERS
from inhabit.envs.template import ActionKind

POLITE = re.compile(
    r"\b(?:(?:could|can|would|will) you(?: please| kindly| mind)?|do you mind|please|kindly|"
    r"for me|thank you|thanks|(?:i|we) (?:would like|want|need) you to|i'd like you to|"
    r"be so kind as to|(?:it would be \w+|i(?:'d| would) (?:be \w+|appreciate it)) if"
    r"(?: you (?:could|would))?|(?:do not|don['\u2019]t|never) forget to|"
    r"why do(?: not|n['\u2019]t) you|"
    r"if you (?:can|could|would|don't mind|please)(?!['\u2019n])|if possible|"
    r"un?till? (?=(?:(?:it|they)(?: is| are| has| have|['\u2019]s|['\u2019]re)(?: been)? )?"
    r"(?:\w+ly |nice and |piping |steaming |ice |well )?"
    r"(?:hot|warm|heated|cold|cool|cooled|chilled|clean|washed)\b)|or before|"
    r"if it(?:'s| is) not too much trouble|"
    r"(?:starting )?from (?:nothing|scratch)|one after (?:the other|another)|"
    r"while (?=(?:you(?: are|['\u2019]re)? )?(?:still )?hold)|"
    r"when(?:ever)? you (?:have time|can|get (?:a|the) chance))\b"
)
CHANGING = re.compile(
    r"\b(?:not|cannot|never|no|nothing|nowhere|none|nobody|no one|neither|nor|without|"
    r"forb\w+|prohibit\w*|stop\w*|refuse|(?:do|does|ca|wo|is|are|should|must)nt|at (?:most|least)|"
    r"apart from|other than|each|eleven|twelve|dozen|hundred|seconds|"
    r"(?:lie|lying|sit|sitting|sleep)\w* (?:down )?(?:under|behind|beside|next to|near|below)|"
    r"unless|except|until|till|only|instead|"
    r"rather|kidding|joking|scratch that|never ?mind|second thoughts?|hold off|refrain|avoid|skip|"
    r"on and off|to (?:me|us)|(?:on|at|to) the (?:back|side|front|door) of (?!the toilet)|"
    r"have (?:my|your|the) (?:son|daughter|sister|brother|wife|husband|friend|child|kids?)|"
    r"(?:let|ask|tell) (?:my|our|your)|either|or|if|twice|thrice|"
    r"(?<!away )(?<!back )again|three|four|five|"
    r"six|seven|eight|nine|ten|(?<!it )all|every|everything|anything|anywhere|"
    r"for (?:my )?\w+ to (?:switch|turn|put|take|wash|heat|cook|cool|close|open|start|slice|do)|"
    r"elsewhere|tomorrow|midnight|noon|minutes?|hours?|"
    r"half|(?:a|one) (?:third|quarter)|part of|"
    r"(?:throw|toss|give)\w* (?:\w+ ){0,3}(?:away|at|past)|"
    r"leave (?!(?:it|them) there)(?:\w+ ){1,3}(?:alone|as|where|untouched|there))\b|n['\u2019]t\b"
)
"""Words that change what a goal means."""
BEGINS = re.compile(
    r"(?:^\s*|(?:[.,;:!?\u2014]|\b(?:and|then|but|to|you|must|should|be|been|being|gets?|"
    r"after|before|once|when|while|until|during))\s+)"
    r"(?=(?:\w+ly\s+)?(?P<word>[^\W\d_]+))"
)
"""What comes before a verb that is asked for, and before other words."""
WORD = re.compile(r"(?P<word>[^\W_]+)")
NEUTRAL = """
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
NEUTRAL_WORDS = frozenset(NEUTRAL.split())
PLAIN = """
a all an and another back block blocks both couple door down each every flat get go hand hands have
here hold house inside it its lump lumps me my of off one open other our out over pair pick piece
pieces s slice slices some sure take that the their them there these this those to together top up
use you your
"""
PLAIN_WORDS = frozenset((*PLAIN.split(), *NUMBERS))
"""Words that plain steps may have besides objects, wished verbs, prepositions and order."""
ROOM = re.compile(r"\b(?:kitchen|bathroom|bedroom|living ?room|room|hall)s?\b")
BRIEFLY = re.compile(
    r"\b((?:watch|sit|lie|look|heat|warm|cook|cool|chill|wash|rinse)(?:ing)?\b"
    r"(?:(?!\b(?:and|then)\b)[^,.;])*?)\s+for (?:just )?a (?:little |short )?(?:bit|while|moment)\b"
)
"""What may be asked for "for a bit", which then says nothing."""
PURPOSE = re.compile(
    r"^\s*to (?!the\b|an?\b|my\b|your\b)\w+[^,;.]*,|"
    r"\bso(?: that)? (?:\w+ ){1,4}?(?:can|could|may|might|will|won['\u2019]t|(?:do|does) not|"
    r"do(?:es)?n['\u2019]t)\b.*?(?=[.,;]|\band\b|\bthen\b|$)"
)
"""What a goal is good for, which asks for nothing: "so that I can find it"."""
CONDITION = re.compile(
    r"\b(?P<word>if|should|in case|when|unless)\b(?P<between>[^,.;]*?)\b"
    r"(?:(?P<not>not)\s+)?(?P<state>dirty|filthy|clean|washed)\b"
)
OTHERWISE = re.compile(r"\b(?:if not|otherwise|else)\b")
_ENDING = "(?:y|e|es|ies|ed|ied|s|ing|ying|wn|(?:[bdglmnprt])(?:ed|ing))?"
"""Endings of verbs; a stem with any letters would take "beat" for a form of "be"."""
FAMILIES: Mapping[str, re.Pattern[str]] = {
    "heat": re.compile(
        r"\b(?:(?:re|pre)?heat\w*|warm\w*|hot|cook(?:s|ed|ing)?|microwaved?|boil\w*|toast(?:ed)?)\b"
    ),
    "cool": re.compile(r"\b(?:cool\w*|chill\w*|cold|refrigerated?|freeze|frozen)\b"),
    "wash": re.compile(r"\b(?:wash\w*|clean\w*|rins\w*|scrub\w*)\b"),
    "slice": re.compile(r"\b(?:slic\w*|cut(?:s|ting)?|chop\w*|pieces?)\b"),
    "light": re.compile(
        r"\b(?:(?:turn|switch)\w*\s+(?:it\s+|them\s+|(?:the|an?)\s+(?:\w+\s+){0,2})?on|light|running|"
        r"start\w*\s+(?:it|them|the)|on(?=\s*(?:$|[.,;:!?]|and\b))|"
        r"(?:under|beneath|with|using)\s+(?:\w+\s+){0,2}\w*lamp(?![^.;]*\boff\b)|watch\w*|listen\w*|examin\w*|"
        r"inspect\w*|look at)\b"
    ),
    "off": re.compile(
        r"\b(?:(?:turn|switch)\w*\s+(?:\w+\s+){0,3}(?:off|out)|"
        r"(?:leav\w*|keep\w*|is|are|be|with)\s+(?:\w+\s+){0,4}off)\b"
    ),
    "fill": re.compile(r"\b(?:fill|pour)\w*\b"),
    "read": re.compile(r"\bread(?:s|ing)?\b"),
    "eat": re.compile(r"\b(?:(?<!to )eat(?:s|ing|en)?|feed\w*)\b"),
}
"""What may be done to things, in the words that people have for it."""
TOLD: Mapping[str, re.Pattern[str]] = {
    "close": re.compile(r"\b(?:clos(?:e|es|ed|ing)|shut\w*)\b(?! (?:to|by)\b)"),
    "defeat": re.compile(
        r"\b(?:defeat|kill|slay|slain|hunt|fight|combat|slaughter|attack|battle|butcher|beat|"
        r"take (?:out|down))\w*\b"
    ),
    "put": re.compile(
        r"\b(?:(?:put|plac|set|mov|bring|tak|carr|get|leav|lay|drop|stor|stow|stash|stick|pop|tuck|"
        r"return|transfer|deliver|transport|relocat|shift|throw|toss|load|clear|tid|stand|hang|"
        r"deposit|position|arrang|shelv|belong|keep|gather|collect|serv|need|like|want)"
        rf"{_ENDING}|brought|left|laid|stuck|taken|go|goes|"
        r"going|gone|ends? up|be|been|being|is|are|were|have|has|having|with)\b"
    ),
    "lie": re.compile(r"\b(?:lie|lies|lying|lay|sleep|nap|rest)\w*\b"),
    "sit": re.compile(r"\b(?:sit|sat|seat)\w*\b|\bwatch\w* (?:\w+ ){0,3}(?:from|on) (?:the|an?)\b"),
    "get": re.compile(
        r"\b(?:(?:get|obtain|collect|gather|min|dig|chop|cut|harvest|pick|fetch|bring|craft|mak|"
        r"build|produc|smelt|fir|bak|acquir|hav|hold|own|need|want|hunt|kill)"
        rf"{_ENDING}|got|brought|made|built|has|like)\b"
    ),
    "use": re.compile(
        r"\b(?:uses?|using|wear(?:s|ing)?|wield(?:s|ing)?|equip(?:s|ping)?|"
        r"put(?:ting)? (?:it|them) on(?! the\b)|put(?:ting)? on)\b"
    ),
}
"""What has to be said if it is wished, and may be said otherwise."""
DOES = {
    "microwave": "heat",
    "stove": "heat",
    "toaster": "heat",
    "washing machine": "wash",
    "dishwasher": "wash",
    "fridge": "cool",
}
"""What a thing does to what is in it while it is closed or on."""
TREATED = ("heat", "cool", "wash")
"""Families of what is done to the thing that is moved."""
ON_THE_WAY = (ActionKind.MAKE, ActionKind.GATHER, ActionKind.DROP)
"""Kinds of actions that a goal need not tell of, unless they are the last ones."""
WISHED = {"turn on": "light", "turn off": "off"}
MEANS: Mapping[str, frozenset[str]] = {
    "heat": frozenset(("microwave", "stove burner", "stove", "toaster")),
    "cool": frozenset(("fridge",)),
    "wash": frozenset(("sink", "faucet")),
    "slice": frozenset(("knife", "butter knife")),
}
"""What things a goal may name for what is done with them."""
ASIDE = re.compile(r"\s+(?:back\s+|down\s+)?(?:in|into|on|onto|inside|to|at|down|away)\b")
"""What follows a knife that is put somewhere."""
FETCHED = re.compile(
    r"\b(?:(?:take|grab|get|fetch|pick up|collect)(?: me)?|bring (?:me|us))\s+"
    r"(?:(?:the|a|an|my|your)\s+)?$"
)
"""What comes before a thing that is only to be fetched: "take the ball in the fridge"."""
NO_WISH = re.compile(
    r"\s*(?:(?:is|are|was|were|did|does|has|have you|do you|where|who|why|which|"
    r"find out|look whether|"
    r"somebody put|someone put|(?:i|you|we|he|she|they)(?:['\u2019]ve| have| had) "
    r"(?!to\b|a\b|the\b)\w+)\b|"
    r"(?:the|an?|my|your)(?: \w+){1,2} (?:is|are|was|were) (?:already |now )?"
    r"(?:in|on|inside|at)\b[^,;:.]*\.?$)"
)
"""What asks or tells for a fact, and wishes nothing."""
SWITCHES = re.compile(r"\b(?:turn|switch)\w* (?:on|off)\b")
LEADS = frozenset(["in", "into", "on", "onto", "inside", "to", "upon", "atop", "within", "at"])
PREPOSITION = re.compile(
    r"\b(?:(?:next|close|near) to|in|into|on|onto|inside|to|upon|atop|within|at|from|out|off|with|"
    r"containing|holding|next|near|beside|by|close|across|left|right|above|below|under|underneath|"
    r"beneath|behind|between|opposite|front|along|using)\b"
)
BESIDE = re.compile(
    r"\b(?:next to|near(?: to)?|beside|by|close to|across from|left|right|above|below|"
    r"(?<!piece )(?<!pieces )(?<!slice )(?<!slices )of|under|"
    r"behind|between|from|off|opposite|over|with|using|along|"
    r"(?:that|which) (?:is|are|stands?|lies?) (?:in|on|inside))\s+(?:\w+\s+){0,3}$"
)
"""What comes before a thing that only tells where another one is."""
APART = re.compile(r"\s+(?:\w+\s+)?(?:next to|beside|near|by|under|behind|outside)\b")
"""What follows a thing that is only beside the one that it is said to be with."""
LAID = re.compile(r"\b(?:set|lay|load)\s+(?:the\s+)?$")
"""What comes before a place that something is put on: "set the table with a plate"."""
ORIGIN = re.compile(
    r",?\s+(?P<clause>(?:that|which)\b\S*\s+(?:\w+\s+){0,2}|"
    r"lying\s+|standing\s+|sitting\s+|left\s+|kept\s+)?"
    r"(?:(?P<from>from|off|out of)|in|on|inside)\s+(?:top of\s+)?(?:the|a|an|my|your|our)?\s*"
)
"""What stands between a thing and the place where it is."""
SWITCHED = re.compile(r"\b(?:turn|switch|flick|flip|power|click|put)\w*\s+on\s+(?:\w+\s+){0,2}$")
NUMBERED = re.compile(
    rf"\b({'|'.join(NUMBERS)}|pair|couple)\s+(?:of\s+)?(?:(?:\w+\s+)?of\s+|\w+\s+)?$"
)
OF_IT = re.compile(
    rf"\b({'|'.join(NUMBERS)}|pair|couple)\s+(?:of\s+(?:the|its|those)\s+)?(?:slices|pieces)\b"
)
"""Counts what something named before is cut into: "two of the slices"."""
ANOTHER = re.compile(r"\b(?:another|second|the other)\b")
SECOND = re.compile(
    r"\b(?:another|the other|second|third|fourth|fifth|\d+(?:nd|rd|th))\s+"
    r"(?:(?!(?:in|on|into|onto|to|from|of|one)\b)\w+\s+)?$"
)
"""What comes before one more thing of a kind."""
EVERY = re.compile(r"\b(?:all|every|each)\b")
BOTH = re.compile(
    r"\bboth (?:the |an? )?\w+(?: \w+)? and\b|\b(?:them|these) both\b|\bboth of them\b"
)
"""Says that two things are meant which have names of their own."""
TWO = re.compile(
    r"\b(?:two|both|another|second|pair of|the other)\b"
    r"(?! (?:things|tasks|goals|day|hand|side))"
)
UNDONE = re.compile(
    r"\b(?:(?:take|remove|pull|get|fetch|lift|pick|bring|grab|hold)\w* (?:it|them|both|the|that)\b"
    r"(?! from| there)|"
    r"(?:put|set|place|lay|move|drop|carry)\w* (?:it|them|that|one of them) "
    r"(?:down|back|here|on top|elsewhere|somewhere|outside|away)\b|"
    r"open (?:it|them|the)|go (?:back )?to)\b"
)
"""Words that begin what is done with a thing after it is where it is wanted."""
BARE = re.compile(r"\s*(?:the\s+|an?\s+)?$")
SOURCE = re.compile(
    r"\b(?:from|of|with|using|by)\b|^\s*(?:in|inside|on|at)\s+(?:(?:the|a|an|your|that)\s+)?$"
)
"""What leads to the place where something is made, or to what it is made of."""
STORED = re.compile(
    r"\b(?:put|plac|lay|lai|hang|leav|left|drop|stor|set|keep|kept|throw|toss|serv|stand|mov)\w*\s+"
    r"(?:(?:some|the|an?|your|my)\s+)*$"
)
"""What comes before a thing that is put somewhere."""
GIVEN_UP = re.compile(r"\b(?:put|set|leave|drop|burn|fire|bake|throw) (?:it|them)\b(?! on)")
COOKED = re.compile(
    r"(?<!\bcan )(?<!\bwill )(?<!\bto )\b(?:cook|roast|fry|grill)\s+(?P<which>(?:\w+\s+)?)$"
)
"""What comes before the raw food: "cook some mutton" gets cooked mutton."""
TOGETHER = re.compile(r"\s*(?:,|and|as well as|plus|along with)(?:\s+(?:the|an?|both))*\s*$")
PRONOUN = re.compile(r"\b(?:it|them|that|this)\b")
ORDER = re.compile(
    r"\b(?:then|first|after\w*|before\w*|once|when|next|finally|followed|later|as soon as|last)\b"
)
LATER = re.compile(
    r"(?:\b(?:and|then|afterwards?|later|finally)\b|[,;.])\s+(?:(?:then|afterwards?|only|i) )*"
    r"(?:(?:re)?(?P<heat>heat|warm|cook|microwave|boil|toast)|(?P<cool>cool|chill|refrigerate|freeze)|"
    r"(?P<wash>wash|clean|rinse|scrub))\b(?! (?:mug|cup|plate|bowl|cloth))"
)
"""A treatment that is asked for after something else."""
CUT_LATE = re.compile(
    r"\b(?:heat|warm|cook|cool|chill|wash|clean|rinse)\b[^.;]*\b(?:then|and) (?:slice|cut|chop)\b"
)
"""Something cut after it is treated."""
STRICT = re.compile(r"\b(?:first|before|once|after(?:ward)?s?)\b")
EARLIER = re.compile(
    r"\b(?:after|once|when|as soon as)\b"
    r"(?!\s*(?:that|this|which|it|doing so|the other|another)\b(?! is| has))"
)
"""Words that begin a clause on what comes first, whatever its place in the sentence."""
