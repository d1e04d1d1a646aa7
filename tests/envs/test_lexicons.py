"""What one part of an environment knows, the others know: nouns, states, verbs, kinds of tasks."""

from __future__ import annotations

import random

import pytest
from sampling import every

from inhabit.envs import registry
from inhabit.envs.template import ActionKind

WITH_TEMPLATE = [name for name in registry.names() if registry.find(name).template is not None]


@pytest.mark.parametrize("name", WITH_TEMPLATE)
def test_every_name_stands_for_a_kind_of_object(name: str) -> None:
    registration = registry.find(name)
    assert registration.template is not None
    lexicon = registration.template(registration.settings()).lexicon
    meant = {*lexicon.synonyms.values(), *lexicon.products.values(), *lexicon.containers}
    assert meant <= lexicon.kinds | lexicon.products.keys()
    assert {kind for kinds in lexicon.called.values() for kind in kinds} <= lexicon.kinds
    said = [word for words in lexicon.states.values() for word in words]
    assert len(said) == len({*said}), "an adjective of two states"


@pytest.mark.parametrize("name", every(2, ["toy", "minedojo"]))
def test_tasks_are_of_kinds_and_things_that_are_known(name: str) -> None:
    registration = registry.find(name)
    settings = registration.settings()
    assert registration.template is not None
    template = registration.template(settings)
    nouns = template.lexicon.kinds | template.lexicon.products.keys()
    seen = set()
    for number in range(12):
        task = template.seed(random.Random(f"lexicon {number}"), f"lexicon-{number}")
        seen.add(task.kind)
        assert template.kind(task.scene) == task.kind
        for event in template.events(task):
            assert event.action_kind is not ActionKind.OTHER
            assert event.thing.replace("_", " ") in nouns, event
    assert seen <= {*registration.kinds(settings)}
