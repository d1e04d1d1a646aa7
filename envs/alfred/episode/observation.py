"""What is in view, by name, and the text of an observation."""

from __future__ import annotations

from collections.abc import Sequence

from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.language.naming import word
from inhabit.envs.world.words import with_article


def in_view(episode: EpisodeState) -> Sequence[str]:
    """Ids of the named objects in the image, except held ones."""
    return [
        id for id in episode.body.in_view() if id in episode.names and not episode.world[id].held
    ]


def in_words(episode: EpisodeState, view: bool) -> str:
    """The text of an observation: the held object.

    With `view` also the objects in view, and further objects that the last action showed, such as
    those seen while looking around.
    """
    held = episode.held
    sentences = []
    if held is not None:
        noun = word(held.type)
        sentences.append(f"You have {with_article(noun)} in your hands.")
    if view:
        seen = in_view(episode)
        sentences.append(f"You see: {_listed(episode, seen) or 'nothing of interest'}.")
        passed = sorted(id for id in episode.just_seen if id in episode.world and id not in seen)
        passed = [id for id in passed if not episode.world[id].held]
        if passed:
            sentences.append(f"You have just seen besides: {_listed(episode, passed)}.")
    return " ".join(sentences)


def _listed(episode: EpisodeState, ids: Sequence[str]) -> str:
    return ", ".join(episode.names.of(id) for id in ids)
