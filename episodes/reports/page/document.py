"""One HTML file out of a template: style and script inside, every text escaped, nothing fetched."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from pydantic import JsonValue

from inhabit.episodes.reports.wording import counted, duration, nats, percent, spoken

_HERE = Path(__file__).parent
LONGEST = 20_000
"""Characters of one text that a page shows; the record has the rest."""


def render(template: str, *, live: bool = False, **shown: object) -> str:
    """The page that `template` makes of `shown`; with `live`, it asks for what has changed."""
    return "".join(pieces(template, folder=_HERE, live=live, **shown))


def pieces(
    template: str, *, folder: Path = _HERE, live: bool = False, **shown: object
) -> Iterator[str]:
    """The page of `render` piece by piece, for long pages.

    Args:
        template: its name in `folder`, or in this package.
        folder: has the template, its `page.js`, and perhaps a `style.css` that goes on from ours.
        live: whether it is served, and listens for changes of what it shows.
        shown: what the template asks for.
    """
    style = _asset(_HERE / "style.css")
    if folder != _HERE and (own := folder / "style.css").exists():
        style += _asset(own)
    script = _asset(folder / "page.js")
    return (
        templates(folder)
        .get_template(template)
        .generate(
            style=style, script=script, policy=_policy(style, script, live=live), live=live, **shown
        )
    )


def cut(text: str, longest: int = LONGEST) -> str:
    """`text`, or its beginning and how much more there is."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]}\n[cut here: {len(text) - longest:,} more characters in the record]"


def json_block(value: JsonValue) -> Markup:
    """`value` as JSON that can stand in a `script` element and never be taken for markup."""
    plain = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(plain.replace("<", "\\u003c").replace("\u2028", "\\u2028"))


@cache
def templates(folder: Path) -> Environment:
    """Templates in `folder`, and ours: every text is escaped, and none may be missing."""
    found = Environment(
        loader=FileSystemLoader([folder, _HERE]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {
        "percent": percent,
        "duration": duration,
        "nats": nats,
        "counted": counted,
        "spoken": spoken,
        "moment": lambda created: created[:16].replace("T", " ") + " UTC",
        "cut": cut,
        "thousands": lambda number: f"{number:,}",
        "sentence": lambda title: title[:1].upper() + title[1:],
        "words": lambda name: name.replace("_", " "),
        "pretty": lambda value: json.dumps(value, indent=2, ensure_ascii=False),
    }
    return found


@cache
def _asset(file: Path) -> Markup:
    return Markup(file.read_text(encoding="utf-8"))


def _policy(style: str, script: str, *, live: bool) -> str:
    """What a browser may do with the page: this style, this script, and images beside it."""
    return "; ".join(
        [
            "default-src 'none'",
            *(["connect-src 'self'"] if live else []),
            f"style-src '{_digest(style)}'",
            f"script-src '{_digest(script)}'",
            "img-src data: 'self' file:",
            "media-src 'self' file:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
