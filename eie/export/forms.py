"""The forms that `inhabit export` writes, by name."""

from __future__ import annotations

from enum import StrEnum


class Form(StrEnum):
    """A form of other people's training code."""

    LLAVA = "llava"
    MESSAGES = "messages"
    EGOPLAN = "egoplan"
    PCA = "pca"
    LEROBOT = "lerobot"
