"""`inhabit validate` names planted faults by the check for each, and no sound environment."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel

from inhabit.cli import main
from inhabit.envs import registry
from inhabit.envs.core import Action, Observation, Outcome, Reason, Task, UnknownNameError
from inhabit.envs.registry import Registration
from inhabit.envs.toy import REGISTRATION as TOY
from inhabit.envs.toy.env import Toy
from inhabit.envs.toy.house import ToySettings, vocabulary
from inhabit.envs.toy.tasks import sample
from inhabit.episodes.validating.check import CheckVerdict
from inhabit.episodes.validating.report import CHECKS, chosen, validate
from inhabit.episodes.validating.subject import Subject

SING = Action("sing a song", "sing")
ASKED = Action("do what was asked", "do")


class Faulty(Toy):
    """The toy house, with the task at hand and a count of its actions."""

    acts = 0

    def __init__(self, settings: ToySettings | None = None) -> None:
        super().__init__(settings)
        self.__dict__["first"] = ""

    def reset(self, task: Task, *, seed: int) -> None:
        super().reset(task, seed=seed)
        self.acts, self.task = 0, task

    def act(self, action: Action) -> Outcome:
        self.acts += 1
        return super().act(action)

    def next(self) -> str:
        plan = Toy.plan(self)
        return plan[0].text if plan else "rest"


class TextTellsThePlan(Faulty):
    def observe(self) -> Observation:
        return replace(super().observe(), text=f"It would be wise to {self.next()}.")


class FeedbackTellsThePlan(Faulty):
    def act(self, action: Action) -> Outcome:
        done = super().act(action)
        return replace(done, feedback=f"{done.feedback} Now {self.next()}!")


class AnswerFirst(Faulty):
    def actions(self) -> Sequence[Action]:
        return sorted(super().actions(), key=lambda one: one.text != self.next())


class AnswerLast(Faulty):
    def actions(self) -> Sequence[Action]:
        return sorted(super().actions(), key=lambda one: one.text == self.next())


class CandidatesAreThePlan(Faulty):
    def actions(self) -> Sequence[Action]:
        if self.acts == 0:
            self.offered = list(dict.fromkeys(sorted(Toy.plan(self), key=lambda a: a.text)))
        return self.offered or list(vocabulary())


class OneCandidate(Faulty):
    def actions(self) -> Sequence[Action]:
        return list(Toy.plan(self))[:1] or list(vocabulary())


class ProgressIsTold(Faulty):
    def act(self, action: Action) -> Outcome:
        done = super().act(action)
        return replace(done, feedback=f"{done.feedback} ({done.met} of {done.total})")


class AnswerParsesSlowly(Faulty):
    def parse(self, text: str) -> Action | None:
        if text == self.next():
            time.sleep(0.01)
        return super().parse(text)


class SceneIsIgnored(Faulty):
    def reset(self, task: Task, *, seed: int) -> None:
        super().reset(next(sample(1, 0)), seed=seed)


class OrderOfASet(Faulty):
    def actions(self) -> Sequence[Action]:
        known = {one.text: one for one in super().actions()}
        return [known[text] for text in set(known)]


class AnotherInEachProcess(Faulty):
    made = count()

    def __init__(self, settings: ToySettings | None = None) -> None:
        super().__init__(settings)
        self.number = next(self.made)

    def act(self, action: Action) -> Outcome:
        return replace(super().act(action), feedback=f"Env {self.number} says hello.")


class ForkForgets(Faulty):
    def fork(self) -> Toy:
        copy = super().fork()
        copy._house = replace(copy._house, room="hall")
        return copy


class ResetForgetsTheEyes(Faulty):
    def reset(self, task: Task, *, seed: int) -> None:
        seen = self._seen
        super().reset(task, seed=seed)
        self._seen |= seen


class SeedsTheProcess(Faulty):
    def act(self, action: Action) -> Outcome:
        random.seed(0)
        np.random.seed(0)
        return super().act(action)


class ExpertStopsEarly(Faulty):
    def plan(self) -> Sequence[Action]:
        return list(super().plan())[:-1]


class _Paid(Faulty):
    """Is paid in its own way."""

    def won(self) -> bool:
        return False

    def progress(self) -> tuple[int, int]:
        met, total = super().progress()
        return (total if self.won() else met), total


class AnythingWins(_Paid):
    def won(self) -> bool:
        return self.acts >= 6


class IdlingIsPaid(_Paid):
    def won(self) -> bool:
        return self.acts >= 3


class OneActionWins(_Paid):
    fridge = 0

    def reset(self, task: Task, *, seed: int) -> None:
        self.fridge = 0
        super().reset(task, seed=seed)

    def act(self, action: Action) -> Outcome:
        self.fridge += action.text == "go to the kitchen"
        return super().act(action)

    def won(self) -> bool:
        return self.fridge >= 2


class SayingTheGoalWins(_Paid):
    asked = False

    def reset(self, task: Task, *, seed: int) -> None:
        self.asked = False
        super().reset(task, seed=seed)

    def parse(self, text: str) -> Action | None:
        return ASKED if text in (self.task.goal, ASKED.text) else super().parse(text)

    def act(self, action: Action) -> Outcome:
        self.asked |= action == ASKED
        return super().act(action)

    def won(self) -> bool:
        return self.asked


class LoopIsPaid(_Paid):
    """Each action that works counts, and so does going to and fro."""

    worked = 0

    def reset(self, task: Task, *, seed: int) -> None:
        self.worked = 0
        super().reset(task, seed=seed)

    def act(self, action: Action) -> Outcome:
        done = super().act(action)
        self.worked += done.reason is None
        return replace(done, met=self.progress()[0])

    def won(self) -> bool:
        return self.worked >= 4


class OffersTheUnknown(Faulty):
    def actions(self) -> Sequence[Action]:
        return [*super().actions(), SING]


class OffersBeyondItsVocabulary(Faulty):
    def vocabulary(self) -> Sequence[Action]:
        return [one for one in super().vocabulary() if one.verb != "drop"]


class OffersTwice(Faulty):
    def actions(self) -> Sequence[Action]:
        return [*super().actions(), *super().actions()]


class DoesNotOfferTheWay(Faulty):
    def actions(self) -> Sequence[Action]:
        return [one for one in super().actions() if one.verb not in ("put", "pick")]


class DeadEnd(Faulty):
    def actions(self) -> Sequence[Action]:
        return super().actions() if self.acts < 3 else []


class NothingWorks(Faulty):
    def act(self, action: Action) -> Outcome:
        if self.acts < 40 and action.text != self.next():
            return Outcome(Reason.BLOCKED, "It does not work.", *self.progress(), over=False)
        return super().act(action)

    def actions(self) -> Sequence[Action]:
        return [one for one in super().actions() if one.text != self.next()]


class EchoesControlCharacters(Faulty):
    def act(self, action: Action) -> Outcome:
        return replace(super().act(action), feedback=f"You said {action.text!s}.")


class FormatsTheAction(Faulty):
    def act(self, action: Action) -> Outcome:
        return replace(super().act(action), feedback=f"Did: {action.text}".format(self.acts))


class PlanningLooksAround(Faulty):
    def plan(self) -> Sequence[Action]:
        self._seen |= {"apple", "ball", "book", "cup"}
        return super().plan()


class ToolTellsThePlan(Faulty):
    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        return [super().call(name, arguments), self.next()]


class EndlessText(Faulty):
    def observe(self) -> Observation:
        return replace(super().observe(), text="and so on " * 6000)


class _Camera(Faulty):
    def observe(self) -> Observation:
        seen = super().observe()
        return replace(seen, rgb=self.seen(seen.rgb.copy()))

    def seen(self, rgb: np.ndarray) -> np.ndarray | None:
        return rgb


class BlackCamera(_Camera):
    def seen(self, rgb: np.ndarray) -> np.ndarray:
        return np.zeros_like(rgb)


class GreyCamera(_Camera):
    def seen(self, rgb: np.ndarray) -> np.ndarray:
        return np.full_like(rgb, 128 + len(self._house.room))


class FrozenCamera(_Camera):
    def reset(self, task: Task, *, seed: int) -> None:
        self.kept: np.ndarray | None = None
        super().reset(task, seed=seed)

    def seen(self, rgb: np.ndarray) -> np.ndarray:
        self.kept = rgb if self.kept is None else self.kept
        return self.kept.copy()


class LateCamera(_Camera):
    """Shows what was there before the last action."""

    def reset(self, task: Task, *, seed: int) -> None:
        super().reset(task, seed=seed)
        self.old = Toy.observe(self).rgb

    def act(self, action: Action) -> Outcome:
        self.old = Toy.observe(self).rgb
        return super().act(action)

    def seen(self, rgb: np.ndarray) -> np.ndarray:
        return self.old.copy()


class OnePicture(_Camera):
    def seen(self, rgb: np.ndarray) -> np.ndarray:
        rgb[:] = np.arange(rgb.size).reshape(rgb.shape) % 251
        rgb[0, 0] = min(self.acts, 250)
        return rgb


class TinyPicture(_Camera):
    def seen(self, rgb: np.ndarray) -> np.ndarray:
        return rgb[::6, ::6].copy()


class CameraDropsFrames(_Camera):
    def seen(self, rgb: np.ndarray) -> np.ndarray | None:
        return None if self.acts % 3 == 2 else rgb


class KeepsEverything(Faulty):
    def act(self, action: Action) -> Outcome:
        self.__dict__.setdefault("kept", []).append(bytearray(b"x" * 600_000))
        return super().act(action)


class SlowStep(Faulty):
    def act(self, action: Action) -> Outcome:
        time.sleep(1.05)
        return super().act(action)


class SlowerAndSlower(Faulty):
    life = 0

    def act(self, action: Action) -> Outcome:
        self.life += 1
        time.sleep(1e-4 * self.life if self.life < 220 else 0)
        return super().act(action)


class LeavesFilesOpen(Faulty):
    def __init__(self, settings: ToySettings | None = None) -> None:
        super().__init__(settings)
        _OPEN.append(Path("/dev/null").open("rb"))  # noqa: SIM115


class LeavesThreads(Faulty):
    def __init__(self, settings: ToySettings | None = None) -> None:
        super().__init__(settings)
        threading.Thread(target=_ENDED.wait, daemon=True).start()


class DiesAfterAWhile(Faulty):
    life = 0

    def act(self, action: Action) -> Outcome:
        self.life += 1
        if self.life > 150:
            raise RuntimeError("the simulator ran out of handles")
        return super().act(action)


class NeverOver(Faulty):
    def act(self, action: Action) -> Outcome:
        return replace(super().act(action), over=False)


class SharedFork(Faulty):
    def fork(self) -> Toy:
        return self


_OPEN: list[Any] = []
_ENDED = threading.Event()


def _tasks(change: Callable[[Task, int], Task]) -> Callable[[int, int, Any], Iterator[Task]]:
    def changed(n: int, seed: int, settings: Any) -> Iterator[Task]:
        for number, task in enumerate(sample(n, seed)):
            yield change(task, number)

    return changed


def _told(task: Task, number: int) -> Task:
    env = Toy()
    env.reset(task, seed=0)
    plan = ", then ".join(one.text for one in env.plan())
    return task.model_copy(update={"goal": f"{task.goal} First {plan}."})


def _named(task: Task, number: int) -> Task:
    env = Toy()
    env.reset(task, seed=0)
    name = "-".join(one.text.replace(" ", "-") for one in env.plan())
    return task.model_copy(update={"id": f"{task.id}-{name}"})


def _unpinned(n: int, seed: int, settings: Any) -> Iterator[Task]:
    for number, task in enumerate(sample(n, time.time_ns() % 10**9)):
        yield task.model_copy(update={"id": f"toy-{seed}-{number}"})


_ELSEWHERE = ("hall", "bedroom", "chest", "fridge", "kitchen")


def _same_plan(task: Task, number: int) -> Task:
    """Wherever the other things lie, the cup has to be carried to the shelf."""
    items = {
        "cup": "kitchen",
        "ball": ("hall", "bedroom", "chest", "fridge", "kitchen")[number % 5],
    }
    scene = {
        "room": "kitchen",
        "items": items,
        "inside": {"cup": "shelf"},
        "open": ["chest"][: number // 5],
    }
    goal = "Put the cup in the shelf."
    return task.model_copy(
        update={"goal": goal, "scene": scene, "kind": "put", "reference_cost": 3}
    )


def _changed(**fields: Any) -> Callable[[Task, int], Task]:
    return lambda task, number: task.model_copy(update=fields)


class _DarkSettings(BaseModel):
    pixels: int = 96
    delay: float = 0.0


@dataclass(frozen=True)
class Fault:
    """An environment with one fault, and the check that is for it."""

    name: str
    registration: Registration
    check: str
    only: str = ""
    """Checks to run, where all would take too long."""


def _env(kind: type[Toy], check: str, only: str = "") -> Fault:
    made = replace(TOY, make=lambda backend, settings: kind(settings))
    return Fault(kind.__name__, made, check, only)


def _said(name: str, check: str, **fields: Any) -> Fault:
    return Fault(name, replace(TOY, **fields), check)


LEAK, BOUNDS = "semantic.no_solution_leakage", "runtime.resource_bounds"
SET_ORDER = _env(OrderOfASet, "runtime.episode_determinism").registration
"""Opened by its file, as another process does."""
FAULTS = (
    _env(TextTellsThePlan, f"{LEAK}.text"),
    _env(FeedbackTellsThePlan, f"{LEAK}.feedback"),
    _said("GoalTellsThePlan", f"{LEAK}.goal", sample=_tasks(_told)),
    _said("IdsTellThePlan", f"{LEAK}.ids", sample=_tasks(_named)),
    _env(AnswerFirst, f"{LEAK}.first_candidate"),
    _env(AnswerLast, f"{LEAK}.last_candidate"),
    _env(CandidatesAreThePlan, f"{LEAK}.candidates"),
    _env(OneCandidate, f"{LEAK}.one_candidate"),
    _env(ProgressIsTold, f"{LEAK}.progress"),
    _env(AnswerParsesSlowly, f"{LEAK}.time", "semantic"),
    _said("DeadSeed", "runtime.seed_control", sample=lambda n, seed, _: sample(n, 0)),
    _said("UnpinnedTasks", "static.task_distribution_pinning", sample=_unpinned),
    _env(SceneIsIgnored, "runtime.seed_control.starts"),
    _env(AnotherInEachProcess, "semantic.replayability"),
    _env(ForkForgets, "runtime.fork_fidelity"),
    _env(ResetForgetsTheEyes, "runtime.episode_isolation"),
    _env(SeedsTheProcess, "runtime.host_containment"),
    _env(ExpertStopsEarly, "semantic.oracle_max"),
    _env(AnythingWins, "semantic.floor_gap"),
    _env(IdlingIsPaid, "semantic.canary_floor"),
    _env(OneActionWins, "semantic.floor.one_action"),
    _env(SayingTheGoalWins, "semantic.floor.goal_said"),
    _said("OnePlanForAll", "semantic.floor.one_plan", sample=_tasks(_same_plan)),
    _env(LoopIsPaid, "semantic.verifier_determinism"),
    _said("ShortLimit", "semantic.solvable_in_limit", sample=_tasks(_changed(max_steps=2))),
    _said("WrongReference", "semantic.reference_cost", sample=_tasks(_changed(reference_cost=99))),
    _env(OffersTheUnknown, "runtime.action_declaration_accuracy"),
    _env(OffersBeyondItsVocabulary, "runtime.action_declaration_accuracy.vocabulary"),
    _env(OffersTwice, "runtime.action_declaration_accuracy.doubles"),
    _env(DoesNotOfferTheWay, "semantic.expert_is_offered"),
    _env(DeadEnd, "semantic.dead_ends"),
    _env(NothingWorks, "semantic.learnable"),
    _env(EchoesControlCharacters, "runtime.hostile_text"),
    _env(FormatsTheAction, "runtime.hostile_text"),
    _env(PlanningLooksAround, "runtime.oracle_containment"),
    _env(ToolTellsThePlan, "runtime.oracle_containment.tools"),
    _env(EndlessText, "runtime.observation_length"),
    _env(BlackCamera, "pictures.black"),
    _env(GreyCamera, "pictures.flat"),
    _env(FrozenCamera, "pictures.move"),
    _env(LateCamera, "pictures.show_the_state"),
    _env(OnePicture, "pictures.differ_between_tasks"),
    _env(TinyPicture, "pictures.size"),
    _env(CameraDropsFrames, "pictures.always_there"),
    _said("BlindLookup", "pictures.add_something", sample=_tasks(_same_plan)),
    _env(KeepsEverything, f"{BOUNDS}.memory"),
    _env(SlowStep, f"{BOUNDS}.step_seconds", f"{BOUNDS}.step_seconds"),
    _env(SlowerAndSlower, f"{BOUNDS}.slowing"),
    _env(LeavesFilesOpen, f"{BOUNDS}.left_behind"),
    _env(LeavesThreads, f"{BOUNDS}.left_behind"),
    _env(DiesAfterAWhile, f"{BOUNDS}.steps"),
    _env(NeverOver, "contract.a_solved_task_is_over"),
    _env(SharedFork, "contract.forks_are_independent"),
    _said("UnlistedKind", "runtime.task_declaration_accuracy.kinds", kinds=lambda _: ("put",)),
    _said(
        "UnlistedRoom",
        "runtime.task_declaration_accuracy.rooms",
        rooms=lambda _: {"hall": ["hall"]},
    ),
    _said("NoSummary", "card.summary", summary="toy"),
    _said("DarkSettings", "card.settings", settings=_DarkSettings),
    _said("GoalWithControls", "card.goals", sample=_tasks(_changed(goal="\x1b[2JPut it\nin."))),
    _said(
        "OneTask",
        "card.tasks_differ",
        sample=_tasks(lambda t, i: next(sample(1, 0)).model_copy(update={"id": t.id})),
    ),
)


def failed(fault: Fault, only: Sequence[str]) -> list[str]:
    settings = fault.registration.settings()
    tasks = list(fault.registration.sample(6, 0, settings))
    with Subject("toy", fault.registration, "grid", settings, tasks, fast=True) as subject:
        return [one.name for one in validate(subject, chosen(only)).failed]


@pytest.mark.parametrize("fault", FAULTS[::12], ids=lambda fault: fault.name)
def test_a_fault_fails_its_check(fault: Fault) -> None:
    assert failed(fault, [fault.check])[:1] == [fault.check]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_each_fault_is_named(fault: Fault) -> None:
    assert fault.check in failed(fault, [fault.only] if fault.only else [])


@pytest.mark.slow
def test_another_process_tells_the_order_of_a_set() -> None:
    with Subject.open(f"{__file__}:SET_ORDER", n=4) as subject:
        found = validate(subject, chosen(["runtime.episode_determinism", "contract"])).failed
    assert [one.name for one in found] == ["runtime.episode_determinism"]


LISTED = """
from dataclasses import replace
from pydantic import field_validator
from inhabit.envs.settings import SettingsModel
from inhabit.envs.toy import REGISTRATION as TOY
from inhabit.envs.toy.env import Toy


