"""What the expert learns by trying: what a tilt of the head shows, and what has room."""

from __future__ import annotations

from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.skills import walking
from inhabit.envs.alfred.thor.objects import ThorObject


class SceneProbe:
    """What trying in the simulator shows of the present state."""

    def __init__(self, episode: EpisodeState) -> None:
        self._episode = episode

    def in_sight(self, thing: ThorObject) -> bool:
        """Whether an object that is known comes into view here by a tilt of the head."""
        known = thing.id in self._episode.memory.seen and thing.id in self._episode.world
        return known and walking.finds_by_tilting(self._episode, thing)

    def has_room(self, place: ThorObject, item: ThorObject) -> bool:
        """Whether an object fits in a receptacle that can be reached, when it is open.

        Also True where that can't be tried.
        """
        held, known = self._episode.held, self._episode.views.fits
        other = held is not None and held.id != item.id
        if other or item.id not in self._episode.world:
            return True
        if (item.id, place.id) not in known:
            known[item.id, place.id] = self._fits(place, item)
        return known[item.id, place.id]

    def _fits(self, place: ThorObject, item: ThorObject) -> bool:
        body = self._episode.body
        if (kept := body.ask("Snapshot")) is None:
            return True
        if not item.held:
            body.tell("PickupObject", blind=True, objectId=item.id, forceAction=True)
        if place.shut:
            body.tell("OpenObject", blind=True, objectId=place.id, forceAction=True)
        put = body.tell("PutObject", blind=True, objectId=place.id, forceAction=True)
        fits = put or body.error[0] != "ReceptacleFull"
        if fits and place.shut:
            one = {"standings": [True], "maxPoses": 1}
            fits = bool(body.ask("GetInteractablePoses", objectId=place.id, **one))
        body.tell("Restore", blind=True, snapshot=kept)
        body.ask("Forget", snapshot=kept)
        return fits
