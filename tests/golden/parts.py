"""The parts of the golden record. Each gives names and values, in a folder of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import inhabit
from inhabit.agents.core import Agent, Decision, View
from tests.agents.models.endpoints.endpoint import Answer, endpoint, good
from tests.golden.calling import (
    IN_PROCESS,
    answer,
    call,
    evolving,
    export,
    one_of_each,
    pictures,
    samples,
    tasks_file,
    walk,
)
from tests.golden.digests import Each, Near, columns, fields, lines_of, masked
from tests.golden.recorded import of_files, of_run, of_set

Named = Iterator[tuple[str, Any]]
IN_THIS = {"in_process": True}
SEEN = (*IN_PROCESS, "--candidates", "seen")
FASTEST = {"alfred": {"wire": "none"}}
"""Settings that change no result: ALFRED's household in this process."""


@dataclass(frozen=True)
class Part:
    """A name, what makes it, the simulators that it needs, and whether it takes long."""

    name: str
    make: Callable[[Path], Named]
    needs: tuple[str, ...] = ()
    slow: bool = False


def under(name: str, named: Named) -> Named:
    """The same with a name before each name."""
    for inner, value in named:
        yield f"{name}: {inner}", value


def play(folder: Path, env: str, agent: str, *words: object, **options: Any) -> Path:
    """A run of the command line, in this process."""
    sets = [f"{key}={value}" for key, value in FASTEST.get(env, {}).items()]
    more = [word for assignment in sets for word in ("--set", assignment)]
    if "--candidates" not in words and agent != "planner":
        more += ["--candidates", "seen"]
    run = ("run", env, "--agent", agent, "--out", folder, *IN_PROCESS, *more, *words)
    call(*run, **options)
    return folder


# Episodes of the toy house: every ending, and every way of coming to one.


def toy_episodes(folder: Path) -> Named:
    """Nineteen, by agents that need no model."""
    expert = play(folder / "expert", "toy", "expert", "--n", 6)
    yield from under("expert", of_run(expert, settings=True))
    for choice in ("seen", "vocabulary", "oracle"):
        run = play(folder / choice, "toy", "random", "--n", 3, "--seed", 4, "--candidates", choice)
        yield from under(f"random, {choice}", of_run(run))
    steps = ("--set", "actions=look; fly to the moon; open the fridge; stop", "--sight", "none")
    yield from under("stopped", of_run(play(folder / "stop", "toy", "scripted", "--n", 2, *steps)))
    limits = ("--max-steps", 3, "--sight", "blank", "--set", "max_invalid=2")
    yield from under("limits", of_run(play(folder / "limits", "toy", "random", "--n", 2, *limits)))


def toy_disturbed(folder: Path) -> Named:
    """Undone, forked, continued, refused, and with faults of the agent and of the simulator."""
    solution = _solution("toy", 0)
    typed = [solution[0], "1", "undo", "look around", *solution[1:]]
    undone = play(folder / "undone", "toy", "human", "--n", 1, typed=typed)
    yield from under("undone", of_run(undone))

    run = play(folder / "run", "toy", "random", "--n", 3, "--seed", 9)
    record = run / "episodes" / "00001" / "episode.jsonl"
    record.write_text("".join(record.read_text().splitlines(keepends=True)[:12]))
    play(run, "toy", "random", "--n", 3, "--seed", 9)
    fork = ("fork", run, "--episode", 0, "--step")
    yield "fork", list(fields(answer(*fork, 2, "--action", "go to the kitchen")))
    yield "fork, hinted", list(fields(answer(*fork, 1, "--hint", "Mind the cat.")))
    yield from under("continued", of_run(run))
    for number in (0, 1):
        yield from under(f"forked {number}", of_run(run / "forks" / f"{number:04d}"))

    yield from under("agent's fault", of_run(_faulty(folder / "agent")))
    slow = ("--set", "delay=60", "--set", "deadline=5")
    words = ("--set", "in_process=false", "--n", 1, *slow)
    yield from under("deadline", of_run(play(folder / "late", "toy", "random", *words, code=1)))
    (task,) = samples("toy", 1)
    task["scene"]["room"] = "cellar"
    file = tasks_file(folder / "tasks.jsonl", [task])
    yield from under(
        "refused", of_run(play(folder / "no", "toy", "expert", "--tasks", file, code=1))
    )


def _faulty(folder: Path) -> Path:
    def fails_at_two(view: View) -> str:
        if len(view.history) == 2:
            raise ValueError("I do not know.")
        return view.candidates[0].text

    inhabit.run("toy", fails_at_two, folder, n=2, candidates="seen", settings=IN_THIS)
    return folder


