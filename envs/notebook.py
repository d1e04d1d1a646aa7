"""How observations and tables look in a notebook: plain HTML, every text escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from inhabit.envs.core import Observation
from inhabit.envs.pictures import data_url

_SIDE = 300
"""Pixels that a small image is enlarged to, at least."""
_WORDS = 20
"""Characters from which a cell is as wide as a line of text."""


def html(observation: Observation, caption: str = "") -> str:
    """An image with text beside it.

    Of an observation with clips and no image the last frame is shown.
    """
    rgb = observation.rgb
    if rgb is None and observation.clips:
        rgb = observation.clips[-1].frames[-1]
    picture = "" if rgb is None else _img(rgb)
    texts = "".join(f"<div>{escape(text)}</div>" for text in (caption, observation.text) if text)
    return f"<figure style='margin:0'>{picture}<figcaption>{texts}</figcaption></figure>"


def table(rows: Sequence[Mapping[str, object]], most: int = 20) -> str:
    """The first `most` rows as an HTML table."""
    if not rows:
        return "<p>No rows.</p>"
    names = list(rows[0])
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(row[name])}</td>" for name in names) + "</tr>"
        for row in rows[:most]
    )
    more = f"<p>{len(rows) - most} more rows.</p>" if len(rows) > most else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _img(rgb: NDArray[np.uint8]) -> str:
    width = max(_SIDE, rgb.shape[1])
    size = f"width='{width}' style='max-width:100%'"
    return f"<img src='{data_url(rgb)}' {size} alt='What the agent sees'>"


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    text = "" if value is None else str(value)
    shown = escape(text if len(text) <= 120 else text[:119] + "…")
    # Notebooks make such columns as narrow as their longest word.
    return shown if len(text) <= _WORDS else f"<div style='min-width:12em'>{shown}</div>"
