"""A ranker learns a house by watching its expert, is kept, and acts."""

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from alfred_training.ranker import (
    LabelledPrompt,
    RankerTraining,
    RolloutResult,
    build_vocabulary,
    featurize,
    noisy_expert,
    rollout,
    train_ranker,
    with_known_answer,
)
from inhabit.agents.alfred_specialist.ranker.model import RANKER, Ranker, load, save
from inhabit.agents.alfred_specialist.ranker.notes import mentioned_kinds
from inhabit.agents.alfred_specialist.ranker.parsing import notes
from inhabit.agents.alfred_specialist.reading.reading import Reading
from inhabit.agents.core import ModelError, View
from inhabit.envs.core import Action, Task
from inhabit.envs.registry import find
from inhabit.envs.template import WordedGoal


@pytest.fixture(scope="module")
def moments() -> list[LabelledPrompt]:
    return with_known_answer([one for one in played(0, 30) if isinstance(one, LabelledPrompt)])


def played(seed: int, n: int, ranker: Ranker | None = None) -> list[LabelledPrompt | RolloutResult]:
    toy = find("toy")
    settings = toy.settings()
    tasks: list[Task] = list(toy.sample(n, seed, settings))

    def learner(moment: LabelledPrompt) -> Action:
        assert ranker is not None
        scores = ranker.scores(moment.prompt, [a.text for a in moment.candidates])
        return moment.candidates[int(np.argmax(scores))]

    act = noisy_expert(0.1, seed) if ranker is None else learner
    found: list[LabelledPrompt | RolloutResult] = []
    with toy.make(toy.backends[0], settings) as env:
        for task in tasks:
            detect = lambda seen: mentioned_kinds(seen.text)  # noqa: E731
            found += rollout(env, task, detect=detect, read=read, act=act, seed=seed, max_steps=30)
    return found


def read(view: View) -> Reading:
    """What a task of the toy house asks for; of two things, the first."""
    things, places = "apple ball book cup", "chest fridge shelf"
    said = re.findall(r"[a-z]+", view.goal.lower())
    thing = next(word for word in said if word in things.split())
    place = next(word for word in said if word in places.split())
    return Reading("put", (thing, place, ""), 1.0)


def goals(moments: list[LabelledPrompt]) -> list[WordedGoal]:
    parts = {notes(str(one.prompt[-1].parts[0])).nouns for one in moments}
    return [WordedGoal("", "put", nouns) for nouns in sorted(parts)]


@pytest.fixture(scope="module")
def folder(moments: list[LabelledPrompt], tmp_path_factory: pytest.TempPathFactory) -> Path:
    lexicon = build_vocabulary(moments, goals(moments))
    heard: list[str] = []
    learnt = featurize(moments, lexicon)
    network = train_ranker(lexicon, learnt, RankerTraining(epochs=12), seed=0, tell=heard.append)
    assert len(heard) == 12
    target = tmp_path_factory.mktemp("ranker")
    save(network, lexicon, target)
    return target


def test_nouns_are_those_of_goals_and_of_what_can_be_said(moments: list[LabelledPrompt]) -> None:
    asked = [WordedGoal("Put the anvil here.", "put", ("anvil", "", ""))]
    idle = Action("look around", "look around")
    some = [replace(one, candidates=(*one.candidates, idle)) for one in moments[:3]]
    lexicon = build_vocabulary(some, asked)
    assert "anvil" in lexicon.nouns
    assert "" not in lexicon.nouns, "Looking around is done to nothing."
    found = featurize(some, lexicon)
    assert all(one.question.kinds.shape[1] == len(lexicon.nouns) + 2 for one in found)


def test_candidates_share_all_chance_among_them(
    folder: Path, moments: list[LabelledPrompt]
) -> None:
    ranker = load(folder, "x")
    moment = moments[0]
    scores = ranker.scores(moment.prompt, [a.text for a in moment.candidates])
    assert np.exp(scores).sum() == pytest.approx(1.0)
    assert ranker.eyes is None


def test_what_was_learnt_holds_in_new_tasks(folder: Path) -> None:
    ranker = load(folder, "x")
    new = with_known_answer([one for one in played(1, 20) if isinstance(one, LabelledPrompt)])
    right = chance = 0.0
    for moment in new:
        scores = ranker.scores(moment.prompt, [a.text for a in moment.candidates])
        right += moment.candidates[int(np.argmax(scores))] == moment.best
        chance += 1 / len(moment.candidates)
    assert right > 5 * chance


def test_a_learner_acts_and_the_expert_says_what_it_would_have_done(folder: Path) -> None:
    found = played(1, 20, load(folder, "x"))
    assert any(one.success for one in found if isinstance(one, RolloutResult))
    assert sum(isinstance(one, RolloutResult) for one in found) == 20


@pytest.mark.slow
def test_the_same_seed_learns_the_same(moments: list[LabelledPrompt]) -> None:
    lexicon = build_vocabulary(moments, goals(moments))
    some = featurize(moments[:40], lexicon)
    how = RankerTraining(epochs=2)
    one, other = (train_ranker(lexicon, some, how, seed=3, tell=str) for _ in range(2))
    for a, b in zip(one.parameters(), other.parameters(), strict=True):
        assert a.equal(b)


def test_what_another_version_made_is_said_to_be_so(folder: Path, tmp_path: Path) -> None:
    for change in (lambda kept: kept.pop("tasks"), lambda kept: kept["nouns"].append("anvil")):
        shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
        kept = json.loads((tmp_path / RANKER).read_text())
        change(kept)
        (tmp_path / RANKER).write_text(json.dumps(kept))
        with pytest.raises(ModelError, match="another version of this package"):
            load(tmp_path, "x")
