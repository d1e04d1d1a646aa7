"""The household told in words is the same household."""

from alfred_teaching import TextOnlyAlfred
from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.tasks.sampling import sample
from inhabit.envs.alfred.world.settings import AlfredSettings


def test_it_says_what_the_household_that_shows_says() -> None:
    settings = AlfredSettings(width=160, height=160, text="view", expert="searching", wire="none")
    (task,) = sample(1, 3, AlfredSettings(split="val"))
    said = []
    for kind in (Alfred, TextOnlyAlfred):
        with kind(settings=settings) as env:
            env.reset(task, seed=0)
            texts = [env.observe().text]
            for _ in range(2):
                outcome = env.act(env.plan()[0])
                texts += [outcome.feedback, env.observe().text]
            assert (env.observe().rgb is None) == (kind is TextOnlyAlfred)
        said.append(texts)
    assert said[0] == said[1]
    assert any("_" in text for text in said[0]), "Something is seen."
