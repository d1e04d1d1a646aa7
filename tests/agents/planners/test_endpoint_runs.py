"""Whole runs through the command, against endpoints that behave and ones that don't."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sampling import every

from inhabit.cli import main
from inhabit.envs.core import Task
from inhabit.envs.toy.tasks import sample
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import DecideLine, Ending
from tests.agents.models.endpoints.endpoint import Answer, Endpoint, endpoint, error, good
from tests.agents.planners.toy_brain import Solver, images_of, text_of

KEY = "sk-not-to-be-found-anywhere"
QUICK = ("timeout=6", "backoff=0.01", "attempts=3", "in_process=true")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INHABIT_API_KEY", KEY)


class Runs:
    """Runs of the toy house through the command."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._folder = folder
        self._capsys = capsys

    def play(
        self, agent: str, serving: Endpoint, *words: str, n: int = 4, out: str = "run", **sets: Any
    ) -> tuple[Run, Any]:
        folder = self._folder / out
        assignments = [*QUICK, *(f"{key}={value}" for key, value in sets.items())]
        command = ["run", "toy", "--agent", agent, "--model", "openai:test", "--n", str(n)]
        command += ["--base-url", serving.base_url, "--out", str(folder), "--json", *words]
        for assignment in assignments:
            command += ["--set", assignment]
        with pytest.raises(SystemExit) as left:
            main(command)
        said = self._capsys.readouterr()
        figures = json.loads(said.out.splitlines()[-1])
        assert left.value.code == int(figures["faults"] == figures["episodes"]), said.err
        for file in folder.rglob("*"):
            assert not file.is_file() or KEY.encode() not in file.read_bytes()
        return Run.open(folder), figures


@pytest.fixture
def runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Runs:
    return Runs(tmp_path, capsys)


def tasks(n: int) -> Sequence[Task]:
    return tuple(sample(n, 0))


def decisions(run: Run, number: int = 0) -> list[DecideLine]:
    attempt = run.episode(number).last()
    assert attempt is not None
    return [step.decide for step in attempt.steps if step.decide is not None]


def endings(run: Run) -> Counter[Ending]:
    """How the episodes ended: all of them have."""
    ends = [episode.end() for episode in run.episodes()]
    assert None not in ends
    return Counter(end.ending for end in ends if end is not None)


# Endpoints that behave.


@pytest.mark.parametrize("sets", every(3, [{"letters": "true"}, {}, {"lacks": "schema"}]), ids=str)
def test_chat_solves_tasks(runs: Runs, sets: dict[str, str]) -> None:
    solver = Solver(tasks(4))

    def brain(request: dict[str, Any], number: int) -> Answer:
        if "letters" not in sets:
            return good(f"```json\n{solver.json(request)}\n```", tokens=(100, 20))
        listed = text_of(request["messages"][-1]).splitlines()
        wanted = solver.next(request)
        letter = next(line.partition(".")[0] for line in listed if line.endswith(f". {wanted}"))
        return good(json.dumps({"reasoning": "", "action": letter}), tokens=(100, 20))

    with endpoint(brain) as serving:
        run, figures = runs.play("chat", serving, "--workers", "3", **sets)
    assert figures["success_rate"] == 1.0
    assert figures["tokens"] == {"in": 100 * figures["steps"], "out": 20 * figures["steps"]}
    assert len(serving.requests) == figures["steps"]
    for request in serving.requests:
        assert len(images_of(request["messages"][-1])) == 1
        assert ("response_format" in request) == ("lacks" not in sets)
    assert run.header.settings.model["base_url"] == serving.base_url
    attempt = run.episode(0).last()
    assert attempt is not None
    picture = {"image": attempt.steps[0].see.digest}
    assert decisions(run)[0].calls[0].messages[-1]["content"][-2] == picture


def test_without_its_image_and_with_a_black_one(runs: Runs) -> None:
    solver = Solver(tasks(1))
    with endpoint(lambda request, number: good(solver.json(request))) as serving:
        runs.play("chat", serving, "--sight", "none", n=1, out="none")
        assert not any(images_of(m) for r in serving.requests for m in r["messages"])
        runs.play("chat", serving, "--sight", "blank", n=1, out="blank")
        assert len({images_of(serving.requests[-1]["messages"][-1])[0]}) == 1


