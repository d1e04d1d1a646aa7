"""A hook of mkdocs: puts the help of every command where docs/commands.md has its marker."""

from __future__ import annotations

from typing import Any

from typer.testing import CliRunner

from inhabit.cli import app
from inhabit.eie.commands import COMMANDS as EIE_COMMANDS
from inhabit.episodes.commands import COMMANDS as EPISODE_COMMANDS

_MARKER = "<!-- commands -->"


def on_page_markdown(markdown: str, **page: Any) -> str:
    """The page with the commands' help in it."""
    return markdown.replace(_MARKER, _reference()) if _MARKER in markdown else markdown


def _reference() -> str:
    parts = []
    for name in {**EPISODE_COMMANDS, **EIE_COMMANDS}:
        said = CliRunner().invoke(
            app(), [name, "--help"], prog_name="inhabit", env={"COLUMNS": "96"}
        )
        if said.exit_code:
            raise RuntimeError(f"`inhabit {name} --help` failed: {said.output}")
        parts.append(f"## {name}\n\n```text\n{said.output.strip()}\n```\n")
    return "\n".join(parts)
