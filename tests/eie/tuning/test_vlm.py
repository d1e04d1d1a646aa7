"""How `inhabit-vlm` is trained: rows, adapters, and a trainer that goes on where it was stopped."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import nn
from transformers import AutoTokenizer

from alfred_training.teacher import PlannerTeacher
from inhabit.agents.dialogue.history import without_repeated
from inhabit.agents.dialogue.prompt import Prompt, PromptSettings
from inhabit.agents.models.eyes import BUNDLED as EYES
from inhabit.agents.models.local.encoder import Encoder
from inhabit.agents.models.local.settings import LocalSettings
from inhabit.agents.models.local.smollm2 import prepare
from inhabit.agents.models.registry import load
from inhabit.agents.models.vlm import ADAPTERS, BUNDLED
from inhabit.agents.models.vlm.model import add, untrained
from inhabit.agents.models.vlm.processor import InhabitVlmProcessor
from inhabit.agents.models.vlm.sight import FrameDetector
from inhabit.agents.planners.beam import Beam, BeamSettings
from inhabit.eie.tuning.vlm.episodes import (
    ExpertTeacher,
    LabelledEpisode,
    LabelledStep,
    append,
    episodes_in,
    noisy_teacher,
    play,
)
from inhabit.eie.tuning.vlm.gates import read_questions, right_actions
from inhabit.eie.tuning.vlm.players import Ask, DecisionRequest, Job, Player, Players, chosen
from inhabit.eie.tuning.vlm.rows import Rows, TokenRow, questions
from inhabit.eie.tuning.vlm.training import MergedLora, Trainer, VlmTraining, scores
from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.tasks.sampling import sample
from inhabit.envs.alfred.world.settings import AlfredSettings
from inhabit.envs.core import Task
from inhabit.envs.registry import find
from tests.agents.models.local.tiny_vlm import save_decoder

SETTINGS = PromptSettings(history="whole", pictures=60, prompt=BUNDLED / "prompt.jinja")


@pytest.fixture(scope="module")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_decoder(tmp_path_factory.mktemp("decoder"))


@pytest.fixture(scope="module")
def sight() -> FrameDetector:
    return FrameDetector(EYES)


@pytest.fixture(scope="module")
def rows(decoder: Path, sight: FrameDetector) -> Rows:
    words = AutoTokenizer.from_pretrained(decoder)
    return Rows(words, Prompt("rank", settings=SETTINGS), sight.names)


@pytest.fixture(scope="module")
def played(
    sight: FrameDetector, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list, tuple]:
    """A file with two episodes; what was observed in the first, and its actions."""
    file = tmp_path_factory.mktemp("episodes") / "episodes.jsonl"
    settings = AlfredSettings(split="train", clips=True, wire="none", navigation="teleport")
    teacher, seen = PlannerTeacher(sight.names), []
    with Alfred(settings=settings) as env:
        for seed, task in enumerate(sample(2, 5, settings)):
            slips = noisy_teacher(0.3, random.Random(seed))

            def act(moment, best, steps, slips=slips, first=not seed):
                if first:
                    seen.append(moment)
                return slips(moment, best, steps)

            episode = play(env, task, seed=seed, sight=sight, teacher=teacher, act=act, black=False)
            append(episode, file)
    return file, seen


@pytest.fixture(scope="module")
def episodes(played: tuple[Path, list]) -> list[LabelledEpisode]:
    return list(episodes_in(played[0]))


@pytest.mark.slow
def test_the_teacher_solves_and_labels_what_others_did(episodes: list[LabelledEpisode]) -> None:
    assert any(one.success for one in episodes)
    steps = [step for one in episodes for step in one.steps]
    assert any(step.best != step.action for step in steps)
    assert any(len(step.look) for step in steps)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["toy", "virtualhome"])
def test_an_expert_labels_what_others_did(name: str, sight: FrameDetector, rows: Rows) -> None:
    """Also where there is no vision-based teacher: its next action from wherever one stands."""
    registered = find(name)
    settings = registered.settings()
    with registered.make(registered.backends[0], settings) as env:
        task = next(iter(registered.sample(1, 4, settings)))

        def act(view, best, steps):
            return next(a for a in view.candidates if a != best) if len(steps) == 1 else best

        teacher = ExpertTeacher(env)
        episode = play(env, task, seed=0, sight=sight, teacher=teacher, act=act, black=False)
    assert episode.success
    first, *others = episode.steps
    assert first.best != first.action
    assert all(step.best == step.action for step in others)
    row = rows.episode(episode, task.goal, {})
    assert sum(row.branches) >= len(rows.reply(first.best)), "The first label is a branch."


@pytest.mark.slow
def test_a_row_is_what_the_model_is_asked(
    played: tuple[Path, list], episodes: list[LabelledEpisode], rows: Rows, decoder: Path
) -> None:
    """Image for image and word for word, at the last step of an episode."""
    processor = InhabitVlmProcessor(AutoTokenizer.from_pretrained(decoder), EYES)
    moment = played[1][-1]
    asked = Encoder(processor.tokenizer, processor).prompt(
        Prompt("rank", settings=SETTINGS).messages(moment, images=True)
    )
    row = rows.episode(episodes[0], moment.goal, {})
    trunk = [t for t, branch in zip(row.ids, row.branches, strict=True) if branch == 0]
    last = len(rows.reply(episodes[0].steps[-1].action))
    assert tuple(trunk[:-last]) == asked.ids
    assert torch.allclose(torch.from_numpy(row.detections), asked.images["detections"], atol=1e-3)


@pytest.mark.slow
def test_a_branch_scores_as_if_it_stood_alone(
    episodes: list[LabelledEpisode], rows: Rows, decoder: Path, sight: FrameDetector
) -> None:
    model = untrained(decoder, sight.names)
    row = rows.episode(episodes[0], "go", {2: [sight.names.index("mug"), 5]})
    assert max(row.branches) >= 3
    logits, targets = scores(model, [row, rows.episode(episodes[1], "go", {})])
    number = next(i for i, source in enumerate(row.sources) if row.branches[source])
    source = row.sources[number]
    kept = [
        i
        for i in range(source + 1)
        if row.branches[i] in (0, row.branches[source]) and row.places[i] <= row.places[source]
    ]
    kept = [i for i in kept if row.branches[i] or i < row.branches.index(row.branches[source])]
    alone = model(
        input_ids=torch.tensor([[row.ids[i] for i in kept]]),
        detections=torch.from_numpy(row.detections[: _objects(row, kept)]),
    ).logits[0, -1]
    assert torch.allclose(logits[number], alone, atol=1e-4)
    assert targets[number] == row.targets[number]


def _objects(row: TokenRow, kept: list[int]) -> int:
    image = max(set(row.ids), key=row.ids.count)
    return sum(row.ids[i] == image for i in kept)


@pytest.mark.slow
def test_questions_are_balanced_within_each_class(
    episodes: list[LabelledEpisode], sight: FrameDetector
) -> None:
    asked = questions(episodes * 6, sight.names, 6, random.Random(0))
    assert sum(len(some) for one in asked for some in one.values()) > 20
    assert questions(episodes, sight.names, 0, random.Random(0)) == [{}] * len(episodes)


@pytest.mark.slow
def test_a_class_is_erased_from_pictures_alone(episodes: list[LabelledEpisode], rows: Rows) -> None:
    episode = episodes[0]
    shown = next(int(row[0]) for step in episode.steps for row in step.look if row[1] > 0.9)
    steps = list(episode.steps)
    steps[-1] = steps[-1].model_copy(update={"hidden": shown, "unseen": "explore"})
    erased = rows.without(episode.model_copy(update={"steps": tuple(steps)}), "go", shown)
    whole = rows.episode(episode, "go", {})
    assert shown in whole.detections[:, 0]
    assert shown not in erased.detections[:, 0]
    assert tuple(erased.targets) == tuple(rows.reply("explore"))


def test_an_adapter_is_that_of_two_products() -> None:
    torch.manual_seed(0)
    base = nn.Linear(6, 4, bias=False)
    layer = MergedLora(base, 2)
    nn.init.normal_(layer.b)
    x = torch.randn(3, 5, 6, requires_grad=True)
    layer(x).square().sum().backward()
    got = [x.grad.clone(), layer.a.grad.clone(), layer.b.grad.clone()]
    x.grad = layer.a.grad = layer.b.grad = None
    (x @ base.weight.T + 2 * (x @ layer.a.T) @ layer.b.T).square().sum().backward()
    for one, other in zip(got, [x.grad, layer.a.grad, layer.b.grad], strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-4)


def trainer(decoder: Path, sight: FrameDetector, folder: Path) -> Trainer:
    settings = VlmTraining(tokens=4000, batch=900, warm=1, save_every=1, rate=1e-2)
    return Trainer(untrained(decoder, sight.names), folder, settings, seed=0)


@pytest.mark.slow
def test_training_learns_continues_and_becomes_a_model(
    played: tuple[Path, list],
    episodes: list[LabelledEpisode],
    rows: Rows,
    decoder: Path,
    sight: FrameDetector,
    tmp_path: Path,
) -> None:
    def goal(episode: LabelledEpisode, rng: random.Random) -> str:
        return episode.task.goal

    given = [played[0]], rows, goal
    said: list[str] = []
    first = trainer(decoder, sight, tmp_path)
    assert first.train(*given, said.append, until=1500)
    second = trainer(decoder, sight, tmp_path)
    assert second.train(*given, said.append, until=4000)
    assert not second.train(*given, said.append, until=4000)
    losses = [float(line.split("loss ")[1].split(",")[0]) for line in said if "loss" in line]
    assert losses[-1] < losses[0]
    model = untrained(decoder, sight.names)
    add(model, load_file(tmp_path / ADAPTERS))
    row = [rows.episode(episodes[0], "go", {})]
    assert torch.allclose(scores(model, row)[0], scores(second.model, row)[0], atol=0.05)


@pytest.mark.slow
def test_gates_tell_a_model_that_sees_from_one_that_does_not(
    episodes: list[LabelledEpisode], sight: FrameDetector
) -> None:
    rows = Rows(AutoTokenizer.from_pretrained(prepare()), Prompt("rank", SETTINGS), sight.names)
    model = untrained(prepare(), sight.names)
    blind, _ = read_questions(model, episodes * 8, rows)
    blind_right = right_actions(model, episodes, rows, black=False)
    add(model, load_file(BUNDLED / ADAPTERS))
    seeing, classes = read_questions(model, episodes * 8, rows)
    seeing_right = right_actions(model, episodes, rows, black=False)
    assert classes >= 2
    assert seeing > 0.9 > blind
    assert seeing_right["all"][0] > 0.5 > blind_right["all"][0]
    assert seeing_right["all"][1] == sum(len(one.steps) for one in episodes)


@pytest.mark.slow
def test_a_line_that_a_killed_process_left_is_replaced(
    episodes: list[LabelledEpisode], tmp_path: Path
) -> None:
    file = tmp_path / "episodes.jsonl"
    append(episodes[0], file)
    with file.open("a") as half:
        half.write('{"task": {')
    assert len(list(episodes_in(file))) == 1
    append(episodes[1], file)
    assert list(episodes_in(file)) == episodes


@pytest.mark.slow
def test_one_that_decides_for_several_chooses_as_a_beam_of_width_one(
    played: tuple[Path, list],
    episodes: list[LabelledEpisode],
    rows: Rows,
    decoder: Path,
    sight: FrameDetector,
    tmp_path: Path,
) -> None:
    model = untrained(decoder, sight.names)
    model.save_pretrained(tmp_path)
    InhabitVlmProcessor(AutoTokenizer.from_pretrained(decoder), EYES).save_pretrained(tmp_path)
    settings = BeamSettings(width=1, end=True, **SETTINGS.model_dump() | {"repeats": False})
    agent = Beam(load(f"local:{tmp_path}", LocalSettings(dtype="float32")), settings)
    asked, offered, steps = [], [], episodes[0].steps
    for number, view in enumerate(played[1]):
        now = steps[number].model_copy(update={"action": ""})
        row = rows.asked([*steps[:number], now], view.goal)
        offered.append(without_repeated(view))
        answers = tuple(tuple(rows.reply(action.text)) for action in offered[-1])
        asked.append(DecisionRequest(row.ids, row.detections, answers))
    for view, actions, answer in zip(played[1], offered, chosen(model, asked), strict=True):
        assert asyncio.run(agent.decide(view)).action == actions[answer]


def counting_player() -> Player:
    """One that asks as many questions as its job's seed says, and keeps the answers."""

    def play(job: Job, ask: Ask) -> LabelledEpisode:
        asked = [
            DecisionRequest((job.seed, i), np.zeros((0, 6), np.float32), ())
            for i in range(job.seed)
        ]
        steps = tuple(LabelledStep(text="", look=(), best="", action=str(ask(q))) for q in asked)
        return LabelledEpisode(task=job.task, seed=job.seed, black=False, success=True, steps=steps)

    return play


@pytest.mark.slow
def test_players_end_in_the_order_of_their_jobs_and_each_gets_its_answers() -> None:
    task = Task(env="alfred", id="a", kind="a", goal="go", scene={})
    jobs = [Job(task, seed, {}) for seed in (7, 0, 3, 1, 5)]
    with Players(2, counting_player) as players:
        for _ in range(2):
            played = list(players.play(iter(jobs), lambda asked: [sum(q.ids) for q in asked]))
            told = [[step.action for step in one.steps] for one in played]
            assert told == [[str(job.seed + i) for i in range(job.seed)] for job in jobs]
