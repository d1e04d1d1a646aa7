"""What pages tell of the cost to go, of a beam, of where agents part; figures for papers."""

from __future__ import annotations

import json
import re
import shutil
from base64 import b64decode
from html import unescape
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image
from toy_runs import play_toy, toy, toy_tasks

from inhabit.agents.core import Ranked
from inhabit.cli import main
from inhabit.episodes.credit.credit import credit_run, credits_of
from inhabit.episodes.credit.schema import EpisodeCredit
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.reports.figure.parts import families
from inhabit.episodes.reports.page.episode_data import beam_tree
from inhabit.episodes.scoring.comparison import parting
from inhabit.episodes.scoring.likelihood import shares


def inhabit(*words: object, code: int = 0) -> None:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    assert (left.value.code or 0) == code


@pytest.fixture(scope="module")
def credited(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("value") / "run"
    model = {"agent": "rank", "model": "scripted:noise", "max_steps": 6}
    run = play_toy(folder, tasks=toy_tasks(1), **model)  # type: ignore[arg-type]
    assert list(credit_run(run, toy, options=2))
    return run


def test_the_page_tells_what_every_step_cost(credited: Run) -> None:
    inhabit("show", credited.folder)
    page = (credited.folder / "episodes/00000/index.html").read_text()
    told = list(map(unescape, re.findall(r'<a href="#step-\d+" aria-label="([^"]+)"', page)))
    found: EpisodeCredit = credits_of(credited)[0]
    assert len(told) == len(found.steps) == 6
    for said, step in zip(told, found.steps, strict=True):
        assert step.before is not None and step.regret is not None and step.action
        assert said.startswith(f"Step {step.step}, {step.action}: {step.before.actions} action")
        assert f"regret {step.regret.actions} action" in said
        assert ("cause:" in said) == (step.regret.actions > 0)
        assert all(f"{one.action}: +" in said for one in step.options)


def test_the_tree_of_a_beam_has_what_was_kept_and_counts_what_was_cut() -> None:
    texts = ["open the box", "open the red door", "open the blue door", "go up", "look"]
    kept = [Ranked(text=texts[i], logprob=-float(i), tokens=1) for i in (0, 1)]
    tree = beam_tree(shares(kept), texts)
    assert tree is not None and (tree.cut, [one.words for one in tree.below]) == (2, ["open the"])
    (opened,) = tree.below
    assert [one.words for one in opened.below] == ["box", "red door"] and opened.cut == 1
    assert [one.logprob for one in opened.below] == [0.0, -1.0]
    assert sum(one.share for one in opened.below) == pytest.approx(opened.share) == 1
    assert beam_tree(shares(kept), texts[:2]) is None, "Nothing was cut."


def test_two_agents_part_at_the_first_other_decision(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = toy_tasks(1)
    expert = play_toy(tmp_path / "expert", tasks=tasks, agent="expert")
    attempt = expert.episode(0).last()
    assert attempt is not None
    actions = [step.decide.action for step in attempt.steps if step.decide]
    said = f"actions={'; '.join([*map(str, actions[:2]), 'look around'])}"
    other = play_toy(tmp_path / "other", tasks=tasks, agent="scripted", assignments=[said])
    part = parting(expert.episode(0), other.episode(0))
    assert part == (2, actions[2], "look around")
    assert parting(expert.episode(0), expert.episode(0)) is None
    inhabit("compare", tmp_path / "expert", tmp_path / "other", "--mixed")
    assert "step 2:" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_a_figure_has_its_text_as_text_and_the_same_bytes(credited: Run) -> None:
    pytest.importorskip("matplotlib")
    folder = credited.folder / "episodes/00000"
    written = []
    for _ in range(2):
        inhabit("show", credited.folder, "--figure", "--steps", "0,3")
        written.append([file.read_bytes() for file in sorted(folder.glob("figure-*"))])
    assert written[0] == written[1] and len(written[0]) == 4
    svg = (folder / "figure-page.svg").read_text()
    texts = " ".join(unescape(text) for text in re.findall(r"<text[^>]*>([^<]*)<", svg))
    assert credited.tasks[0].goal.split(".")[0] in texts and "step 3" in texts
    assert (folder / "figure-column.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.slow
def test_a_figure_has_chinese_letters(
    credited: Run, tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    """Where a font of this machine has them. Matplotlib warns of those that it draws as boxes."""
    pytest.importorskip("matplotlib")
    goal = "把杯子放进冰箱。" * 12
    if len(families(goal)) == 1:
        pytest.skip("no font of this machine has Chinese letters")
    task = credited.tasks[0].model_copy(update={"goal": goal})
    run = play_toy(tmp_path / "run", tasks=[task], agent="random", max_steps=3)
    inhabit("show", run.folder, "--figure")
    svg = (run.folder / "episodes/00000/figure-column.svg").read_text()
    lines = [line for line in re.findall(r"<text[^>]*>([^<]*)<", svg) if "冰箱" in line]
    assert len(lines) > 2 and max(map(len, lines)) < 30
    assert not [one for one in recwarn if "Glyph" in str(one.message)]


@pytest.mark.slow
def test_a_figure_has_images_for_print_and_cuts_a_long_goal(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    task = toy_tasks(1)[0].model_copy(update={"goal": "Put it away, and do so slowly. " * 100})
    run = play_toy(tmp_path / "run", tasks=[task], agent="random", assignments=["pixels=400"])
    inhabit("show", run.folder, "--figure")
    svg = (run.folder / "episodes/00000/figure-column.svg").read_text()
    images = [Image.open(BytesIO(b64decode(one))) for one in re.findall(r"base64,([^\"]+)", svg)]
    assert len(images) == 3 and min(one.width for one in images) > 250, "About an inch each."
    high = re.search(r'<svg[^>]* height="([\d.]+)pt"', svg)
    assert high and float(high[1]) < 3.3 * 72 and "[cut here" in svg


def test_steps_of_a_figure_are_few_numbers(
    credited: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    for steps, told in {"0,first": "not 'first'", ",".join("0123" * 5): "at most 12"}.items():
        inhabit("show", credited.folder, "--figure", "--steps", steps, code=2)
        assert told in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
def test_a_figure_follows_no_link_and_shows_dollars(credited: Run, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    run, mine = shutil.copytree(credited.folder, tmp_path / "run"), tmp_path / "mine.txt"
    mine.write_text("Mine.")
    folder = run / "episodes/00000"
    record, figure = folder / "episode.jsonl", folder / "figure-page.svg"
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    for line in lines:
        line |= {"description": "from $3 to $4"} if line["kind"] == "decide" else {}
    record.write_text("".join(json.dumps(line) + "\n" for line in lines))
    figure.unlink(missing_ok=True)
    figure.symlink_to(mine)
    inhabit("show", run, "--figure")
    assert mine.read_text() == "Mine."
    # Mathematics would be drawn in pieces, with the words in a comment.
    assert any("from $3 to $4" in one for one in ElementTree.parse(figure).getroot().itertext())
