"""The message after every request."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """The state after a request, packed for the wire."""

    metadata: bytes
    """MessagePack over pipes, JSON over HTTP."""
    images: tuple[tuple[str, bytes], ...]
    """Raw pixels by the name of their field in the HTTP form, bottom row first."""
