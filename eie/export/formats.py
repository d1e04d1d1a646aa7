"""Which forms there are, and what each can be made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path

from eie.example import Example
from eie.export import egoplan, llava, pca
from eie.export.demonstrations import demonstrations
from eie.export.files import claim
from eie.export.talk import of_demonstrations, of_examples
from envs.core import UnavailableError
from episodes.record import RecordError, Run


class Form(StrEnum):
    """The forms that `inhabit export` writes."""

    LLAVA = "llava"
    MESSAGES = "messages"
    EGOPLAN = "egoplan"
    PCA = "pca"
    LEROBOT = "lerobot"


@dataclass(frozen=True, slots=True)
class Source:
    """A set: its folder, and its examples from the first, as often as asked."""

    folder: Path
    examples: Callable[[], Iterable[Example]]


def export_set(source: Source, form: Form, out: Path) -> int:
    """Write the set in `form` to `out`, and return how many samples that gave.

    Raises:
        RecordError: `out` is taken, the set is broken, or the form needs whole episodes.
        UnavailableError: a package is lacking.
        DiskError: it can't be written.
    """
    if form is Form.LEROBOT:
        raise RecordError(
            f"{source.folder} is a set of examples, and LeRobot's form holds whole episodes: "
            "export a run's folder, such as one of the expert's."
        )
    _check(form)
    claim(out)
    examples = source.examples()
    match form:
        case Form.LLAVA:
            return llava.write(of_examples(examples, source.folder), out)
        case Form.MESSAGES:
            from eie.export import messages

            return messages.write(of_examples(examples, source.folder), out)
        case Form.EGOPLAN:
            return egoplan.write(egoplan.of_examples(examples, source.folder), out)
        case Form.PCA:
            return pca.write(examples, source.folder, out)


def export_run(run: Run, form: Form, out: Path) -> int:
    """Write the episodes of `run` that succeeded in `form` to `out`.

    Returns:
        How many samples that gave: steps, or episodes in LeRobot's form.

    Raises:
        RecordError: `out` is taken, the run is broken, or the form needs candidates with reasons.
        UnavailableError: a package is lacking.
        DiskError: it can't be written.
    """
    if form is Form.PCA:
        raise RecordError(
            f"{run.folder} is a run, and PCA-Bench's form holds candidates with a reason: export a "
            "set that `inhabit synth` made."
        )
    _check(form)
    claim(out)
    shown = demonstrations(run)
    match form:
        case Form.LLAVA:
            return llava.write(of_demonstrations(shown), out)
        case Form.MESSAGES:
            from eie.export import messages

            return messages.write(of_demonstrations(shown), out)
        case Form.EGOPLAN:
            return egoplan.write(egoplan.of_demonstrations(shown), out)
        case Form.LEROBOT:
            from eie.export import lerobot

            return lerobot.write(shown, out, env=run.header.env)


def _check(form: Form) -> None:
    if form in (Form.MESSAGES, Form.LEROBOT) and find_spec("pyarrow") is None:
        raise UnavailableError(
            f"The form {form.value!r} needs pyarrow: pip install 'inhabit[sets]'."
        )