def _solution(env: str, task: int) -> list[str]:
    with inhabit.open(env, task) as session:
        return session.plan()


# Prompts and replies.

ODD_REPLIES = (
    '```json\n{{"description": "The cup is in the kitchen.", "reasoning": "I need the book.", '
    '"action": "{0}"}}\n```',
    'I will do it.\n{{"action": "{0}"}} That is all.',
    '{{"description": "The fridge is open.", "reasoning": "Take it.", "action": "{0}",}}',
    "{0}",
    "Action: {0}.",
    '{{"action": "{1}"}}',
    "I have no idea.",
    '{{"action": "fly to the moon"}}',
    '{{"description": "I see a book and a lamp.", "action": "{0}"',
    "<think>Well.</think>{{\"action\": '{0}'}}",
)


WAYS: dict[str, tuple[str, Sequence[str]]] = {
    "chat": ("chat", ()),
    "letters": ("chat", ("letters=true", "reflect=false")),
    "pictures": ("chat", ("pictures=2", "actions=3", "history=3", "candidates=vocabulary")),
    "holmes": ("holmes", ("protocol=text",)),
    "llm": ("llm", ()),
}
"""Ways to ask a chat model -> (agent, settings)."""


def prompts(*names: str) -> Callable[[Path], Named]:
    """What chat models are sent in these ways, and what their replies come to, well formed or
    not.
    """
    return lambda folder: _prompts(folder, names)


def _prompts(folder: Path, names: Sequence[str]) -> Named:
    actions = _solution("toy", 0)
    for name in names:
        agent, settings = WAYS[name]
        sent: list[Any] = []

        def brain(request: dict[str, Any], number: int, sent: list[Any] = sent) -> Answer:
            sent.append(_without_pictures(request))
            reply = ODD_REPLIES[number % len(ODD_REPLIES)]
            return good(reply.format(actions[number % len(actions)], actions[0].upper()))

        choice = [s for s in settings if s.startswith("candidates=")]
        words = [word for s in settings if s not in choice for word in ("--set", s)]
        words += [word for s in choice for word in ("--candidates", s.partition("=")[2])]
        with endpoint(brain) as serving:
            model = ("--model", "openai:test", "--base-url", serving.base_url, "--n", 2)
            limits = ("--max-steps", 14, "--set", "max_invalid=20")
            run = play(folder / name, "toy", agent, *model, *limits, *words)
        call("judge", run)
        yield f"{name}: requests", Each(sent)
        yield from under(name, of_run(run))


SAYINGS = (
    ("The fridge is open.", "The book has to go into the fridge."),
    ("The fridge is closed. I see the cup.", "I need the cup."),
    ("The apple is in the chest.", "I should open the chest."),
    ("There is a ball here, and the chest is closed.", "First I go to the kitchen."),
    ("A hall.", "I do not know."),
    ("I hold the book.", "Put the book in the fridge."),
    ("The cup is on the shelf, the chest is open.", "The goal needs an apple."),
)


def judged(folder: Path) -> Named:
    """What the oracle makes of what an agent says that it sees and thinks."""

    class Says(Agent):
        async def decide(self, view: View) -> Decision:
            number = len(view.history)
            description, reasoning = SAYINGS[number % len(SAYINGS)]
            action = view.candidates[number * 7 % len(view.candidates)]
            return Decision(action, description=description, reasoning=reasoning)

    inhabit.run("toy", Says(), folder / "run", n=6, seed=3, candidates="seen", settings=IN_THIS)
    yield "judge --json", list(fields(answer("judge", folder / "run")))
    yield from of_run(folder / "run")


def _without_pictures(request: Any) -> Any:
    """The bytes of a picture as it is sent are the work of an image library."""
    if isinstance(request, dict):
        return {key: _without_pictures(one) for key, one in request.items()}
    if isinstance(request, list):
        return [_without_pictures(one) for one in request]
    return "<picture>" if isinstance(request, str) and request.startswith("data:") else request


CPU = ("--set", "device=cpu", "--set", "dtype=float32")


def models(folder: Path) -> Named:
    """Runs that rank and search with a small model of random weights."""
    from tests.agents.models.local.tiny import save_llama

    model = f"local:{save_llama(folder / 'model')}"
    for agent, words in (("rank", ()), ("beam", ()), ("beam", ("--set", "plan=true"))):
        name = " ".join((agent, *words[1:]))
        options = ("--model", model, "--n", 2, "--max-steps", 4, *CPU, *words)
        yield from under(name, of_run(play(folder / name, "toy", agent, *options)))


# The other environments.


