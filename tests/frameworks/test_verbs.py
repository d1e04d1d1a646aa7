from __future__ import annotations

import pytest

import inhabit
from inhabit.envs.core import Action
from inhabit.frameworks.trl import verbs


@pytest.mark.parametrize("env", ["toy", "alfred", "virtualhome", "thor_nav"])
def test_every_action_of_a_vocabulary_can_be_said_by_its_verb(env: str) -> None:
    settings = {"wire": "none"} if env == "alfred" else {}
    with inhabit.open(env, settings=settings) as session:
        vocabulary = session.env.vocabulary()
        found = verbs(vocabulary)
        assert len({verb.name for verb in found}) == len(found)
        assert all(verb.name.isidentifier() for verb in found)
        texts = {arguments for verb in found for arguments in verb.texts.values()}
        assert texts == {action.text for action in vocabulary}
        for verb in found:
            for arguments, text in verb.texts.items():
                assert verb.say(*arguments) == text
            said = verb.say(*["zebra_1"] * len(verb.parameters))
            assert said.count("zebra_1") == len(verb.parameters)


def test_no_verb_takes_the_place_of_a_method_of_the_trainer() -> None:
    actions = [Action("reset the clock", "reset", ("clock",)), Action("get reward", "get reward")]
    actions.append(Action("break", "break"))
    assert [verb.name for verb in verbs(actions)] == ["reset_", "get_reward_", "break_"]
