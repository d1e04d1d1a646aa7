"""Examples become moments, with eyes open or closed."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from inhabit.agents.models.core import Image
from inhabit.agents.models.scripted import Script, ScriptedModel
from inhabit.eie.tuning.labelled_examples import moments
from inhabit.eie.tuning.samples import Sample, read
from tests.eie.tuning.made_set import write


class Eyes(ScriptedModel):
    """Sees a thing wherever it looks, and a bright one surely."""

    async def look(self, pictures: Sequence[Image]) -> Sequence[Mapping[str, float]]:
        return [{"thing": 1.0 if picture.rgb.max() > 150 else 0.3} for picture in pictures]


@pytest.fixture
def samples(tmp_path: Path) -> list[Sample]:
    return list(read(write(tmp_path / "set", train=12, val=0), "train"))


def test_an_example_is_the_moment_that_it_was_cut_from(samples: list[Sample]) -> None:
    found = moments(samples, Eyes(Script()))
    for moment, sample in zip(found, samples, strict=True):
        assert [action.text for action in moment.candidates] == list(sample.example.candidates)
        assert moment.best.text == sample.answer
        sure = "grey" not in sample.answer
        assert f"\nHere: {'thing' if sure else 'thing?'}\n" in f"{moment.prompt[-1].parts[0]}\n"


def test_closed_eyes_see_nothing(samples: list[Sample]) -> None:
    for moment in moments(samples, None):
        assert "\nSeen: nothing\n" in str(moment.prompt[-1].parts[0])
