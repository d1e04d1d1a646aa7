"""EgoPlan-IT: what comes next in a video, with wrong answers out of the same goal.

Source of the form: EgoPlan-Bench (Chen et al. 2023) and its training set. `EgoPlan_IT.json` holds
what is to train on; `EgoPlan_validation.json` and `EgoPlan_test.json` are multiple choice. A video
is a folder of frames, where the benchmark's own loader looks for it (`rgb_frame_dir` is `frames`):
`frames/VIDEO_ID/rgb_frames/VIDEO_ID/frame_0000000001.jpg`.
A clip goes from the frame before an action to the one after it; between them are up to six more
where they were kept. What is shown ends before the asked action begins. Wrong answers were checked
in the simulator: each fails, or leaves more to do than the right answer does. Only those of a run
that can't be re-executed are taken unchecked from other steps of the episode.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import accumulate, chain, islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from pydantic import JsonValue

from inhabit.agents.core import Decision
from inhabit.eie.checking.splits import Split
from inhabit.eie.examples.context import Trials
from inhabit.eie.examples.example import Example
from inhabit.eie.export.demonstrations import Demonstration
from inhabit.eie.export.distinct import ComparedRow, LeftOut
from inhabit.eie.export.export import RunSource, SetSource
from inhabit.eie.export.exporter import Exporter
from inhabit.eie.export.files import ExportImage, half_written, json_arrays, picture
from inhabit.eie.export.replayed_clips import ClipReplayer
from inhabit.envs.core import Determinism, Env, Expert, Forkable, SceneError
from inhabit.episodes.episode import Episode
from inhabit.episodes.playing.from_record import env_of_run

CHOICES = 4
SHOWN = 4
"""Actions that a re-recorded video shows at most, the last ones."""
_FILES: dict[Split, str] = {
    "train": "EgoPlan_IT.json",
    "val": "EgoPlan_validation.json",
    "test": "EgoPlan_test.json",
}
_MOST_WRONG = 8
"""Wrong actions for a step of a run, at most."""
_QUESTION = (
    "Considering the progress shown in the video and my current observation in the last frame, "
    "what action should I take next in order to "
)


@dataclass(frozen=True, slots=True)
class EgoPlanQuestion:
    """A video so far, and what to do next."""

    split: Split
    episode: str
    """Name by which questions about one episode are known; they come one after the other."""
    goal: str
    frames: tuple[ExportImage, ...]
    """Images: one before each action that is still shown, and the present one."""
    past: tuple[str | None, ...]
    """What was done between two frames; None where it had no effect."""
    paths: tuple[tuple[ExportImage, ...], ...]
    """What was seen between two frames, for each of `past`."""
    answer: str
    wrong: tuple[str, ...]
    """Other actions of the same goal."""

    @property
    def shown(self) -> tuple[ExportImage, ...]:
        """All of it, oldest first."""
        passed = zip(self.frames, self.paths, strict=False)
        return (*chain.from_iterable((frame, *path) for frame, path in passed), self.frames[-1])

    @property
    def moments(self) -> tuple[int, ...]:
        """Where in that each of `frames` stands, from 1 on."""
        return tuple(accumulate((len(path) + 1 for path in self.paths), initial=1))


def of_examples(
    examples: Iterable[Example], folder: Path, replayer: ClipReplayer | None = None
) -> Iterator[EgoPlanQuestion]:
    """A question for each example that is a step of a whole episode, with the past it shows.

    Raises:
        RecordError: an episode can't be re-rendered.
    """
    return (of_example(one, folder, replayer) for one in examples if fits(one))


def fits(example: Example) -> bool:
    """Whether it is a step of a whole episode."""
    return example.kind == "trajectory" and example.lineage is not None


def of_example(
    example: Example, folder: Path, replayer: ClipReplayer | None = None
) -> EgoPlanQuestion:
    """The question of an example that fits.

    Raises:
        RecordError: its episode can't be re-rendered.
    """
    lineage = example.lineage
    assert lineage is not None
    *frames, now = (picture(folder, place) for place in example.images)
    shown = [past for past in example.history if past.image]
    past = [None if one.failed else one.action for one in shown]
    paths: list[tuple[ExportImage, ...]] = [()] * len(past)
    if replayer is not None:
        clips = replayer.clips(example)[-SHOWN:]
        frames, past = [clip.before for clip in clips], [clip.action for clip in clips]
        paths = [clip.path for clip in clips]
    elif past and len(lineage.actions) > len(example.history):
        # The words of a group tell the beginning that it has in common. So the way up to the
        # present frame shows more than the action that it began with.
        past[-1] = None
    return EgoPlanQuestion(
        split=example.split,
        episode=f"{lineage.seed_task} {lineage.seed}",
        goal=example.goal,
        frames=(*frames, now),
        past=tuple(past),
        paths=tuple(paths),
        answer=example.right,
        wrong=example.wrong,
    )


def of_demonstrations(
    demonstrations: Iterable[Demonstration], env: Env | None = None
) -> Iterator[EgoPlanQuestion]:
    """A question for each step that worked, all of them to train on.

    Wrong answers are checked in `env`, where it can be had.
    """
    for one in demonstrations:
        done = tuple(step.action if step.worked else None for step in one.steps)
        checked = None if env is None else _wrong_actions(env, one)
        for place, answer in enumerate(done):
            if answer is not None:
                others = tuple(dict.fromkeys(a for a in done if a is not None and a != answer))
                yield EgoPlanQuestion(
                    split="train",
                    episode=str(one.number),
                    goal=one.task.goal,
                    frames=one.pictures[: place + 1],
                    past=done[:place],
                    paths=((),) * place,
                    answer=answer,
                    wrong=others if checked is None else checked[place],
                )


def _wrong_actions(env: Env, one: Demonstration) -> Sequence[tuple[str, ...]] | None:
    """For each step, the episode's other actions that fail, or leave more to do.

    Each is tried in a copy of the state before the step. None if the environment can't be copied or
    has no expert, or if the episode does not come out as recorded.
    """
    if not (isinstance(env, Forkable) and isinstance(env, Expert)):
        return None
    episode = Episode(env, one.task, one.seed)
    try:
        episode.reset()
    except SceneError:
        return None
    parse = episode.env.parse
    others = dict.fromkeys(step.action for step in one.steps if step.worked)
    found = []
    for step in one.steps:
        if (answer := parse(step.action)) is None:
            return None
        trials = Trials(episode)
        wrong = (
            text
            for text in others
            if (action := parse(text)) and action != answer and trials.is_wrong(action, answer)
        )
        found.append(tuple(islice(wrong, _MOST_WRONG)))
        if (episode.act(Decision(answer)).reason is None) is not step.worked:
            return None
    return found


def is_full(one: EgoPlanQuestion) -> bool:
    """Whether it has wrong answers enough: one to train on, three for a choice of four."""
    return len(one.wrong) >= (1 if one.split == "train" else CHOICES - 1)


def describe(one: EgoPlanQuestion) -> ComparedRow:
    """What is compared of a sample."""
    done = tuple(action or "" for action in one.past)
    words = (one.goal, *done, *(() if one.split == "train" else sorted((one.answer, *one.wrong))))
    return ComparedRow(one.split, words, one.shown, one.answer, video=len(one.shown) > 1)


def write(questions: Iterable[EgoPlanQuestion], out: Path) -> int:
    """Write those that are full, and return how many there were.

    Raises:
        RecordError: an image is gone.
        DiskError: something can't be written.
    """
    videos = _Videos(out / "frames")
    count = 0
    with json_arrays({split: out / name for split, name in _FILES.items()}) as files:
        for one in filter(is_full, questions):
            files[one.split](_sample(count, *videos.write(one), one))
            count += 1
    return count


class _Videos:
    """The videos on disk. One that goes on from the last one shares its frames."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._episode: str | None = None
        self._frames: list[ExportImage] = []
        self._count = 0

    def write(self, one: EgoPlanQuestion) -> tuple[str, int]:
        """Have its frames on disk; the name of their video, and how many come before them."""
        shown = one.shown
        known = self._known(shown) if one.episode == self._episode else 0
        if not known:
            self._count, self._episode, self._frames = self._count + 1, one.episode, []
        name = f"{self._count:06d}"
        for frame in shown[known:]:
            self._frames.append(frame)
            write_frame(frame, self._folder, name, len(self._frames))
        return name, len(self._frames) - len(shown)

    def _known(self, frames: tuple[ExportImage, ...]) -> int:
        """How many of `frames` are the end of the video by now."""
        most = min(len(frames), len(self._frames))
        return next((n for n in range(most, 0, -1) if self._frames[-n:] == list(frames[:n])), 0)


