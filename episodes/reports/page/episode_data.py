"""One attempt at an episode, in the shape that its page tells it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from pydantic import JsonValue

from inhabit.agents.core import Call
from inhabit.episodes.judging.scores import Judged
from inhabit.episodes.recording.reader import Attempt, EpisodeRecord, StepRecord
from inhabit.episodes.reports.page.pictures import inline
from inhabit.episodes.scoring.likelihood import Share, shares


@dataclass(frozen=True, slots=True)
class BeamBranch:
    """A prefix, and what it goes on with."""

    words: str
    """Words that the branch adds to the prefix above."""
    share: float
    """Share of the probability of all that was kept."""
    logprob: float | None
    """Log-probability, in nats, of the candidate that ends here."""
    below: Sequence[BeamBranch]
    cut: int
    """How many further words follow here only in candidates that were cut."""


def beam_tree(shares: Sequence[Share], candidates: Sequence[str]) -> BeamBranch | None:
    """The tree of the kept candidates, from no words on; None where none was cut.

    A record keeps the results of a search: a prefix is kept if a result begins with it, and its
    share is that of all results below it.
    """
    if not shares or not len(shares) < len(candidates):
        return None
    kept = [(tuple(one.text.split()), one) for one in shares]
    below, cut = _grow(kept, [tuple(text.split()) for text in candidates], 0)
    return BeamBranch("", 1.0, None, below, cut)


def _grow(
    kept: Sequence[tuple[tuple[str, ...], Share]], every: Sequence[tuple[str, ...]], at: int
) -> tuple[Sequence[BeamBranch], int]:
    """The branches from word `at` on, and how many words were cut there."""
    heads = list(dict.fromkeys(words[at] for words, _ in kept if len(words) > at))
    branches = []
    for head in heads:
        inside = [one for one in kept if one[0][at : at + 1] == (head,)]
        following = [words for words in every if words[at : at + 1] == (head,)]
        end, words = at + 1, [head]
        # Words between which there is no choice stand together.
        while len(nexts := {w[end : end + 1] for w in following}) == 1 and nexts != {()}:
            words.append(*next(iter(nexts)))
            end += 1
        below, cut = _grow(inside, following, end)
        share = sum(one.share for _, one in inside)
        here = next((one.logprob for text, one in inside if len(text) == end), None)
        branches.append(BeamBranch(" ".join(words), share, here, below, cut))
    others = {words[at] for words in every if len(words) > at} - set(heads)
    return branches, len(others)


_DIGEST = re.compile(r"[0-9a-f]{1,64}")


@dataclass(frozen=True, slots=True)
class MessagePart:
    """A piece of a message: a text, or an image by where on the page it stands."""

    text: str
    link: str | None = None
    """The id of the element that shows the image; None for texts and lost images."""


Exchange = tuple[Call, Sequence[tuple[str, Sequence[MessagePart]]]]
"""A call to a model, and the messages as they were sent: role and parts of each."""
StepScores = Mapping[int, Judged]
"""Step -> what a judge says of it."""
NO_SCORES: StepScores = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A step with what its part of the page shows."""

    step: StepRecord
    picture: str | None
    """Image as a `data:` address; None where there is none that can be shown."""
    shares: tuple[Share, ...]
    exchanges: tuple[Exchange, ...]
    judged: Judged | None
    tree: BeamBranch | None
    """Tree of a beam search; None for what was scored as a whole."""

    @property
    def verdict(self) -> str:
        """What a judge says of the action, "right" or "wrong"; empty if nothing."""
        score = None if self.judged is None else self.judged.action.score
        return "" if score is None else "right" if score else "wrong"


@dataclass(frozen=True, slots=True)
class EpisodeData:
    """What the page of an episode shows."""

    steps: tuple[ShownStep, ...]
    others: Mapping[str, str]
    """Images that models were sent and that are no step's: addresses by digest."""


def tell(episode: EpisodeRecord, attempt: Attempt, scores: StepScores = NO_SCORES) -> EpisodeData:
    """Gather an attempt's steps, with their images read from the episode's folder."""
    seen = {s.see.digest: f"step-{s.number}" for s in reversed(attempt.steps) if s.see.digest}
    others = _others(episode, attempt, seen)
    links = seen | {digest: f"picture-{digest}" for digest in others}
    return EpisodeData(tuple(_told(episode, s, links, scores) for s in attempt.steps), others)


def _told(
    episode: EpisodeRecord, step: StepRecord, links: Mapping[str, str], scores: StepScores
) -> ShownStep:
    file = episode.frame(step.see)
    decide = step.decide
    ranked = shares(decide.ranked) if decide else ()
    return ShownStep(
        step=step,
        picture=None if file is None else inline(file, episode.run),
        shares=ranked,
        exchanges=tuple(_exchange(call, links) for call in (decide.calls if decide else ())),
        judged=scores.get(step.number),
        tree=beam_tree(ranked, step.candidates),
    )


def _others(episode: EpisodeRecord, attempt: Attempt, seen: Mapping[str, str]) -> Mapping[str, str]:
    sent = {
        digest
        for step in attempt.steps
        for call in (step.decide.calls if step.decide else ())
        for message in call.messages
        for piece in _pieces(message)
        if isinstance(piece, dict) and isinstance(digest := piece.get("image"), str)
    }
    found: dict[str, str] = {}
    for digest in sorted(sent - seen.keys()):
        # A digest becomes the name of a file, so it has to be one.
        if _DIGEST.fullmatch(digest):
            address = inline(episode.folder / "images" / f"{digest}.jpg", episode.run)
            if address is not None:
                found[digest] = address
    return found


def _exchange(call: Call, links: Mapping[str, str]) -> Exchange:
    return call, [
        (str(message.get("role", "?")), [_part(piece, links) for piece in _pieces(message)])
        for message in call.messages
    ]


def _pieces(message: Mapping[str, JsonValue]) -> Sequence[JsonValue]:
    """The content of a message, whose shape is the model's own affair."""
    content = message.get("content")
    pieces = content if isinstance(content, list) else [] if content is None else [content]
    rest: JsonValue = {k: v for k, v in message.items() if k not in ("role", "content") and v}
    return [*pieces, rest] if rest else pieces


def _part(piece: JsonValue, links: Mapping[str, str]) -> MessagePart:
    if isinstance(piece, str):
        return MessagePart(piece)
    if isinstance(piece, dict) and isinstance(text := piece.get("text"), str):
        return MessagePart(text)
    if isinstance(piece, dict) and isinstance(digest := piece.get("image"), str):
        link = links.get(digest)
        return MessagePart(f"image {digest}" if link else f"(image {digest}, lost)", link)
    return MessagePart(json.dumps(piece, indent=2, ensure_ascii=False))
