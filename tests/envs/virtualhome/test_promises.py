"""A simulator that says it did what it did not."""

from __future__ import annotations

import pytest
from present import needs_virtualhome

from inhabit.envs.core import Reason
from inhabit.envs.virtualhome.backends import Embedded
from inhabit.envs.virtualhome.env import VirtualHome
from inhabit.envs.virtualhome.graph.verbs import ScriptLine
from inhabit.envs.virtualhome.graph.world import Failure, FlatWorld
from inhabit.envs.virtualhome.tasks.sampling import sample
from inhabit.envs.virtualhome.world.settings import VirtualHomeSettings

pytestmark = needs_virtualhome


class Liar(Embedded):
    """Says that everything succeeds; does nothing of one action."""

    omitted = ""

    def run(self, world: FlatWorld, line: ScriptLine) -> tuple[FlatWorld, Failure | None]:
        return (world, None) if line.action == self.omitted else super().run(world, line)


@pytest.mark.parametrize(
    ("before", "omitted", "words"),
    [
        (["walk to the fridge"], "open the fridge_1", "the fridge_1 is not open"),
        (["walk to the plate_1"], "grab the plate_1", "the plate_1 is in no hand"),
        (["walk to the plate_1", "grab the plate_1"], "drop the plate_1", "still in the hands"),
        (["walk to the plate_1", "grab the plate_1", "walk to the stove"],
         "put the plate_1 on the stove_1", "still in the hands"),
        (["walk to the kitchen", "walk to the chair_1"], "sit on the chair_1", "is not sitting"),
        (["walk to the kitchen", "walk to the chair_1", "sit on the chair_1"], "stand up",
         "does not stand"),
    ],
)  # fmt: skip
def test_what_is_promised_and_not_done_is_a_failure(
    before: list[str], omitted: str, words: str
) -> None:
    simulation = Liar(64, 48, "none")
    env = VirtualHome(VirtualHomeSettings(view="none"), simulation)
    env.reset(next(iter(sample(1, seed=0))), seed=0)
    for text in ["walk to the kitchen", *before]:
        action = env.parse(text)
        assert action is not None
        assert env.act(action).reason is None, text
    action = env.parse(omitted)
    assert action is not None
    simulation.omitted = action.verb
    outcome = env.act(action)
    assert outcome.reason is Reason.WRONG_STATE
    assert words in outcome.feedback
    simulation.omitted = ""
    assert env.act(action).reason is None
