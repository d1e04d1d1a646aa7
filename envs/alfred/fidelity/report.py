"""An HTML page of every failed trajectory: cause, our image, and the expert's mask."""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from inhabit.envs.alfred.fidelity.verdict import SOLVED, TrajectoryVerdict

_PER_CAUSE = 6
"""Images per cause, at most."""
_HEAD = """<!doctype html><meta charset="utf-8"><title>Fidelity</title>
<style>body{font:15px/1.5 sans-serif;max-width:1000px;margin:2em auto}figure{display:inline-block;
margin:4px;width:300px;vertical-align:top}figcaption{font-size:12px;overflow-wrap:anywhere}</style>
<h1>What failed, by its cause</h1>
<p>Our picture at the expert's pose; in red, the outline of what the expert pointed at in real
AI2-THOR 2.1; in blue, ours of what it meant.</p>
"""


def write(verdicts: Sequence[TrajectoryVerdict], out: Path) -> None:
    """Write `index.html` and its images.

    Args:
        verdicts: of `Court`.
        out: made if it isn't there.
    """
    out.mkdir(parents=True, exist_ok=True)
    failures: dict[str, list[TrajectoryVerdict]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.by_id != SOLVED:
            failures[f"by id: {verdict.by_id}"].append(verdict)
        elif verdict.by_mask != SOLVED:
            failures[f"by mask: {verdict.by_mask}"].append(verdict)
    page = [_HEAD]
    number = 0
    for cause, those in sorted(failures.items(), key=lambda item: (-len(item[1]), item[0])):
        page.append(f"<h2>{html.escape(cause)} ({len(those)})</h2>")
        for verdict in those[:_PER_CAUSE]:
            image = ""
            if verdict.picture is not None:
                number += 1
                Image.fromarray(verdict.picture).save(out / f"{number:03}.png")
                image = f'<img src="{number:03}.png" width="300" height="300" alt="">'
            name = html.escape(verdict.trajectory)
            page.append(f"<figure>{image}<figcaption>{name}</figcaption></figure>")
    (out / "index.html").write_text("\n".join(page), encoding="utf-8")