@pytest.mark.parametrize("protocol", ["native", "text"])
def test_holmes_asks_and_solves_tasks(runs: Runs, protocol: str) -> None:
    solver = Solver(tasks(4))

    def brain(request: dict[str, Any], number: int) -> Answer:
        newest = request["messages"][-1]
        if "->" in text_of(newest) and "Goal:" not in text_of(newest):
            return good(json.dumps({"reasoning": "", "action": solver.next(request)}))
        if protocol == "native":
            assert request["tools"][0]["function"]["name"] == "object_detection"
            return good("", calls=[("object_detection", "{}")])
        assert "tools" not in request
        return good("Let me look.\n```\nobject_detection()\n```")

    with endpoint(brain) as serving:
        run, figures = runs.play("holmes", serving, protocol=protocol)
    assert figures["success_rate"] == 1.0
    assert figures["grants"] == ["tools"]
    assert not any(images_of(m) for r in serving.requests for m in r["messages"])
    for decide in decisions(run):
        asked, acted = decide.calls
        assert "object_detection" in asked.reply
        assert len(acted.messages) == len(asked.messages) + 2, "The whole dialogue is on record."
        assert decide.description.startswith("object_detection() -> [")


def test_holmes_goes_on_in_text_where_an_endpoint_refuses_tools(runs: Runs) -> None:
    solver = Solver(tasks(2))

    def brain(request: dict[str, Any], number: int) -> Answer:
        if "tools" in request:
            return error(400, "m does not support tools")
        newest = text_of(request["messages"][-1])
        if "->" in newest and "Goal:" not in newest:
            return good(json.dumps({"reasoning": "", "action": solver.next(request)}))
        return good("object_detection()")

    with (
        endpoint(brain) as serving,
        pytest.warns(UserWarning, match="tools are described in the prompt instead"),
    ):
        run, figures = runs.play("holmes", serving, n=2)
    assert figures["success_rate"] == 1.0
    assert sum("tools" in request for request in serving.requests) <= 2, "It is learned once."
    (note,) = decisions(run)[0].calls[0].notes
    assert "the endpoint refuses tools (m does not support tools)" in note


def test_what_was_paid_before_tools_were_refused_is_kept_where_the_text_fails(runs: Runs) -> None:
    answers = (
        good("", calls=[("object_detection", "{}")]),
        error(400, "the role tool is not supported"),
        error(400, "the prompt is too long"),
    )
    with (
        endpoint(lambda request, number: answers[min(number, 2)]) as serving,
        pytest.warns(UserWarning, match="tools are described in the prompt instead"),
    ):
        run, _ = runs.play("holmes", serving, n=1)
    (decision,) = decisions(run)
    assert [call.tokens_in for call in decision.calls] == [10]


def test_holmes_names_its_tools_in_the_last_turn_too(runs: Runs) -> None:
    """Some endpoints refuse a dialogue with tool calls in which no tools are named."""
    solver = Solver(tasks(1))

    def brain(request: dict[str, Any], number: int) -> Answer:
        called = any("tool_calls" in message for message in request["messages"])
        if called and "tools" not in request:
            return error(400, "tools must be given, since messages hold tool calls")
        if request.get("tool_choice") != "none":
            return good("", calls=[("object_detection", "{}")])
        return good(json.dumps({"reasoning": "", "action": solver.next(request)}))

    with endpoint(brain) as serving:
        _, figures = runs.play("holmes", serving, n=1, turns=1)
    assert figures["success_rate"] == 1.0


def test_letters_are_generated_where_an_endpoint_gives_no_probabilities(runs: Runs) -> None:
    def brain(request: dict[str, Any], number: int) -> Answer:
        if "logprobs" in request:
            return error(400, "logprobs are not supported by this model", Retry_After="0")
        return good("A")

    words = ("--max-steps", "2", "--candidates", "seen")
    with endpoint(brain) as serving, pytest.warns(UserWarning, match="letters are generated"):
        run, _ = runs.play("chat", serving, *words, n=1, letters="true", reason="false")
    assert [d.raw for d in decisions(run)] == ["A", "A"]
    assert len(serving.requests) == 3


