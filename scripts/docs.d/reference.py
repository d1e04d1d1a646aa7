"""A hook of mkdocs: puts the reference where docs/python.md has its marker: the help of every
command, and the docstrings of the Python interface.
"""

from __future__ import annotations

import re
from typing import Any

from typer import Context
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from inhabit.cli import app

_MARKER = "<!-- reference -->"
_OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]*\)")
"""A link to a file of the checkout, which the site does not have."""

_DOCUMENTED = (
    "inhabit.api.session.open",
    "inhabit.api.session.tasks",
    "inhabit.api.session.Session",
    "inhabit.episodes.episode.Moment",
    "inhabit.api.playing.run",
    "inhabit.api.reading.read_run",
    "inhabit.api.reading.RunResults",
    "inhabit.api.reading.read_set",
    "inhabit.api.reading.SetResults",
    "inhabit.api.reading.Table",
    "inhabit.frameworks.factory",
    "inhabit.frameworks.rollout",
    "inhabit.frameworks.turn",
    "inhabit.frameworks.gymnasium",
    "inhabit.frameworks.trl",
    "inhabit.frameworks.vagen",
    "inhabit.frameworks.verl_agent",
    "inhabit.agents.custom.register",
    "inhabit.agents.core",
    "inhabit.envs.core",
    "inhabit.envs.registry",
    "inhabit.episodes.recording.reader",
    "inhabit.episodes.recording.schema",
    "inhabit.episodes.scoring.scores.Scores",
)


def on_page_markdown(markdown: str, **page: Any) -> str:
    """The page with the reference in it, and with the names of files in place of links to them."""
    markdown = _OUTSIDE.sub(r"\1", markdown)
    return markdown.replace(_MARKER, _reference()) if _MARKER in markdown else markdown


def _reference() -> str:
    parts = ["## Help of each command\n"]
    command = get_command(app())
    assert isinstance(command, TyperGroup)
    for name in command.list_commands(Context(command)):
        said = CliRunner().invoke(
            app(), [name, "--help"], prog_name="inhabit", env={"COLUMNS": "96"}
        )
        if said.exit_code:
            raise RuntimeError(f"`inhabit {name} --help` failed: {said.output}")
        parts.append(f"### {name}\n\n```text\n{said.output.strip()}\n```\n")
    parts.append("## Python reference\n")
    parts += [f"::: {name}\n" for name in _DOCUMENTED]
    return "\n".join(parts)