def _sample(number: int, video: str, before: int, one: EgoPlanQuestion) -> dict[str, JsonValue]:
    sample: dict[str, JsonValue] = {
        "sample_id": number,
        "video_source": "inhabit",
        "video_id": video,
        "task_goal": (goal := infinitive(one.goal)),
        "question": f"{_QUESTION}{goal}?",
        "answer": one.answer,
        "current_observation_frame": before + len(one.shown),
        "task_progress_metadata": [
            {"narration_text": action, "start_frame": before + start, "stop_frame": before + stop}
            for action, (start, stop) in zip(one.past, pairwise(one.moments), strict=True)
            if action is not None
        ],
    }
    if one.split == "train":
        return sample | {"negative_answers": list(one.wrong)}
    rng = random.Random(f"choices of {number}")
    choices = [one.answer, *rng.sample(one.wrong, CHOICES - 1)]
    rng.shuffle(choices)
    letters = "ABCD"
    return sample | {
        **{f"choice_{letter.lower()}": text for letter, text in zip(letters, choices, strict=True)},
        "golden_choice_idx": letters[choices.index(one.answer)],
    }


def write_frame(shown: ExportImage, folder: Path, video: str, number: int) -> None:
    """Write a frame of a video as JPEG."""
    rgb = Image.fromarray(shown.pixels())
    with half_written(folder / video / "rgb_frames" / video / f"frame_{number:010d}.jpg") as half:
        rgb.save(half, "JPEG", quality=95)