def episodes(env: str, experts: int, randoms: int, steps: int) -> Callable[[Path], Named]:
    """Recorded episodes of the expert and of lots."""

    def made(folder: Path) -> Named:
        for agent, n in (("expert", experts), ("random", randoms)):
            words = ("--n", n, "--seed", 3, "--max-steps", steps)
            if n:
                yield from under(agent, of_run(play(folder / agent, env, agent, *words)))

    return made


def forked(env: str) -> Callable[[Path], Named]:
    """An episode of the expert's, continued, forked, replayed and judged."""

    def made(folder: Path) -> Named:
        words = ("--n", 1, "--seed", 3, "--max-steps", 8)
        run = play(folder / "run", env, "expert", *words)
        record = run / "episodes" / "00000" / "episode.jsonl"
        record.write_text("".join(record.read_text().splitlines(keepends=True)[:9]))
        play(run, env, "expert", *words)
        fork = ("fork", run, "--episode", 0, "--step", 2, "--hint", "Mind the cat.")
        yield "fork --json", list(fields(answer(*fork)))
        yield "judge --json", list(fields(answer("judge", run)))
        yield "replay --json", list(fields(answer("replay", run)))
        yield from under("continued", of_run(run))
        yield from under("forked", of_run(run / "forks" / "0000"))

    return made


def built_in_planner(folder: Path) -> Named:
    """ALFRED's default agent."""
    words = ("--n", 2, "--seed", 2, "--max-steps", 8)
    yield from of_run(play(folder / "planner", "alfred", "planner", *words))