@pytest.mark.parametrize("agent", ["chat", "holmes"])
@pytest.mark.parametrize(
    "said",
    ['{"description": "A ho', '{"action": "go to the kitchen', '{"action": "go to the kitchen '],
)
def test_an_answer_that_was_cut_off_is_named_as_such(runs: Runs, said: str, agent: str) -> None:
    """Also in the midst of its action, which then lacks its end, such as a number."""
    body = json.loads(good(said).body)
    body["choices"][0]["finish_reason"] = "length"

    def brain(request: dict[str, Any], number: int) -> Answer:
        if number:
            assert "cut off at the limit of tokens" in text_of(request["messages"][-1])
        return Answer(json.dumps(body).encode())

    with endpoint(brain) as serving, pytest.warns(UserWarning, match="--set max_tokens=N"):
        run, _ = runs.play(agent, serving, "--max-steps", "1", n=1)
    attempt = run.episode(0).last()
    assert attempt is not None
    assert attempt.steps[0].act is not None
    assert "cut off at the limit of tokens" in attempt.steps[0].act.feedback
    assert [call.finish for call in decisions(run)[0].calls] == ["length", "length"]


def test_llm_solves_tasks_in_words(runs: Runs) -> None:
    solver = Solver(tasks(4))
    with endpoint(lambda request, number: good(solver.json(request))) as serving:
        _, figures = runs.play("llm", serving)
    assert figures["success_rate"] == 1.0
    assert "Object detection: " in text_of(serving.requests[0]["messages"][-1])


def test_every_vote_is_on_record(runs: Runs) -> None:
    solver = Solver(tasks(1))

    def brain(request: dict[str, Any], number: int) -> Answer:
        assert request["n"] == 3
        return good(solver.json(request), "fly {away}", solver.json(request))

    with endpoint(brain) as serving:
        run, figures = runs.play("chat", serving, n=1, votes=3, temperature=0.7)
    assert figures["success_rate"] == 1.0
    (call,) = decisions(run)[0].calls
    assert call.others == ("fly {away}", call.reply)


def test_the_same_run_again_is_answered_from_the_cache(runs: Runs, tmp_path: Path) -> None:
    solver = Solver(tasks(4))
    with endpoint(lambda request, number: good(solver.json(request))) as serving:
        _, first = runs.play("chat", serving, out="a", cache=tmp_path / "cache")
        asked = len(serving.requests)
        run, again = runs.play("chat", serving, out="b", cache=tmp_path / "cache")
    assert len(serving.requests) == asked
    assert (again["success_rate"], again["steps"]) == (first["success_rate"], first["steps"])
    assert all(call.cached for decide in decisions(run) for call in decide.calls)
    assert again["tokens"] == {"in": 0, "out": 0}


# Endpoints that don't.


