"""What each form can be made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from inhabit.eie.export import egoplan, llava, pca, recognition, rows
from inhabit.eie.export.conversations import Conversation, of_demonstrations, of_examples
from inhabit.eie.export.demonstrations import demonstrations
from inhabit.eie.export.distinct import LeftOut, Row
from inhabit.eie.export.exporter import EXPORTERS, Exporter, write_with
from inhabit.eie.export.files import claim
from inhabit.eie.export.llava import Pictures
from inhabit.eie.export.replayed_clips import ClipReplayer
from inhabit.eie.export.wrong_actions import WrongActions
from inhabit.eie.sets.folder import SetFolder
from inhabit.envs.core import Determinism, UnknownNameError
from inhabit.envs.extras import require
from inhabit.episodes.recording.reader import RecordError, Run
from inhabit.episodes.running.from_record import env_of_run


class ExportFormat(StrEnum):
    """A format of other people's training code."""

    LLAVA = "llava"
    LLAVA_INTERLEAVE = "llava-interleave"
    MESSAGES = "messages"
    EGOPLAN = "egoplan"
    RECOGNITION = "recognition"
    PCA = "pca"
    JSONL = "jsonl"
    LEROBOT = "lerobot"
    TRAJECTORIES = "trajectories"


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export."""

    count: int
    """Samples written: rows, steps or episodes."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason, a key of `inhabit.eie.export.distinct.REASONS` -> number of samples."""
    sentence: str = ""
    """The same for people; empty if nothing was left out."""


def export_set(
    opened: SetFolder,
    form: ExportFormat | Exporter,
    out: Path,
    *,
    videos: bool = False,
    pictures: Pictures = Pictures.LAST,
    assignments: Sequence[str] = (),
    trusted: bool = False,
) -> Exported:
    """Write the set in `form` to `out`.

    Args:
        opened: the set.
        form: the format.
        out: a folder, empty or not there yet.
        videos: in EgoPlan's format, re-execute the episodes and add keyframes of past actions.
        pictures: the images of a row of the format `llava`.
        assignments: settings of the environment that videos are made in, as KEY=VALUE.
        trusted: whether the user takes what the set names for their own.

    Raises:
        RecordError: `out` is taken, an image is gone, the form needs whole episodes, or has no
            videos.
        SimulatorError: the simulator that renders videos died.
        SetError: the set is broken.
        SettingError: for videos, the set names a place of a machine that is not said again.
        UnavailableError: a package is lacking.
        DiskError: it can't be written.
    """
    folder = opened.folder
    if isinstance(form, Exporter):
        return Exported(_write_set(form, opened, out))
    if form is ExportFormat.LEROBOT:
        raise RecordError(
            f"{folder} is a set of examples, and LeRobot's format holds whole episodes: "
            "export a run's folder, such as one of the expert's."
        )
    if form is ExportFormat.TRAJECTORIES:
        raise RecordError(f"{folder} is a set of examples: trajectories are exported from runs.")
    if videos and form is not ExportFormat.EGOPLAN:
        raise RecordError(f"The format {form.value!r} has no videos; egoplan has.")
    _check(form)
    claim(out)
    left_out = LeftOut()
    match form:
        case ExportFormat.LLAVA | ExportFormat.LLAVA_INTERLEAVE | ExportFormat.MESSAGES:
            count = _write_conversations(
                lambda: of_examples(opened.examples(), folder), form, out, pictures, left_out
            )
        case ExportFormat.EGOPLAN:
            count = _write_egoplan(opened, out, videos, assignments, trusted, left_out)
        case ExportFormat.RECOGNITION:
            count = recognition.write(
                left_out.kept(
                    lambda: recognition.of_examples(opened.examples(), folder), recognition.describe
                ),
                out,
            )
        case ExportFormat.PCA:
            left_out.counts["images"] = sum(not pca.fits(one) for one in opened.examples())
            examples = left_out.kept(
                lambda: filter(pca.fits, opened.examples()), lambda one: pca.describe(one, folder)
            )
            count = pca.write(examples, folder, out)
        case ExportFormat.JSONL:
            examples = left_out.kept(opened.examples, lambda one: rows.describe(one, folder))
            count = rows.write(examples, folder, out)
    return _result(count, left_out)


def export_run(
    run: Run,
    form: ExportFormat | Exporter,
    out: Path,
    *,
    pictures: Pictures = Pictures.LAST,
    assignments: Sequence[str] = (),
    trusted: bool = False,
) -> Exported:
    """Write the episodes of `run` that succeeded in `form` to `out`.

    Args:
        run: the run.
        form: the format.
        out: a folder, empty or not there yet.
        pictures: the images of a row of the format `llava`.
        assignments: settings of the environment that checks wrong answers, as KEY=VALUE.
        trusted: whether the user takes what the run names for their own.

    Raises:
        RecordError: `out` is taken, the run is broken, or the form needs candidates with reasons.
        SettingError: for egoplan, the run names a place of a machine that is not said again.
        UnavailableError: a package is lacking.
        DiskError: it can't be written.
    """
    if isinstance(form, Exporter):
        return Exported(_write_run(form, run, out))
    if form in (ExportFormat.PCA, ExportFormat.JSONL):
        raise RecordError(
            f"{run.folder} is a run, and the format {form.value!r} holds candidates with a reason: "
            "export a set that `inhabit synth` made."
        )
    if form is ExportFormat.TRAJECTORIES:
        return Exported(export_trajectories([run], out))
    _check(form)
    claim(out)
    left_out = LeftOut()
    match form:
        case ExportFormat.LLAVA | ExportFormat.LLAVA_INTERLEAVE | ExportFormat.MESSAGES:
            count = _write_conversations(
                lambda: of_demonstrations(demonstrations(run)), form, out, pictures, left_out
            )
        case ExportFormat.EGOPLAN:
            count = _write_planning(run, out, assignments, trusted, left_out)
        case ExportFormat.RECOGNITION:
            count = recognition.write(
                left_out.kept(
                    lambda: recognition.of_demonstrations(demonstrations(run)), recognition.describe
                ),
                out,
            )
        case ExportFormat.LEROBOT:
            from inhabit.eie.export import lerobot

            shown = left_out.kept(lambda: demonstrations(run), lerobot.describe)
            count = lerobot.write(shown, out, env=run.header.env)
    return _result(count, left_out)


