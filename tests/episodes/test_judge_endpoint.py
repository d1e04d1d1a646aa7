"""PCA-Bench from files to judged answers: a chat model answers, and another one judges."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inhabit.cli import main
from inhabit.episodes.judging.chat import read
from tests.agents.models.endpoints.endpoint import Answer, endpoint, error, good
from tests.envs.pca_bench.pca_files import game, home, write

SIX = "action evidence: e\naction score: {a}\nperception evidence: e\nperception score: {p}\n" \
    "cognition evidence: e\ncognition score: {c}"  # fmt: skip


def inhabit(*words: object) -> None:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    assert left.value.code in (0, None)


def play(folder: Path, says: list[str]) -> Path:
    write(folder / "set/Domestic Robot", [home(0), home(1)])
    write(folder / "set/Open-World Game", [game(0)])
    script = folder / "agent.json"
    script.write_text(json.dumps({"abilities": ["images", "words"], "replies": says}))
    inhabit(
        *("run", "pca_bench", "--tasks", folder / "set", "--out", folder / "run"),
        *("--agent", "chat", "--model", f"scripted:{script}", "--set", "repairs=0"),
        *("--set", "in_process=true"),
    )
    return folder / "run"


def answer(action: str, **parts: str) -> str:
    return json.dumps({**parts, "action": action})


def test_a_chat_model_judges_over_the_wire(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = play(
        tmp_path,
        [
            answer("Open the fridge", description="A closed fridge.", reasoning="It is closed."),
            answer("Pick up the apple", description="A sink.", reasoning="I need the apple."),
            "I would rather not say.",
        ],
    )

    def brain(request: dict[str, Any], number: int) -> Answer:
        if number == 0:
            return error(500, "try again")
        said = request["messages"][1]["content"]
        said = said if isinstance(said, str) else "".join(p.get("text", "") for p in said)
        assert "Key concepts: " in said and "Reference reasoning: " in said
        right = int("The agent's action: Open the fridge" in said)
        if "A sink." in said and len(request["messages"]) == 2:
            return good("That one was wrong, I believe.")
        return good(SIX.format(a=right, p=right, c=right))

    with endpoint(brain) as serving:
        inhabit(
            *("judge", run, "--judge", "openai:judge", "--base-url", serving.base_url, "--json"),
            *("--set", f"images={tmp_path}"),
        )
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    overall, home_only = summary["overall"], summary["domains"]["domestic_robot"]
    assert overall["steps"] == 3 and overall["abstained"] == 1
    assert overall["action"]["judged"] == 3 and overall["action"]["mean"] == pytest.approx(1 / 3)
    assert home_only["genuine"]["mean"] == 0.5 and home_only["perception"]["given"] == 2
    # Three options at home, five in the game; the first one is right at home.
    assert overall["chance"] == pytest.approx((1 / 3 + 1 / 3 + 1 / 5) / 3)
    assert overall["always_first"] == pytest.approx(2 / 3)


def test_an_answer_without_an_action_is_wrong_whatever_the_judge_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It counts in genuine too; a step that could not be judged is not one without a mistake."""
    full = answer("Open the fridge", description="A fridge.", reasoning="It is closed.")
    run = play(tmp_path, [full, "I would rather not say.", answer("milk cow")])

    def brain(request: dict[str, Any], number: int) -> Answer:
        said = str(request["messages"][1]["content"])
        return good("I can't." if "action: milk cow" in said else SIX.format(a=1, p=1, c=1))

    with endpoint(brain) as serving:
        inhabit(
            *("judge", run, "--judge", "openai:judge", "--base-url", serving.base_url, "--json"),
            *("--set", f"images={tmp_path}"),
        )
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    home_only = summary["domains"]["domestic_robot"]
    assert home_only["abstained"] == 1 and home_only["action"]["mean"] == 0.5
    assert home_only["genuine"]["mean"] == 0.5
    assert summary["first_mistakes"]["none"] == summary["first_mistakes"]["unjudged"] == 1


def test_the_oracle_judges_actions_alone_where_there_are_no_things(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = play(
        tmp_path, [answer("Open the fridge", description="A closed fridge.", reasoning="So.")] * 3
    )
    inhabit("judge", run, "--json", "--trust-record")
    overall = json.loads(capsys.readouterr().out.splitlines()[-1])["overall"]
    assert overall["action"]["mean"] == pytest.approx(2 / 3)
    assert overall["perception"]["judged"] == 0 < overall["perception"]["given"]
    assert overall["perception"]["coverage"] == 0.0 and overall["genuine"]["mean"] is None


def test_a_judge_that_fails_keeps_what_it_has_said_and_is_asked_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    inhabit("run", "toy", "--agent", "random", "--n", "1", "--out", run, "--set", "in_process=true")
    paid = 0

    def brain(request: dict[str, Any], number: int) -> Answer:
        nonlocal paid
        if paid == 5:
            return error(401, "no credit left")
        paid += 1
        return good(SIX.format(a=1, p=1, c=1))

    with endpoint(brain) as serving:
        words = ("judge", str(run), "--judge", "openai:j", "--base-url", serving.base_url, "--json")
        with pytest.raises(SystemExit) as left:
            main([*words])
        assert left.value.code == 2 and paid == 5
        capsys.readouterr()
        paid = -1000
        inhabit(*words)
    overall = json.loads(capsys.readouterr().out.splitlines()[-1])["overall"]
    assert overall["steps"] == overall["action"]["judged"] == paid + 1000 + 5


@pytest.mark.parametrize("around", ["{}", "So: {} Is that all?", "```json\n{}\n```"])
def test_a_form_in_json_is_read(around: str) -> None:
    said = json.dumps(dict(line.split(": ") for line in SIX.format(a=1, p=0, c=1).splitlines()))
    lines = read(around.replace("{}", said))
    assert lines is not None
    assert [(v.score, v.evidence) for v in lines.values()] == [(0, "e"), (1, "e"), (1, "e")]
    assert read(said + said.replace('"action score": "1"', '"action score": "0"')) is None
