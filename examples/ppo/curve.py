"""Draws learning curves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure


def plot(rows: Sequence[Any], results: Sequence[Any], name: str, path: Path) -> None:
    """A line for each seed, and the success rates on new tasks before and after training."""
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    for result in results:
        own = [row for row in rows if row["seed"] == result["seed"]]
        steps = [row["steps"] for row in own]
        (line,) = axes.plot(
            steps, [row["success"] for row in own], label=f"seed {result['seed']}", linewidth=1.5
        )
        axes.plot(steps[-1], result["trained"], "o", color=line.get_color())
    random = sum(result["random"] for result in results) / len(results)
    axes.axhline(random, color="gray", linestyle="--", label=f"random, {random:.2f}")
    axes.axhline(0.8, color="gray", linestyle=":", linewidth=1)
    axes.set(xlabel="steps", ylabel="success rate", ylim=(0, 1.02), title=name)
    axes.set_xlim(left=0)
    axes.legend(loc="lower right", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)
