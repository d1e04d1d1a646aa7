"""Run folders and sets, read as tables and images."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from inhabit.eie.export.files import picture
from inhabit.eie.sets.folder import SetFolder
from inhabit.envs import notebook
from inhabit.envs.core import Observation
from inhabit.envs.extras import require
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import EpisodeRecord, RecordError, Run, StepRecord
from inhabit.episodes.scoring.scores import Scores, score

if TYPE_CHECKING:
    import pandas


class Table(list[dict[str, Any]]):
    """Rows with the same keys in the same order. Values are plain Python data."""

    def to_pandas(self) -> pandas.DataFrame:
        """The rows as a DataFrame.

        Raises:
            UnavailableError: pandas is not installed.
        """
        require("pandas", "notebook", "DataFrames")
        import pandas

        return pandas.DataFrame(list(self))

    def _repr_html_(self) -> str:
        return notebook.table(self)


class RunResults:
    """A run folder. Every table is read from disk when it is asked for."""

    def __init__(self, run: Run) -> None:
        self.run = run
        """The reader behind this object, for whatever this class does not offer."""

    @property
    def folder(self) -> Path:
        """Folder of the run."""
        return self.run.folder

    @property
    def scores(self) -> Scores:
        """Success rate with its interval, goal-condition rate, endings, time and tokens."""
        return score(self.run)

    def episodes(self) -> Table:
        """A row for each task, in order. What an episode that has not ended lacks is None."""
        ends = Index(self.run).ends()
        rows = zip(self.run.episodes(), ends, strict=True)
        return Table(_episode_row(episode, end) for episode, end in rows)

    def steps(self, episode: int | str | None = None) -> Table:
        """A row for each step of the attempts that count.

        Args:
            episode: the number or the task id of one episode; None for all.

        Raises:
            RecordError: there is no such episode, or its record is broken.
        """
        chosen = self.run.episodes() if episode is None else [self.run.find(str(episode))]
        return Table(_step_row(one, step) for one in chosen for step in one.steps())

    def observation(self, episode: int | str, step: int) -> Observation:
        """What was recorded of one moment: the image as JPEG kept it, and the text.

        Raises:
            RecordError: there is no such episode or step.
        """
        found = self.run.find(str(episode))
        steps = found.steps()
        if not 0 <= step < len(steps):
            raise RecordError(f"{found.folder} has {len(steps)} steps from 0, and no {step}.")
        see = steps[step].see
        file = found.frame(see)
        return Observation(see.text, None if file is None else np.asarray(Image.open(file)))

    def show(self, *, video: bool = False) -> Path:
        """Write pages that any browser opens, as `inhabit show` does.

        Args:
            video: encode the videos that are missing, too.

        Returns:
            The page of the run.
        """
        from inhabit.episodes.reports.page.writing import Videos, write_run

        write_run(self.run, Videos(mp4=video), lambda episode: None)
        return self.folder / "index.html"

    def __repr__(self) -> str:
        header = self.run.header
        return f"RunResults({str(self.folder)!r}: {header.env}, {header.agent}, {self.scores})"

    def _repr_html_(self) -> str:
        scores = self.scores
        shown = {"episodes": f"{scores.episodes} of {scores.planned}", "faults": scores.faults}
        shown |= {one.metric.title: str(one) for one in scores.measured()}
        return notebook.table([shown]) + notebook.table(self.episodes())


class SetResults:
    """A folder of training data that `inhabit synth` wrote."""

    def __init__(self, opened: SetFolder) -> None:
        self.set = opened
        """The reader behind this object."""

    @property
    def folder(self) -> Path:
        """Folder of the set."""
        return self.set.folder

    def examples(self) -> Table:
        """One row per kept example: the fields of `inhabit.eie.examples.example.Example`."""
        return Table(example.model_dump(mode="json") for example in self.set.examples())

    def attempts(self) -> Table:
        """A row for each task of the author: how many examples it gave, and why others did not."""
        return Table(
            {
                "number": attempt.number,
                "task": attempt.task,
                "kept": len(attempt.kept),
                "rejected": len(attempt.rejected),
                "reasons": ", ".join(sorted({one.rejection.value for one in attempt.rejected})),
            }
            for attempt in self.set.attempts()
        )

    def observation(self, example: str) -> Observation:
        """The image of one example, by its id, and the text beside it.

        Raises:
            KeyError: there is no such example.
            RecordError: it names a file outside the set.
        """
        for one in self.set.examples():
            if one.id == example:
                file = picture(self.folder, one.image).file
                return Observation(one.text, np.asarray(Image.open(file)))
        raise KeyError(f"{self.folder} has no example {example!r}.")

    def __repr__(self) -> str:
        header = self.set.header
        return f"SetResults({str(self.folder)!r}: {header.env}, {header.author}, n={header.n})"

    def _repr_html_(self) -> str:
        names = ("id", "split", "kind", "question", "candidates", "answer", "reason")
        return notebook.table([{name: row[name] for name in names} for row in self.examples()])


def read_run(folder: Path | str) -> RunResults:
    """Read a run folder.

    Raises:
        RecordError: there is no run, or it is broken.
    """
    return RunResults(Run.open(folder))


def read_set(folder: Path | str) -> SetResults:
    """Read a set of training data.

    Raises:
        SetError: there is none, or it was written by another version.
    """
    return SetResults(SetFolder.open(Path(folder)))


def _episode_row(episode: EpisodeRecord, end: Any) -> dict[str, Any]:
    task = episode.task
    row: dict[str, Any] = {
        "episode": episode.number,
        "task": task.id,
        "kind": task.kind,
        "goal": task.goal,
        "reference_cost": task.reference_cost,
    }
    names = ("ending", "success", "met", "total", "steps", "cost", "invalid", "replans", "error")
    row |= {name: None if end is None else getattr(end, name) for name in names}
    row["ending"] = None if end is None else end.ending.value
    for part in ("simulator", "model", "record", "other"):
        row[f"{part}_seconds"] = None if end is None else getattr(end.seconds, part)
    row["tokens_in"] = None if end is None else end.tokens.read
    row["tokens_out"] = None if end is None else end.tokens.written
    return row


def _step_row(episode: EpisodeRecord, step: StepRecord) -> dict[str, Any]:
    decide, act = step.decide, step.act
    file = episode.frame(step.see)
    return {
        "episode": episode.number,
        "step": step.number,
        "text": step.see.text,
        "frame": None if file is None else str(file),
        "candidates": len(step.candidates),
        "action": decide and decide.action,
        "stop": decide and decide.stop,
        "raw": decide and decide.raw,
        "description": decide and decide.description,
        "reasoning": decide and decide.reasoning,
        "logprob": decide.ranked[0].logprob if decide and decide.ranked else None,
        "reason": act.reason.value if act and act.reason else None,
        "feedback": act and act.feedback,
        "met": act and act.met,
        "total": act and act.total,
        "cost": act and act.cost,
        "simulator_seconds": step.see.seconds + (act.seconds if act else 0.0),
        "agent_seconds": decide and decide.seconds,
    }