def worlds(env: str, sampled: int, evolved: int, walks: int) -> Callable[[Path], Named]:
    """Samples, the side of EIE, and what an environment tells on the expert's way."""

    def made(folder: Path) -> Named:
        yield "samples", Each(samples(env, sampled))
        yield "samples, seed 7", Each(samples(env, max(2, sampled // 4), seed=7))
        if evolved:
            for name, value in evolving(env, evolved).items():
                if name in ("schema", "prose", "changes"):
                    yield f"template: {name}", value
                elif name == "lexicon":
                    yield from under("lexicon", iter(value.items()))
                else:
                    yield f"template: {name}", Each(value)
        for number, task in enumerate(inhabit.tasks(env, walks, seed=5) if walks else ()):
            for name, value in walk(env, task, FASTEST.get(env, {})).items():
                yield f"walk {number}: {name}", value if name != "tries" else Each(value)

    return made


def rooms_of_alfred(n: int) -> Callable[[Path], Named]:
    """The first image in so many rooms."""

    def made(folder: Path) -> Named:
        tasks = one_of_each("alfred", "room", n, 2 * n)
        yield "rooms", [task.scene["room"] for task in tasks]
        yield "pixels", Each(pictures("alfred", tasks, FASTEST["alfred"]))

    return made


def flats_of_virtualhome(folder: Path) -> Named:
    """All seven flats, from inside and from above."""
    tasks = one_of_each("virtualhome", "flat", 7, 60)
    for view in ("first_person", "top_down"):
        yield view, Each(pictures("virtualhome", tasks, {"view": view}))


# Sets, exports, answers.


def toy_sets(folder: Path) -> Named:
    """A set, its exports and those of a run, in every format."""
    answers = answer("synth", "toy", "--n", 16, "--seed", 3, "--out", folder / "set", *IN_PROCESS)
    yield from fields(answers, "synth --json")
    yield from under("set", of_set(folder / "set"))
    play(folder / "run", "toy", "expert", "--n", 3)
    formats = ("llava", "llava-interleave", "messages", "egoplan", "recognition")
    for source, more in (("set", ("pca", "jsonl")), ("run", ("trajectories", "lerobot"))):
        for form in (*formats, *more):
            out = folder / f"{source} {form}"
            yield f"export {out.name}", list(fields(export(folder / source, form, out)))
            yield from under(f"export {out.name}", of_files(out, ""))
    yield from under("tuning", tuning(folder / "set", folder, epochs=2))


def fifty_steps(folder: Path) -> Named:
    """Tuning on the same set, for longer."""
    call("synth", "toy", "--n", 16, "--seed", 3, "--out", folder / "set", *IN_PROCESS)
    yield from tuning(folder / "set", folder, epochs=20)


def tuning(examples: Path, folder: Path, epochs: int) -> Named:
    """The first fifty steps on a set, from a small model of random weights."""
    from tests.agents.models.local.tiny import save_llama

    model = f"local:{save_llama(folder / 'model')}"
    settings = (f"epochs={epochs}", "batch=4", "rate=0.002", "history=2", "limit=16")
    words = [word for assignment in settings for word in ("--set", assignment)]
    call("tune", examples, "--base", model, "--out", folder / "tuned", *CPU, *words)
    log = lines_of(next((folder / "tuned").glob("*.jsonl")))
    steps = [line for line in log if line["kind"] == "step"][:50]
    assert len(steps) == 50 or epochs < 20
    yield "losses", Near([line["loss"] for line in steps])
    yield "kinds of lines", [line["kind"] for line in log]
    yield "fields", sorted(columns(steps))


def a_set(env: str, n: int) -> Callable[[Path], Named]:
    """A small set of an environment."""

    def made(folder: Path) -> Named:
        call("synth", env, "--n", n, "--seed", 3, "--out", folder / "set", *IN_PROCESS)
        yield from of_set(folder / "set")

    return made


def answers(folder: Path) -> Named:
    """What commands answer with `--json`; of settings, each default on a line of its own."""
    for command in ("envs", "agents"):
        listed = answer(command)
        yield (
            f"{command} --json: names",
            [one.get("name") or one["kind"] for entries in listed.values() for one in entries],
        )
        for one in (entry for entries in listed.values() for entry in entries):
            name = one.get("name") or one["kind"]
            for row in answer(command, name)["settings"]:
                key, values = row["key"], row["values"]
                yield f"{command} {name} --set {key} ({values})", row["default"]
    for command in (
        ("synth", "toy", "--n", 1, "--out", "x"),
        ("tune", "x", "--base", "local:x", "--out", "x"),
    ):
        yield f"{command[0]} --settings", call(*command, "--settings")
    yield "tasks --json", answer("tasks", "toy", "--n", 3, "--seed", 2)
    first = play(folder / "first", "toy", "random", "--n", 6, "--seed", 1)
    second = play(folder / "second", "toy", "expert", "--n", 6, "--seed", 1)
    asked: Sequence[tuple[str, Sequence[object]]] = (
        (
            "run",
            ("run", "toy", "--agent", "random", "--n", 6, "--seed", 1, "--out", first, *SEEN),
        ),
        ("replay", ("replay", first)),
        ("judge", ("judge", first)),
        ("compare", ("compare", first, second, "--mixed")),
        ("replan", ("replan", first, "--agent", "random", "--out", folder / "replan.jsonl")),
        ("show", ("show", first)),
    )
    for name, words in asked:
        yield from under(f"{name} --json", fields(answer(*words)))
    for path, values in columns(lines_of(folder / "replan.jsonl")).items():
        yield f"replan --out: {path}", values
    yield from under("judged", of_run(first))
    yield "judge --csv", masked(call("judge", first, "--csv"))
    text = json.dumps(inhabit.read_run(first).episodes()[0:2], default=str)
    yield "read_run: fields of an episode", sorted(json.loads(text)[0])


VH = ("virtualhome",)
PARTS = (
    Part("toy episodes", toy_episodes),
    Part("toy disturbed", toy_disturbed),
    Part("toy world", worlds("toy", 20, 8, 4)),
    Part("toy set", toy_sets),
    Part("prompts", prompts("chat", "holmes")),
    Part("answers", answers),
    Part("judged", judged),
    Part("models", models),
    Part("alfred episodes", episodes("alfred", 1, 1, 10)),
    Part("alfred planner", built_in_planner),
    Part("alfred world", worlds("alfred", 7, 1, 1)),
    Part("thor_nav episodes", episodes("thor_nav", 1, 1, 8)),
    Part("thor_nav world", worlds("thor_nav", 8, 0, 1)),
    Part("virtualhome episodes", episodes("virtualhome", 1, 1, 10), VH),
    Part("virtualhome world", worlds("virtualhome", 7, 1, 1), VH),
    Part("minedojo world", worlds("minedojo", 20, 4, 0)),
    # The same and more, where time does not count.
    Part("more of alfred episodes", episodes("alfred", 5, 3, 15), slow=True),
    Part("more of alfred world", worlds("alfred", 14, 3, 3), slow=True),
    Part("more of toy set", a_set("toy", 120), slow=True),
    Part("fifty steps", fifty_steps, slow=True),
    Part("more prompts", prompts("letters", "pictures", "llm"), slow=True),
    Part("alfred rooms", rooms_of_alfred(12), slow=True),
    Part("alfred forked", forked("alfred"), slow=True),
    Part("alfred set", a_set("alfred", 12), slow=True),
    Part("more of virtualhome episodes", episodes("virtualhome", 5, 3, 15), VH, slow=True),
    Part("more of virtualhome world", worlds("virtualhome", 14, 3, 3), VH, slow=True),
    Part("virtualhome flats", flats_of_virtualhome, VH, slow=True),
    Part("virtualhome set", a_set("virtualhome", 12), VH, slow=True),
    Part("minedojo episodes", episodes("minedojo", 2, 1, 6), ("minedojo",), slow=True),
)
