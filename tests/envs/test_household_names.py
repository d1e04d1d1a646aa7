"""Names that people have for things of a household and of Minecraft."""

from __future__ import annotations

import pytest

from inhabit.eie.checking.nouns import SceneNouns
from inhabit.envs.registry import find
from inhabit.envs.template import Lexicon


def registered(env: str) -> Lexicon:
    registration = find(env)
    assert registration.template is not None
    return registration.template(registration.settings()).lexicon


@pytest.mark.parametrize(
    ("env", "said", "kind"),
    [
        ("virtualhome", "telly", "tv"),
        ("virtualhome", "trousers", "pants"),
        ("virtualhome", "loaves of bread", "bread"),
        ("alfred", "hob", "stove burner"),
        ("alfred", "settee", "sofa"),
        ("minedojo", "workbench", "crafting table"),
        ("minedojo", "pickaxe made of iron", "iron pickaxe"),
        ("minedojo", "steak", "cooked beef"),
        ("toy", "glass", "cup"),
    ],
)
def test_a_further_name_means_its_kind(env: str, said: str, kind: str) -> None:
    lexicon = registered(env)
    (mention,) = SceneNouns(lexicon).mentions(said)
    assert kind in lexicon.called[said] and mention.kind in lexicon.called[said]


def test_a_name_of_several_kinds_means_the_one_that_is_there() -> None:
    lexicon = registered("virtualhome")
    assert lexicon.called["cupboard"] == {"kitchen cabinet", "bathroom cabinet"}
    (mention,) = SceneNouns(lexicon, {"kitchen cabinet"}).mentions("the cupboard")
    assert mention.kind == "kitchen cabinet"


@pytest.mark.parametrize(
    ("env", "said"),
    [("minedojo", "axe"), ("minedojo", "two trees"), ("minedojo", "helmets"), ("toy", "box")],
)
def test_what_may_be_something_else_is_no_name(env: str, said: str) -> None:
    assert not SceneNouns(registered(env)).mentions(said)