class Settings(SettingsModel):
    names: tuple[str, ...] = ("a",)

    @field_validator("names", mode="before")
    @classmethod
    def _from_text(cls, given):
        assert given == "b,c", given
        return tuple(given.split(","))


REGISTRATION = replace(
    TOY,
    settings=Settings,
    make=lambda backend, settings: Toy(),
    sample=lambda n, seed, settings: TOY.sample(n, seed),
)
"""


def test_another_process_has_the_settings_as_they_were_typed(tmp_path: Path) -> None:
    file = tmp_path / "listed.py"
    file.write_text(LISTED)
    with Subject.open(f"{file}:REGISTRATION", n=2, assignments=["names=b,c"]) as subject:
        (found,) = validate(subject, chosen(["runtime.episode_determinism"])).findings
    assert found.verdict is CheckVerdict.OK, found.evidence


KEYDOOR = Path(__file__).parents[2] / "examples" / "keydoor" / "keydoor.py"


def test_a_file_without_the_name_of_an_environment_is_told_as_such() -> None:
    with pytest.raises(UnknownNameError, match=r"Name its registration: mine\.py:NAME\."):
        Subject.open("mine.py")


def test_an_environment_in_a_file_of_its_own_keeps_the_contract() -> None:
    with Subject.open(f"{KEYDOOR}:REGISTRATION", n=2, fast=True) as subject:
        report = validate(subject, chosen(["contract"]))
    assert not report.failed and report.counts[CheckVerdict.OK] >= 15


def test_what_an_environment_raises_is_told_in_a_line_that_names_its_own(tmp_path: Path) -> None:
    file = tmp_path / "bare.py"
    file.write_text(KEYDOOR.read_text().replace("#78461e", "brownish"))
    with Subject.open(f"{file}:REGISTRATION", n=2, fast=True) as subject:
        (found,) = validate(subject, chosen(["pictures.black"])).failed
    told = "The environment raised ValueError: unknown color specifier: 'brownish' (ImageColor.py"
    assert found.evidence.startswith(told)


@pytest.mark.slow
@pytest.mark.parametrize("env", ["toy", f"{KEYDOOR}:REGISTRATION", "gymnasium:CartPole-v1"])
def test_a_sound_environment_raises_no_alarm(env: str) -> None:
    with Subject.open(env) as subject:
        report = validate(subject)
    assert [(one.name, one.evidence) for one in report.failed] == []
    assert report.counts[CheckVerdict.OK] >= 36


def test_a_check_is_seen_by_a_command_with_the_same_environment() -> None:
    def seen(target: str, check: str, **given: Any) -> str:
        with Subject.open(target, n=2, **given) as subject:
            (found,) = validate(subject, chosen([check])).findings
        return found.see

    pinned, black = "static.task_distribution_pinning", "pictures.black"
    assert seen("toy", pinned).startswith("inhabit tasks toy --n")
    assert seen("gymnasium:CartPole-v1", pinned) == (
        f"inhabit validate gymnasium:CartPole-v1 --only {pinned}"
    )
    told = seen("toy", black, assignments=["pixels=48"])
    assert "inhabit run toy --set pixels=48 --agent random" in told


def test_an_action_number_may_have_spaces_around_it() -> None:
    with Subject.open("gymnasium:CartPole-v1", n=1) as subject:
        subject.env.reset(subject.tasks[0], seed=0)
        assert subject.env.act(Action(" action 1 ", "action", ("1",))).reason is None


def test_a_report_tells_no_token_of_an_address() -> None:
    found = registry.find("toy")
    settings = found.settings()
    address = "http://me:key@127.0.0.1:8000/mD0jQ0X7m2sYxD3cG3m0Qw"
    with Subject(address, found, "grid", settings, list(found.sample(2, 0, settings))) as subject:
        report = validate(subject, chosen(["card.summary"])).model_dump_json()
    assert "http://127.0.0.1:8000/..." in report
    assert "key" not in report and "mD0j" not in report


def test_every_check_can_be_told_apart_and_seen() -> None:
    names = [check.name for check in CHECKS]
    assert len(names) == len(set(names)) and len(names) - 23 >= 36
    for check in CHECKS:
        assert (check.at_most is None) != (check.at_least is None), check.name
        assert check.what and check.why and check.see, check.name


def test_with_json_each_check_is_told_as_soon_as_it_is_there(capsys: Any) -> None:
    with pytest.raises(SystemExit):
        main(["validate", "toy", "--fast", "--only", "card.summary", "--json"])
    told = capsys.readouterr()
    assert "card.summary" in told.err and json.loads(told.out)["findings"]


def call(capsys: Any, *words: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as left:
        main(["validate", *words])
    return int(left.value.code or 0), capsys.readouterr().out


def test_the_command_reports_in_json_and_on_a_page(tmp_path: Path, capsys: Any) -> None:
    page = tmp_path / "toy.html"
    wanted = "static,runtime.oracle_containment,card"
    code, out = call(capsys, "toy", "--fast", "--only", wanted, "--page", str(page), "--json")
    report = json.loads(out)
    assert code == 0
    assert {one["verdict"] for one in report["findings"]} == {"ok"}
    assert all(one["why"] and one["bound"] and one["see"] for one in report["findings"])
    assert "static.task_distribution_pinning" in page.read_text()


def test_tasks_may_be_given(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "tasks.jsonl"
    file.write_text("".join(task.model_dump_json() + "\n" for task in sample(3, 5)))
    words = ("--tasks", str(file), "--only", "static,runtime.episode_determinism", "--json")
    code, out = call(capsys, "toy", *words)
    found = {one["name"]: one["verdict"] for one in json.loads(out)["findings"]}
    assert code == 0 and found["static.task_distribution_pinning"] != "ok"
    assert found["runtime.episode_determinism"] == "ok"


def test_an_environment_that_can_not_be_closed_leaves_the_report(
    tmp_path: Path, capsys: Any
) -> None:
    file = tmp_path / "unclosed.py"
    file.write_text(
        "from dataclasses import replace\n"
        "from inhabit.envs.toy import REGISTRATION as TOY\n"
        "from inhabit.envs.toy.env import Toy\n\n\n"
        "class Unclosed(Toy):\n"
        "    def close(self):\n"
        "        raise RuntimeError('It stays open.')\n\n\n"
        "REGISTRATION = replace(TOY, make=lambda backend, settings: Unclosed(settings))\n"
    )
    words = ["validate", f"{file}:REGISTRATION", "--fast", "--only", "semantic.dead_ends", "--json"]
    with pytest.warns(UserWarning, match="It stays open"), pytest.raises(SystemExit) as left:
        main(words)
    assert left.value.code == 0
    assert json.loads(capsys.readouterr().out)["findings"][0]["verdict"] == "ok"


def test_a_fault_is_the_exit_code_and_an_unknown_check_is_named(capsys: Any) -> None:
    code, out = call(
        capsys, f"{__file__}:SET_ORDER", "--fast", "--set", "pixels=16", "--only", "pictures.size"
    )
    assert code == 1 and "failed" in out and "16 (at least 32)" in out
    assert call(capsys, "toy", "--only", "pictures.siz")[0] == 2
