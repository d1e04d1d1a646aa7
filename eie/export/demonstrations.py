"""The successful episodes of a run, as demonstrations for training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from inhabit.eie.export.files import ExportImage, frame
from inhabit.envs.core import Reason, Task
from inhabit.episodes.recording.reader import EpisodeRecord, Run
from inhabit.episodes.recording.schema import Ending, PoseRecord


@dataclass(frozen=True, slots=True)
class DemonstrationStep:
    """A step: observation, candidates, decision and result."""

    seen: ExportImage
    text: str
    candidates: tuple[str, ...]
    action: str
    reason: Reason | None
    """Why the action had no effect; None if it worked."""
    feedback: str
    description: str = ""
    reasoning: str = ""

    @property
    def worked(self) -> bool:
        """Whether the action had an effect."""
        return self.reason is None


@dataclass(frozen=True, slots=True)
class Demonstration:
    """An episode that reached its goal."""

    number: int
    """Number of the episode in its run."""
    task: Task
    seed: int
    """The seed that the environment was reset with."""
    steps: tuple[DemonstrationStep, ...]
    last: ExportImage
    """What was seen when the episode was over."""
    poses: tuple[PoseRecord, ...] = ()
    """Pose of the agent at every moment; empty where the simulator does not tell."""

    @property
    def pictures(self) -> tuple[ExportImage, ...]:
        """Images of every moment, oldest first: one more than there are actions."""
        return (*(step.seen for step in self.steps), self.last)


def demonstrations(run: Run, without_images: set[int] | None = None) -> Iterator[Demonstration]:
    """Every episode of `run` that succeeded and has all its images, in order.

    Numbers of those that succeeded and lack images are added to `without_images`.

    Raises:
        RecordError: a record can't be read.
    """
    for episode in run.episodes():
        end = episode.end()
        if end is not None and end.ending is Ending.SUCCESS:
            found = _demonstration(episode)
            if found is not None:
                yield found
            elif without_images is not None:
                without_images.add(episode.number)


def _demonstration(episode: EpisodeRecord) -> Demonstration | None:
    attempt = episode.last()
    assert attempt is not None, "what has an end has an attempt"
    # An answer without an action was not sent to the simulator: its moment is that of the next.
    moments = [one for one in attempt.steps if one.decide is None or one.decide.action]
    if not moments:
        return None
    *before, last = moments
    name = f"{episode.number:05d}-"
    steps = [
        DemonstrationStep(
            seen=seen,
            text=step.see.text,
            candidates=step.candidates,
            action=step.decide.action,
            reason=step.act.reason,
            feedback=step.act.feedback,
            description=step.decide.description,
            reasoning=step.decide.reasoning,
        )
        for step in before
        if (seen := frame(episode, step, name)) and step.decide and step.decide.action and step.act
    ]
    seen_last = frame(episode, last, name)
    if seen_last is None or not steps or len(steps) != len(before):
        return None
    poses = tuple(step.see.pose for step in (*before, last) if step.see.pose is not None)
    poses = poses if len(poses) == len(before) + 1 else ()
    return Demonstration(
        episode.number, attempt.start.task, attempt.start.seed, tuple(steps), seen_last, poses
    )
