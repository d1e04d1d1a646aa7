"""English nouns: articles and plurals."""

from __future__ import annotations

from collections.abc import Collection, Mapping

_IRREGULAR = {"knife": "knives", "shelf": "shelves", "loaf": "loaves", "leaf": "leaves"}

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def number(count: int) -> str:
    """A number in words, up to ten: "no", "one"."""
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def with_article(noun: str) -> str:
    """The noun with "a" or "an"."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def plural(noun: str) -> str:
    """The plural: "apple slices", "butter knives", "sets of keys"."""
    head, of, rest = noun.partition(" of ")
    first, space, last = head.rpartition(" ")
    if last in _IRREGULAR:
        last = _IRREGULAR[last]
    elif last.endswith(("s", "sh", "ch", "x", "z", "to")):
        last = f"{last}es"
    elif last.endswith("y") and last[-2:-1] not in "aeiou":
        last = f"{last[:-1]}ies"
    else:
        last = f"{last}s"
    return f"{first}{space}{last}{of}{rest}"


def without_number(name: str) -> str:
    """A name without its number: "mug" for "mug_2"."""
    stem, _, number = name.rpartition("_")
    return stem if stem and number.isdigit() else name


def is_plural(noun: str) -> bool:
    """Whether a noun is a plural, as "bananas" and "pants"."""
    return noun.endswith("s") and not noun.endswith(("ss", "us", "is"))


def by_name(names: Mapping[str, Collection[str]]) -> Mapping[str, frozenset[str]]:
    """Kind -> its further names, turned round: each of these, singular and plural -> its kinds."""
    found: dict[str, set[str]] = {}
    for kind, further in names.items():
        for name in {*further} - names.keys():
            for form in (name, name if is_plural(name) else plural(name)):
                found.setdefault(form, set()).add(kind)
    return {name: frozenset(kinds) for name, kinds in sorted(found.items())}
