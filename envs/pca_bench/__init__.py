"""PCA-Bench: an image, a question, one decision (Chen et al. 2023 and 2024), from its files."""

from __future__ import annotations

from inhabit.envs.entries import lazy
from inhabit.envs.pca_bench.scene import PcaSettings
from inhabit.envs.registry import Registration

REGISTRATION = Registration(
    name="pca_bench",
    summary="PCA-Bench: decisions in traffic, at home and in a game; its own tasks: --tasks FOLDER",
    backends=("files",),
    settings=PcaSettings,
    make=lazy("inhabit.envs.pca_bench.env:make"),
    sample=lazy("inhabit.envs.pca_bench.sampling:sample"),
    read=lazy("inhabit.envs.pca_bench.tasks:read"),
    scene_places=("image",),
)
