"""A person at a terminal."""

from __future__ import annotations

import asyncio
import io
import re

import numpy as np
import pytest
from rich.console import Console

import inhabit
from inhabit.agents.core import Decision, Step
from inhabit.agents.planners.human import Human, HumanSettings, blocks
from inhabit.agents.registry import find
from tests.agents.views import view


def test_two_pixels_a_character() -> None:
    rgb = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [9, 8, 7]]], np.uint8)
    text = blocks(rgb, width=2)
    assert text.plain == "▀▀"
    colours = [
        (span.style.color.get_truecolor(), span.style.bgcolor.get_truecolor())
        for span in text.spans
    ]
    assert colours == [((255, 0, 0), (0, 0, 255)), ((0, 255, 0), (9, 8, 7))]


@pytest.mark.parametrize(("shape", "lines"), [((300, 300), 36), ((100, 300), 12), ((1, 300), 1)])
def test_the_shape_is_kept(shape: tuple[int, int], lines: int) -> None:
    text = blocks(np.zeros((*shape, 3), np.uint8), width=72)
    assert [len(line) for line in text.plain.split("\n")] == [72] * lines


DIRECT = {"alfred": {"wire": "none"}, "toy": {}}


def _play(said: str, *, env: str = "alfred", height: int = 24) -> tuple[Decision, list[str]]:
    """What a person decides who types `said`, and the lines on the terminal."""
    shown = io.StringIO()
    console = Console(
        file=shown, width=80, height=height, force_terminal=True, color_system="truecolor"
    )
    with inhabit.open(env, settings=DIRECT[env]) as session:
        human = Human(HumanSettings(), stdin=io.StringIO(said), console=console)
        decision = asyncio.run(human.decide(session.view()))
    return decision, re.sub(r"\x1b\[[0-9;]*m", "", shown.getvalue()).split("\n")


def test_a_step_fits_a_terminal_of_24_lines() -> None:
    decision, lines = _play("q\n")
    assert decision.stop
    assert len(lines) <= 24 and max(map(len, lines)) <= 80
    assert any("▀" in line for line in lines) and any("Goal" in line for line in lines)


def test_what_a_terminal_acts_on_is_written_out() -> None:
    shown, evil = io.StringIO(), "open\x1b[2J\x9b it"
    human = Human(HumanSettings(), stdin=io.StringIO(), console=Console(file=shown, width=80))
    step = Step(evil, None, evil)
    asyncio.run(human.decide(view(evil, goal=evil, text=evil, history=[step])))
    assert shown.getvalue().count(r"open\x1b[2J\x9b it") == 5
    assert not {"\x1b", "\x9b"} & set(shown.getvalue())


def test_pages_of_the_list_show_every_candidate_once() -> None:
    with inhabit.open("alfred", settings=DIRECT["alfred"]) as session:
        count = len(session.candidates())
    decision, lines = _play("\n" * 60 + f"{count}\n")
    spans = re.findall(r"(\d+) to (\d+) of (\d+)", "\n".join(lines))
    first = spans[: spans.index(spans[0], 1)]
    assert [int(begin) for begin, _, _ in first] == [1, *(int(end) + 1 for _, end, _ in first[:-1])]
    assert int(first[-1][1]) == count == int(first[-1][2])
    assert decision.action is not None


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("help\nq\n", "show more of the list"),
        ("undo\nq\n", "no step to take back"),
        ("fly\nq\n", "No candidate matches that"),
    ],
)
def test_words_that_are_no_actions(said: str, shown: str) -> None:
    decision, lines = _play(said, env="toy")
    assert decision.stop and shown in " ".join(lines)


@pytest.mark.parametrize("stdin", [io.TextIOWrapper(io.BytesIO(b"\xff\nq\n"), "utf-8"), None])
def test_input_that_is_no_text_or_closed_ends_no_reading(
    stdin: io.TextIOWrapper | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", stdin)
    human = find("human").make(HumanSettings(), None)
    with inhabit.open("toy") as session:
        decision = asyncio.run(asyncio.wait_for(human.decide(session.view()), 20))
    assert decision.stop and decision.raw == ("q" if stdin else "")