def _write_conversations(
    conversations: Callable[[], Iterable[Conversation]],
    form: ExportFormat,
    out: Path,
    pictures: Pictures,
    left_out: LeftOut,
) -> int:
    if form is not ExportFormat.LLAVA:
        pictures = Pictures.ALL
    left_out.counts["images"] = sum(not llava.fits(one, pictures) for one in conversations())
    kept = left_out.kept(lambda: llava.arranged(conversations(), pictures), _describe)
    if form is ExportFormat.MESSAGES:
        from inhabit.eie.export import messages

        return messages.write(kept, out)
    return llava.write(kept, out, pictures)


def _describe(one: Conversation) -> Row:
    words = tuple(part for part in one.question if isinstance(part, str))
    made = one.example
    answer = one.answer if made is None else made.candidates[made.answer]
    video = made is not None and made.kind == "recognition"
    return Row(one.split, words, one.pictures, answer, video)


def _write_egoplan(
    opened: SetFolder,
    out: Path,
    videos: bool,
    assignments: Sequence[str],
    trusted: bool,
    left_out: LeftOut,
) -> int:
    folder = opened.folder
    if not videos:
        return _write_questions(
            lambda: egoplan.of_examples(opened.examples(), folder), out, left_out
        )
    with (
        TemporaryDirectory(dir=out) as seen,
        ClipReplayer(opened, Path(seen), assignments, trusted=trusted) as replayer,
    ):
        chosen = {
            one.id
            for one in left_out.kept(
                lambda: filter(egoplan.fits, opened.examples()),
                lambda one: egoplan.describe(egoplan.of_example(one, folder)),
            )
        }
        examples = (one for one in opened.examples() if one.id in chosen)
        return egoplan.write(egoplan.of_examples(examples, folder, replayer), out)


def _write_planning(
    run: Run, out: Path, assignments: Sequence[str], trusted: bool, left_out: LeftOut
) -> int:
    with ExitStack() as stack:
        checker: WrongActions | None = None
        if run.header.determinism is not Determinism.NONE:
            make = env_of_run(run, assignments, trusted=trusted)
            checker = stack.enter_context(WrongActions(make))
        questions = list(egoplan.of_demonstrations(demonstrations(run), checker))
    return _write_questions(lambda: questions, out, left_out)


def _write_questions(
    questions: Callable[[], Iterable[egoplan.EgoPlanQuestion]], out: Path, left_out: LeftOut
) -> int:
    left_out.counts["choices"] = sum(not egoplan.is_full(one) for one in questions())
    full = left_out.kept(lambda: filter(egoplan.is_full, questions()), egoplan.describe)
    return egoplan.write(full, out)


def _result(count: int, left_out: LeftOut) -> Exported:
    return Exported(count, dict(+left_out.counts), left_out.sentence())


def export_trajectories(runs: Sequence[Run], out: Path) -> int:
    """Write all episodes of `runs`, with rewards, to `out`, and return how many there are.

    Raises:
        RecordError: `out` is taken, or a run is broken.
        UnavailableError: a package is lacking.
        DiskError: it can't be written.
    """
    _check(ExportFormat.TRAJECTORIES)
    claim(out)
    from inhabit.eie.export import trajectories

    return trajectories.write(runs, out)


def find_format(name: str) -> ExportFormat | Exporter:
    """The format of that name, ours or of another package.

    Raises:
        UnknownNameError: there is none.
        PluginError: the package that brings it is broken.
    """
    if name in list(ExportFormat):
        return ExportFormat(name)
    if name not in EXPORTERS.names():
        known = [*(form.value for form in ExportFormat), *EXPORTERS.names()]
        raise UnknownNameError("export format", name, known)
    return EXPORTERS.find(name)


def _write_set(form: Exporter, opened: SetFolder, out: Path) -> int:
    write = form.write_set
    if write is None:
        raise RecordError(f"The format {form.name!r} is not for data sets: export a run's folder.")
    return write_with(form.name, lambda: write(opened.examples(), opened.folder, out), out)


def _write_run(form: Exporter, run: Run, out: Path) -> int:
    write = form.write_run
    if write is None:
        raise RecordError(f"The format {form.name!r} is not for runs: export a data set.")
    return write_with(form.name, lambda: write(demonstrations(run), out), out)


def _check(form: ExportFormat) -> None:
    if form in (ExportFormat.MESSAGES, ExportFormat.LEROBOT, ExportFormat.TRAJECTORIES):
        require("pyarrow", "sets", f"Exports to {form.value!r}")
