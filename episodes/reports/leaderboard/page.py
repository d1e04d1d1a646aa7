"""The leaderboard as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from inhabit.episodes.reports.leaderboard.rows import RunRow
from inhabit.episodes.reports.page.document import pieces
from inhabit.episodes.scoring.metric import METRICS

_FILTERS = ("env", "backend", "candidates", "grants", "agent", "image")


def page(found: Sequence[RunRow]) -> str:
    """All boards, with filters for what their runs differ in."""
    choices = {name: sorted({str(getattr(row, name)) for row in found}) for name in _FILTERS}
    boards: dict[str, list[RunRow]] = {}
    for row in found:
        boards.setdefault(row.board, []).append(row)
    return "".join(
        pieces(
            "leaderboard.html",
            folder=Path(__file__).parent,
            boards=boards,
            filters={name: values for name, values in choices.items() if len(values) > 1},
            metrics=[m for m in METRICS.usable()[0] if any(m.name in row.figures for row in found)],
            runs=len(found),
        )
    )
