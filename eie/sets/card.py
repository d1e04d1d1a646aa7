"""The card of a set: `README.md`, for people and for the Hub."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from inhabit.eie.checking.splits import SPLITS
from inhabit.eie.sets.baselines import Report, measure
from inhabit.eie.sets.coverage import Coverage, cover, effects, evenness
from inhabit.eie.sets.folder import SetFolder, put
from inhabit.eie.sets.seeing import EyeFeatures
from inhabit.envs.printable import printable

OBJECTS, VERBS, ROOMS, LEFT = 40, 12, 40, 10
"""Maximum rows and columns of the tables; the rest is summarized."""
LEAST = 200
"""Number of examples from which on a baseline with images is measured."""


def write_card(opened: SetFolder) -> Path:
    """Write the card of a set into its folder, and return its file.

    Raises:
        SetError: the set can't be read, or the card can't be written.
    """
    file = opened.folder / "README.md"
    covered = cover(opened)
    report = measure(opened.examples, eyes=_eyes(opened, covered.examples))
    written = card(opened, covered, report).encode("utf-8", "replace")
    put(opened.folder, file.name, written, shared=True)
    return file


def card(opened: SetFolder, covered: Coverage, report: Report | None) -> str:
    """The text of the card; without a `report` where baselines can't be measured."""
    plain = opened.header.model_dump(mode="json")
    return (
        templates()
        .get_template("card.md")
        .render(
            header=opened.header,
            command=shlex.join(opened.header.command),
            settings=plain["settings"],
            covered=covered,
            effects=effects(opened),
            splits=SPLITS,
            kinds=sorted({kind for kind, _ in covered.kinds}),
            verbs=_most(covered.verbs, VERBS),
            objects=_most(covered.objects, OBJECTS),
            rooms=_rooms(covered),
            left=_left(covered),
            most_rooms=ROOMS,
            positions=_positions(covered),
            even=evenness(covered.positions),
            report=report,
            least=LEAST,
        )
    )


def _eyes(opened: SetFolder, examples: int) -> EyeFeatures | None:
    """The eyes for a baseline with images; None for small sets, and where torch is missing."""
    if examples < LEAST or not all(map(find_spec, ("torch", "transformers"))):
        return None
    return EyeFeatures(opened.folder)


def plain_markdown(text: object) -> str:
    """`text` on one line, with Markdown syntax escaped, and control characters written out."""
    return re.sub(r"([\\`*_{}\[\]<>#|~&$])", r"\\\1", _one_line(text))


def in_code(text: object) -> str:
    """`text` on one line, for use between backticks."""
    return _one_line(text).replace("`", "'")


def _one_line(text: object) -> str:
    return printable(re.sub(r"\s+", " ", str(text)))


def _most(counted: dict[str, int], most: int) -> Sequence[str]:
    return [name for name, _ in sorted(counted.items(), key=lambda i: (-i[1], i[0]))[:most]]


def _rooms(covered: Coverage) -> Sequence[tuple[str, list[int]]]:
    """Every room with its number of examples in each split, sorted by name."""
    names = {room for room, _ in covered.rooms}
    rows = [(name, [covered.rooms[name, split] for split in SPLITS]) for name in names]
    return sorted(rows, key=lambda row: _by_number(row[0]))


def _by_number(name: str) -> list[tuple[str, int]]:
    """Sort key that puts "FloorPlan2" before "FloorPlan10"."""
    return [(word, int(number or 0)) for word, number in re.findall(r"(\D*)([0-9]*)", name)]


def _positions(covered: Coverage) -> Sequence[tuple[int, list[int]]]:
    """For each number of candidates, the count of each answer position."""
    numbers = sorted({candidates for candidates, _ in covered.positions})
    return [(n, [covered.positions[n, place] for place in range(n)]) for n in numbers]


def _left(covered: Coverage) -> Sequence[tuple[str, int]]:
    """Number of examples by remaining steps; large numbers are combined."""
    few = [(str(left), covered.difficulty[left]) for left in range(1, LEFT + 1)]
    return [*few, ("more", covered.examples - sum(count for _, count in few))]


@cache
def templates() -> Environment:
    """The templates of cards."""
    templates = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        # The card is Markdown: every untrusted text goes through a filter.
        autoescape=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.filters |= {
        "plain": plain_markdown,
        "code": in_code,
        "percent": lambda share: f"{100 * share:.1f} %",
    }
    return templates
