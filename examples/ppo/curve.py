"""Draws learning curves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure


def plot(rows: Sequence[Any], results: Sequence[Any], name: str, path: Path) -> None:
    """A line for each training, and the success rates on new tasks before and after it.

    Trainings with several rewards have a colour for each reward, and others one for each seed.
    """
    figure = Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    rewards = list(dict.fromkeys(result["reward"] for result in results))
    labels: list[str] = []
    for result in results:
        reward, seed = result["reward"], result["seed"]
        own = [row for row in rows if (row["reward"], row["seed"]) == (reward, seed)]
        label = f"seed {seed}" if len(rewards) == 1 else f"reward {reward}"
        color = f"C{labels.index(label) if label in labels else len(labels)}"
        steps = [row["steps"] for row in own]
        axes.plot(
            steps, [row["success"] for row in own], color=color, linewidth=1.5,
            label=None if label in labels else label,
        )  # fmt: skip
        axes.plot(steps[-1], result["trained"], "o", color=color)
        labels += [] if label in labels else [label]
    random = sum(result["random"] for result in results) / len(results)
    axes.axhline(random, color="gray", linestyle="--", label=f"random, {random:.2f}")
    axes.axhline(0.8, color="gray", linestyle=":", linewidth=1)
    axes.set(xlabel="steps", ylabel="success rate", ylim=(0, 1.02), title=name)
    axes.set_xlim(left=0)
    axes.legend(loc="lower right", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)