def _write_set(source: SetSource, folder: Path, out: Path) -> int:
    source.left_out.counts["no_trajectory"] = sum(not fits(one) for one in source)
    if not source.options.videos:
        return _write(lambda: of_examples(source, folder), out, source.left_out)
    options, counts = source.options, source.left_out.counts
    counts["choices"] = sum(not is_full(one) for one in of_examples(source, folder))
    with (
        TemporaryDirectory(dir=out) as seen,
        ClipReplayer(
            source.opened, Path(seen), options.assignments, trusted=options.trusted
        ) as replayer,
    ):
        kept = source.left_out.kept(
            lambda: filter(fits, source), lambda one: describe(of_example(one, folder))
        )
        chosen = {one.id for one in kept}
        examples = (one for one in source if one.id in chosen)
        return write(of_examples(examples, folder, replayer), out)


def _write_run(source: RunSource, out: Path) -> int:
    options = source.options
    with ExitStack() as stack:
        env: Env | None = None
        if source.run.header.determinism is not Determinism.NONE:
            make = env_of_run(source.run, options.assignments, trusted=options.trusted)
            env = stack.enter_context(make())
        questions = list(of_demonstrations(source, env))
    return _write(lambda: questions, out, source.left_out)


def _write(questions: Callable[[], Iterable[EgoPlanQuestion]], out: Path, left_out: LeftOut) -> int:
    left_out.counts["choices"] = sum(not is_full(one) for one in questions())
    return write(left_out.kept(lambda: filter(is_full, questions()), describe), out)


EXPORTER = Exporter(
    name="egoplan",
    summary="EgoPlan-IT and EgoPlan-Bench: what comes next in a video",
    write_run=_write_run,
    write_set=_write_set,
    videos=True,
    settings=True,
)


_POLITE = re.compile(r"(?:please,?|(?:can|could|would|will) you(?: please)?)\s+", re.IGNORECASE)
_PERSON = r"(?:I|we|you)"
_WISH = r"(?:need|want|would like|have|must|should|are|am)"
_FORMS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(form, re.IGNORECASE | re.DOTALL), made)
    for form, made in (
        (rf"{_PERSON} {_WISH} (?:you )?to (.+)", r"\1"),
        (rf"{_PERSON} (?:must|should) (.+)", r"\1"),
        (rf"{_PERSON} (?:need|want|would like) (.+?) to be (.+)", r"get \1 to be \2"),
        (rf"{_PERSON} (?:need|want|would like) (.+)", r"get \1"),
        (r"your (?:task|goal|job) is to (.+)", r"\1"),
        (r"tidy up: (.+?) belongs? (.+)", r"put \1 \2"),
        (r"there (?:should|must) be (.+)", r"make sure that there is \1"),
        (r"(?:there|it|that|this|if|when|once|after) .+", r"reach this goal: \g<0>"),
        (r"(the|an?|two|both|one) (.+?) belongs? (.+)", r"put \1 \2 \3"),
        (r"(the|an?|two|both|one) (.+?) (?:should|must|has to|have to) be (.+)",
         r"get \1 \2 to be \3"),
        (r"(?:the|an?|two|three|both|one|all|my|your|our|some) .+", r"reach this goal: \g<0>"),
    )
)  # fmt: skip


def infinitive(goal: str) -> str:
    """The goal as the end of "I am tasked to ...", lower-case and without a full stop.

    Requests lose their politeness; statements of what should hold become "get ... to be ..." or
    "put ... in ...". A sentence that fits no known form follows "reach this goal:".

    Args:
        goal: one or several sentences in the imperative, or as a wish or a statement.
    """
    whole = " ".join(goal.split()).rstrip(".!? ")
    whole = _POLITE.sub("", whole, count=1) if _POLITE.match(whole) else whole
    whole = whole[:1].lower() + whole[1:] if not re.match(r"I\b", whole) else whole
    for form, made in _FORMS:
        found = form.fullmatch(whole)
        if found:
            return found.expand(made)
    return whole
