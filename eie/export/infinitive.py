"""Goals as infinitives without "to": "heat the mug", as EgoPlan-Bench's `task_goal` has them."""

from __future__ import annotations

import re

_POLITE = re.compile(r"(?:please,?|(?:can|could|would|will) you(?: please)?)\s+", re.IGNORECASE)
_PERSON = r"(?:I|we|you)"
_WISH = r"(?:need|want|would like|have|must|should|are|am)"
_FORMS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(form, re.IGNORECASE | re.DOTALL), made)
    for form, made in (
        (rf"{_PERSON} {_WISH} (?:you )?to (.+)", r"\1"),
        (rf"{_PERSON} (?:must|should) (.+)", r"\1"),
        (rf"{_PERSON} (?:need|want|would like) (.+?) to be (.+)", r"get \1 to be \2"),
        (rf"{_PERSON} (?:need|want|would like) (.+)", r"get \1"),
        (r"your (?:task|goal|job) is to (.+)", r"\1"),
        (r"tidy up: (.+?) belongs? (.+)", r"put \1 \2"),
        (r"there (?:should|must) be (.+)", r"make sure that there is \1"),
        (r"(?:there|it|that|this|if|when|once|after) .+", r"reach this goal: \g<0>"),
        (r"(the|an?|two|both|one) (.+?) belongs? (.+)", r"put \1 \2 \3"),
        (r"(the|an?|two|both|one) (.+?) (?:should|must|has to|have to) be (.+)",
         r"get \1 \2 to be \3"),
        (r"(?:the|an?|two|three|both|one|all|my|your|our|some) .+", r"reach this goal: \g<0>"),
    )
)  # fmt: skip


def infinitive(goal: str) -> str:
    """The goal as the end of "I am tasked to ...", lower-case and without a full stop.

    Requests lose their politeness; statements of what should hold become "get ... to be ..." or
    "put ... in ...". A sentence that fits no known form follows "reach this goal:".

    Args:
        goal: one or several sentences in the imperative, or as a wish or a statement.
    """
    whole = " ".join(goal.split()).rstrip(".!? ")
    whole = _POLITE.sub("", whole, count=1) if _POLITE.match(whole) else whole
    whole = whole[:1].lower() + whole[1:] if not re.match(r"I\b", whole) else whole
    for form, made in _FORMS:
        found = form.fullmatch(whole)
        if found:
            return found.expand(made)
    return whole
