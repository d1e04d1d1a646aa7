"""What becomes of each action that AI2-THOR has: it works, differs, or is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from inhabit.envs.plain_data import csv_rows
from inhabit.envs.simulators.household.actions import ACTIONS, OF_ARM
from inhabit.envs.simulators.household.actions.arguments import ThorAction

Status = Literal["done", "approximated", "refused"]


@dataclass(frozen=True, slots=True)
class Row:
    """One action."""

    family: str
    name: str
    """THOR's name of the action."""
    status: Status
    note: str = ""
    """How the action is approximated, or why it is refused."""


ROWS = tuple(
    Row(row["family"], name, cast(Status, row["status"]), row["note"])
    for row in csv_rows("inhabit.envs.simulators.household.actions", "actions.csv")
    for name in row["actions"].split()
)
"""All actions, family by family."""
_WITHOUT_ARM = 'The agent has no arm: start with Controller(agentMode="arm").'
REFUSED: Mapping[str, str] = {row.name: row.note for row in ROWS if row.status == "refused"}
"""Actions that fail, and the sentence that each fails with."""
UNARMED: Mapping[str, str] = {name: _WITHOUT_ARM for name in OF_ARM if name not in ACTIONS}
"""Actions that only an agent with an arm has, and the sentence that each fails with."""


OLDEST_ALONE: Mapping[str, frozenset[str]] = dict.fromkeys(
    ("PutObject", "PlaceHeldObject"), frozenset({"receptacleObjectId"})
)
"""Arguments of release 2.1.0 that later ones refuse, by action."""
_OLDEST: Mapping[str, str] = {
    "PutObject": "works; `objectId` is the held object, where `receptacleObjectId` is given",
    "SetObjectPoses": (
        "differs: names such as `Mug_a1b2c3d4` stand for their types; surplus objects of a type "
        "leave the room"
    ),
}
"""What becomes of an action for release 2.1.0, where this is not the same as for later ones."""
_SAYS: Mapping[Status, str] = {"done": "works", "approximated": "differs", "refused": "refused"}


def markdown() -> str:
    """The table of docs/thor.md: actions that have all but their names in common share a line."""
    lines = [
        "| actions | arguments | releases 2.7, 4.3 and 5.0 | release 2.1, if not the same |",
        "|---|---|---|---|",
    ]
    together: dict[tuple[str, str, str, str], list[str]] = {}
    for row in ROWS:
        status = f"{_SAYS[row.status]}: {row.note}" if row.note else _SAYS[row.status]
        oldest = _OLDEST.get(row.name, "")
        line = row.family, _arguments(row), status, oldest
        together.setdefault(line, []).append(f"`{row.name}`")
    for (family, arguments, status, oldest), names in together.items():
        lines.append(f"| {family}: {', '.join(names)} | {arguments} | {status} | {oldest} |")
    return "\n".join(lines)


def _arguments(row: Row) -> str:
    """The arguments of an action, those of an arm's after those of the default agent's."""
    action, armed = ACTIONS.get(row.name), OF_ARM.get(row.name)
    if row.status == "refused" or not (action or armed):
        return ""
    told = "; with an arm: ".join(_told(one) for one in (action, armed) if one)
    return told.replace("`receptacleObjectId`", "`receptacleObjectId` (2.1 alone)")


def _told(action: ThorAction) -> str:
    told = [f"**`{one}`**" if one in action.needed else f"`{one}`" for one in action.names]
    told += [f"*`{one}`*" for one in action.idle] + ["*any*"] * action.open
    return ", ".join(told) or "none"