def test_every_trouble_there_is_and_nothing_is_lost_or_paid_twice(runs: Runs) -> None:
    """Half of all calls go wrong, in every way there is; each works at its second or third try."""
    solver = Solver(tasks(12))
    asked: Counter[str] = Counter()

    def brain(request: dict[str, Any], number: int) -> Answer:
        whole = good(solver.json(request))
        body = json.dumps(request, sort_keys=True)
        tries, asked[body] = asked[body], asked[body] + 1
        draw = random.Random(f"{body} {tries}")
        if tries >= 2 or draw.random() < 0.5:
            return whole
        return draw.choice(
            [
                error(500, "oh"),
                error(502, "gone"),
                error(429, "slow down", Retry_After="0"),
                error(429, "slow down", Retry_After="0.05"),
                Answer(whole.body, cut=len(whole.body) // 2),
                Answer(whole.body[:-20]),
                Answer(whole.body, endless=True),
                Answer(whole.body, delay=15.0, hang_up=True),
                Answer(b"<html>Bad gateway</html>"),
                Answer(b'{"choices": []}'),
                Answer(b"", hang_up=True),
            ]
        )

    with endpoint(brain) as serving:
        run, figures = runs.play("chat", serving, "--workers", "6", n=12)
    assert endings(run) == {Ending.SUCCESS: 12}
    assert len(serving.requests) > 1.3 * figures["steps"], "There was trouble enough."
    assert len(set(serving.paid)) == len(serving.paid) == figures["steps"], "Each was paid once."


FOR_GOOD = {
    "empty words": (good(""), Ending.FORMAT_ERROR),
    "babble": (good("{{\ud83d\x00 ]]\n[/INST] {0}\n"), Ending.FORMAT_ERROR),
    "another action each time": (good('{"action": "fly to the {moon}"}'), Ending.FORMAT_ERROR),
    "the same that fails": (good('{"action": "drop the cup"}'), None),
    "a stop": (good('{"action": "stop"}'), Ending.STOPPED),
    "calls that nobody offered": (good("", calls=[("rm", '{"-rf": "/"}')]), Ending.FORMAT_ERROR),
    "500 for ever": (error(500, "oh"), Ending.MODEL_FAULT),
    "429 for ever": (error(429, "slow", Retry_After="0"), Ending.MODEL_FAULT),
    "an hour's rest": (error(429, "slow", Retry_After="3600"), Ending.MODEL_FAULT),
    "a wrong key": (error(401, "who?"), Ending.MODEL_FAULT),
    "cut streams": (Answer(good("ok").body, endless=True), Ending.MODEL_FAULT),
    "cut bodies": (Answer(good("ok").body, cut=30), Ending.MODEL_FAULT),
    "no JSON": (Answer(b"no"), Ending.MODEL_FAULT),
    "no choices": (Answer(b'{"choices": []}'), Ending.MODEL_FAULT),
    "silence": (Answer(b"", delay=60.0), Ending.MODEL_FAULT),
}


@pytest.mark.slow
def test_what_never_passes_ends_each_episode_with_its_reason(runs: Runs) -> None:
    """An episode for each trouble, all at once: none holds another up, none is lost.

    The first are answered, or the first refusal would end the command.
    """
    chosen = tasks(len(FOR_GOOD) + 1)
    solver = Solver(chosen)
    troubles = dict(zip((t.goal for t in chosen), FOR_GOOD.values(), strict=False))

    def brain(request: dict[str, Any], number: int) -> Answer:
        goal = text_of(request["messages"][1]).splitlines()[0].removeprefix("Goal: ")
        return troubles[goal][0] if goal in troubles else good(solver.json(request))

    with endpoint(brain) as serving:
        run, figures = runs.play(
            "chat",
            serving,
            "--workers",
            "5",
            n=len(chosen),
            max_invalid=4,
            attempts=2,
            max_faults=0,
        )
    assert figures["episodes"] == sum(figures["endings"].values()) == len(chosen)
    ended = {e.task.goal: e.end() for e in run.episodes()}
    for name, (goal, (_, ending)) in zip(FOR_GOOD, troubles.items(), strict=True):
        end = ended[goal]
        assert end is not None
        assert ending is None or end.ending is ending, name
        assert bool(end.error) == (end.ending is Ending.MODEL_FAULT), name
    assert figures["endings"]["success"] == 1, "The one that had no trouble."


def test_a_fault_half_way_through_a_dialogue_keeps_what_was_paid(runs: Runs) -> None:
    def brain(request: dict[str, Any], number: int) -> Answer:
        if len(request["messages"]) > 2:
            return error(500, "oh")
        return good("object_detection()", tokens=(70, 7))

    with endpoint(brain) as serving:
        run, figures = runs.play("holmes", serving, n=2, lacks="tools")
    assert endings(run) == {Ending.MODEL_FAULT: 2}
    assert figures["tokens"] == {"in": 140, "out": 14}
    (decide,) = decisions(run)
    assert [call.reply for call in decide.calls] == ["object_detection()"]
    assert (decide.action, decide.stop) == (None, False)
    assert len(serving.paid) == 2, "The first turn is not asked for again with the second."


def test_a_budget_ends_the_run(runs: Runs) -> None:
    solver = Solver(tasks(6))
    with endpoint(lambda r, n: good(solver.json(r), tokens=(100, 20))) as serving:
        run, figures = runs.play("chat", serving, n=6, budget_calls=8)
        assert len(serving.requests) == 8
        assert figures["endings"]["budget"] == 6 - figures["endings"]["success"] > 0
        assert figures["episodes"] == 6, "All of them count."
        spent = run.episode(5).end()
        assert spent is not None
        assert (spent.ending, spent.steps) == (Ending.BUDGET, 0)
        assert "budget_calls" in str(spent.error)
        _, figures = runs.play("chat", serving, n=6, out="tokens", budget_tokens=1000)
        assert 1000 <= sum(figures["tokens"].values()) < 1000 + 120
        assert figures["endings"]["budget"] > 0


def test_a_budget_holds_for_all_of_a_run_that_was_cut_off(runs: Runs) -> None:
    solver = Solver(tasks(6))
    asked = {"n": 6, "budget_calls": 8}
    with endpoint(lambda r, n: good(solver.json(r), tokens=(100, 20))) as serving:
        run, _ = runs.play("chat", serving, **asked)
        assert len(serving.requests) == 8
        ended = [e.end() for e in run.episodes()]
        spent = next(i for i, end in enumerate(ended) if end and end.ending is Ending.BUDGET)
        last = run.episode(spent)
        cut = last.file.read_bytes().splitlines(keepends=True)[:-1]
        last.file.write_bytes(b"".join(cut))  # as a kill leaves it before the end is written
        for later in range(spent + 1, 6):
            run.episode(later).file.unlink()
        run, figures = runs.play("chat", serving, **asked)
        assert len(serving.requests) == 8, "Nothing is left to spend."
        assert figures["endings"]["budget"] == 6 - figures["endings"]["success"] > 0
        assert len(last.attempts()) == 2
        run.episode(0).file.unlink()
        runs.play("chat", serving, **asked)
        assert len(serving.requests) > 8, "What is on no record any more is not counted."


def test_a_record_says_what_served_each_call(runs: Runs) -> None:
    def brain(request: dict[str, Any], number: int) -> Answer:
        answer = json.loads(good("stop").body)
        answer |= {"model": "m-2026-01-02", "system_fingerprint": "fp_{1}" if number else None}
        return Answer(json.dumps(answer).encode())

    with endpoint(brain) as serving:
        run, _ = runs.play("chat", serving, n=2)
    served = [d.calls[0].served for n in range(2) for d in decisions(run, n)]
    assert served == ["m-2026-01-02", "m-2026-01-02 fp_{1}"]


def test_a_mistake_is_a_sentence(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    base = ["run", "toy", "--n", "1", "--out", str(tmp_path / "run")]
    for words, says in (
        (
            ["--agent", "random", "--base-url", "http://here/v1"],
            "needs a model with an endpoint",
        ),
        (["--agent", "rank", "--model", "scripted:first", "--base-url", "http://x"], "openai:NAME"),
        (["--agent", "chat", "--model", "openai:m", "--base-url", "here"], "begins with http"),
        (["--agent", "chat", "--model", "openai:m", "--base-url", "http://x:99999"], "Port out"),
        (["--agent", "chat", "--model", "openai:m", "--base-url", "http://x\n"], "unprintable"),
        (["--agent", "chat", "--model", "openai:m", "--set", "temperature=hot"], "temperature"),
        (
            ["--agent", "rank", "--model", "openai:m", "--base-url", "http://x"],
            "asks its model",
        ),
        (["--agent", "holmes", "--model", "scripted:first", "--set", "protocol=native"], "tools"),
    ):
        with pytest.raises(SystemExit) as left:
            main([*base, *words])
        assert left.value.code == 2
        assert says in " ".join(capsys.readouterr().err.split())
