"""Where things are usually kept: counts of receptacles by kind of object, from training rooms."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

from pydantic import BaseModel

FILE = Path(__file__).parent / "usual_places.json"
_PRIOR = 0.5
"""Added to the count of every receptacle of the room, so that none is impossible."""


class UsualPlaces(BaseModel, frozen=True, extra="forbid"):
    """Counts from training rooms."""

    kept: Mapping[str, Mapping[str, int]]
    """Kind of object -> kind of receptacle -> how often it was there."""
    number: Mapping[str, float]
    """Kind of receptacle -> mean number of them in rooms that have any."""

    def share(self, kind: str, among: Collection[str]) -> Mapping[str, float]:
        """The probability that an object is kept in or on each kind of receptacle `among`."""
        counts = self.kept.get(kind, {})
        weights = {place: counts.get(place, 0) + _PRIOR for place in sorted(among)}
        total = sum(weights.values()) or 1.0
        return {place: weight / total for place, weight in weights.items()}


@cache
def usual_places() -> UsualPlaces:
    """The counts that come with this package."""
    return UsualPlaces.model_validate_json(FILE.read_bytes())
