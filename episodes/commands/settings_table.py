"""Lists the settings of an environment, an agent or a model: meaning, values and default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import typer
from pydantic import BaseModel, JsonValue
from rich.table import Table
from rich.text import Text

from inhabit.episodes.commands.output import answers


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One `--set` key."""

    key: str
    meaning: str
    values: str
    """What the setting may be: a type with its range, or the choices."""
    default: str


def setting_rows(settings: type[BaseModel]) -> Sequence[SettingRow]:
    """Every setting, in the order of its declaration."""
    schema = settings.model_json_schema()
    defaults: Mapping[str, JsonValue] = settings().model_dump(mode="json")
    return [
        SettingRow(
            key=key,
            meaning=" ".join(str(field.get("description", "")).replace("`", "").split()),
            values=_values(field, schema.get("$defs", {})),
            default=_typed(defaults[key]),
        )
        for key, field in schema.get("properties", {}).items()
    ]


def settings_json(settings: type[BaseModel]) -> JsonValue:
    """The rows of `setting_rows` as plain values."""
    return [asdict(row) for row in setting_rows(settings)]


def settings_table(title: str, settings: type[BaseModel]) -> Table:
    """The rows of `setting_rows` for a terminal."""
    table = Table(title, "meaning", "values", "default", box=None)
    for row in setting_rows(settings):
        table.add_row(*(Text(cell, overflow="fold") for cell in asdict(row).values()))
    return table


def listing(groups: Mapping[str, type[BaseModel]], help_text: str) -> Any:
    """The option `--settings` of a command: prints every group, and ends the command."""

    def listed(wanted: bool) -> None:
        if not wanted:
            return
        for title, settings in groups.items():
            answers().print(settings_table(title, settings))
            answers().print()
        raise typer.Exit

    return typer.Option("--settings", is_eager=True, callback=listed, help=help_text)


def _typed(value: JsonValue) -> str:
    """A value as one types it after `--set KEY=`."""
    if value is None or value == [] or value == {} or value == "":
        return "none"
    if isinstance(value, list):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _values(field: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    if "$ref" in field:
        return _values(definitions[field["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in field:
        typed = [kind for kind in field["anyOf"] if kind.get("type") != "null"]
        kinds = [_values(kind, definitions) for kind in typed]
        return ", or ".join(dict.fromkeys(kinds))
    if "allOf" in field:
        return _values(field["allOf"][0], definitions)
    if "const" in field:
        return str(field["const"])
    if "enum" in field:
        return ", ".join(filter(None, map(str, field["enum"])))
    match field.get("type"):
        case "boolean":
            return "true, false"
        case "integer" | "number" as kind:
            return f"{kind}{_range(field)}"
        case "array":
            return "comma-separated list"
        case "object":
            return "NAME=VALUE,..."
        case "string":
            return "text"
        case _:
            return "any"


def _range(field: Mapping[str, Any]) -> str:
    lower = field.get("minimum"), field.get("exclusiveMinimum")
    upper = field.get("maximum"), field.get("exclusiveMaximum")
    bounds = [
        f">= {lower[0]:g}" if lower[0] is not None else "",
        f"> {lower[1]:g}" if lower[1] is not None else "",
        f"<= {upper[0]:g}" if upper[0] is not None else "",
        f"< {upper[1]:g}" if upper[1] is not None else "",
    ]
    given = ", ".join(filter(None, bounds))
    return f" {given}" if given else ""
