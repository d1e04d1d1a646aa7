"""A correct small environment, and others like it that each make one mistake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from inhabit.envs.core import Action, Determinism, Env, Observation, Outcome, SceneError, Task
from inhabit.envs.plain_data import validated_scene
from inhabit.envs.toy.env import Toy
from inhabit.envs.toy.house import ToyScene, vocabulary

GO = Action("go to the kitchen", "go", ("kitchen",))


class Correct(Toy):
    def pursue(self, task: Task) -> None:
        self._goal = validated_scene(ToyScene, task).goal()


class FloatPicture(Toy):
    def observe(self) -> Observation:
        seen = super().observe()
        return replace(seen, rgb=seen.rgb.astype(np.float32) / 255)


class Rgba(Toy):
    def observe(self) -> Observation:
        seen = super().observe()
        return replace(seen, rgb=np.dstack([seen.rgb, seen.rgb[:, :, :1]]))


class EmptyPicture(Toy):
    def observe(self) -> Observation:
        return Observation("", np.zeros((0, 0, 3), np.uint8))


class GrowingPicture(Toy):
    side = 30

    def reset(self, task: Task, *, seed: int) -> None:
        self.side = 30
        super().reset(task, seed=seed)

    def act(self, action: Action) -> Outcome:
        self.side += 1
        return super().act(action)

    def observe(self) -> Observation:
        return replace(super().observe(), rgb=np.zeros((self.side, self.side, 3), np.uint8))


class NoText(Toy):
    def observe(self) -> Observation:
        return replace(super().observe(), text=None)  # type: ignore[arg-type]


class SharedPicture(Toy):
    """One buffer for every observation."""

    def observe(self) -> Observation:
        seen = super().observe()
        if not hasattr(self, "buffer"):
            self.buffer = seen.rgb
        self.buffer[:] = seen.rgb
        return replace(seen, rgb=self.buffer)


class FlickeringPicture(Toy):
    count = 0

    def observe(self) -> Observation:
        seen = super().observe()
        self.count += 1
        seen.rgb[0, 0] = self.count % 250
        return seen


class TextReason(Toy):
    def act(self, action: Action) -> Outcome:
        outcome = super().act(action)
        reason = outcome.reason and outcome.reason.value
        return replace(outcome, reason=reason and str(reason))  # type: ignore[arg-type]


class NoFeedback(Toy):
    def act(self, action: Action) -> Outcome:
        return replace(super().act(action), feedback="")


class FeedbackIsNone(Toy):
    def act(self, action: Action) -> Outcome:
        return replace(super().act(action), feedback=None)  # type: ignore[arg-type]


class NegativeCost(Toy):
    def act(self, action: Action) -> Outcome:
        return replace(super().act(action), cost=-1)


class MoreThanAll(Toy):
    def act(self, action: Action) -> Outcome:
        outcome = super().act(action)
        return replace(outcome, met=outcome.total + 1)


class OtherProgress(Toy):
    def progress(self) -> tuple[int, int]:
        return 0, super().progress()[1] + 1

    def act(self, action: Action) -> Outcome:
        return replace(super().act(action), met=0, total=1, over=False)


class NeverOver(Toy):
    def act(self, action: Action) -> Outcome:
        return replace(super().act(action), over=False)


class NanProgress(Toy):
    def progress(self) -> tuple[int, int]:
        return float("nan"), 1  # type: ignore[return-value]


class LeakingReset(Toy):
    """What was seen in an earlier episode is still known."""

    def reset(self, task: Task, *, seed: int) -> None:
        seen = self._seen
        super().reset(task, seed=seed)
        self._seen |= seen


class LeakingCounter(Toy):
    """The hundredth action of its life is refused in another way."""

    acts = 0

    def act(self, action: Action) -> Outcome:
        self.acts += 1
        return replace(super().act(action), feedback=f"Action {self.acts}.")


class WrongBest(Toy):
    def best_actions(self) -> frozenset[Action]:
        return frozenset(vocabulary()[:3])


class BestIsEmpty(Toy):
    def best_actions(self) -> frozenset[Action]:
        return frozenset()


class BestWastes(Toy):
    """An action that works, but leads nowhere, is called best too."""

    def best_actions(self) -> frozenset[Action]:
        return super().best_actions() | frozenset(self.admissible())


class WrongPlan(Toy):
    def plan(self) -> Sequence[Action]:
        return [*super().plan()][::-1]


class NoScene(Toy):
    Scene = None  # type: ignore[assignment]


class NoDeterminism(Toy):
    determinism = "frames"  # type: ignore[assignment]


class EqualDigests(Toy):
    def digest(self) -> str:
        return "0" * 16


class UnequalDigests(Toy):
    count = 0

    def digest(self) -> str:
        self.count += 1
        return f"{self.count:016x}"


class ChangingVocabulary(Toy):
    def vocabulary(self) -> Sequence[Action]:
        words = list(super().vocabulary())
        return words if self._house.room == "hall" else words[:-1]


class ReorderedVocabulary(Toy):
    count = 0

    def vocabulary(self) -> Sequence[Action]:
        self.count += 1
        return list(super().vocabulary())[:: -1 if self.count % 2 else 1]


class DoubledVocabulary(Toy):
    def vocabulary(self) -> Sequence[Action]:
        return [*super().vocabulary(), GO]


class ParsesOther(Toy):
    """Everything about the fridge is understood as opening it."""

    def parse(self, text: str) -> Action | None:
        return super().parse("open the fridge" if "fridge" in text else text)


class ParseRaises(Toy):
    def parse(self, text: str) -> Action | None:
        if not text.strip():
            raise IndexError("no words")
        return super().parse(text)


class UnknownRaises(Toy):
    def act(self, action: Action) -> Outcome:
        if action not in vocabulary():
            raise KeyError(action.text)
        return super().act(action)


class UnknownWorks(Toy):
    def act(self, action: Action) -> Outcome:
        if action not in vocabulary():
            return Outcome(None, "Done.", *self.progress(), over=False)
        return super().act(action)


class LookingActs(Toy):
    def actions(self) -> Sequence[Action]:
        self._seen |= {"apple", "ball", "book", "cup"}
        return super().actions()


class AcceptsAnyScene(Toy):
    def reset(self, task: Task, *, seed: int) -> None:
        known = {k: v for k, v in task.scene.items() if k in self.Scene.model_fields}
        super().reset(task.model_copy(update={"scene": known}), seed=seed)


class OtherSceneError(Toy):
    def reset(self, task: Task, *, seed: int) -> None:
        try:
            super().reset(task, seed=seed)
        except SceneError as error:
            raise RuntimeError("the scene is wrong") from error


class SharedFork(Toy):
    def fork(self) -> Toy:
        return self


class PursueStartsAfresh(Toy):
    def pursue(self, task: Task) -> None:
        self.reset(task, seed=0)


class WrongAdmissible(Toy):
    def admissible(self) -> Sequence[Action]:
        return vocabulary()


class AdmissibleForgetsTheHand(Toy):
    def admissible(self) -> Sequence[Action]:
        more = [a for a in vocabulary() if a.text.startswith("pick up")]
        return [*super().admissible(), *(more if self._house.held() else ())]


class StateIsNotJson(Toy):
    def state(self) -> Mapping[str, Any]:
        return {**super().state(), "open": {1, 2}}

    def digest(self) -> str:
        return str(hash(self._house))


class CloseTwiceRaises(Toy):
    closed = False

    def close(self) -> None:
        if self.closed:
            raise RuntimeError("closed already")
        self.closed = True


class UnseededReset(Toy):
    made = 0

    def reset(self, task: Task, *, seed: int) -> None:
        super().reset(task, seed=seed)
        type(self).made += 1
        self.day = self.made

    def observe(self) -> Observation:
        return replace(super().observe(), text=f"It is day {self.day}.")


class Bare(Env):
    """Correct, and nothing beyond what every environment has to do."""

    Scene = Toy.Scene
    determinism = Determinism.FRAMES

    def __init__(self) -> None:
        self.toy = Toy()

    def reset(self, task: Task, *, seed: int) -> None:
        self.toy.reset(task, seed=seed)

    def observe(self) -> Observation:
        return self.toy.observe()

    def vocabulary(self) -> Sequence[Action]:
        return self.toy.vocabulary()

    def actions(self) -> Sequence[Action]:
        return self.toy.actions()

    def parse(self, text: str) -> Action | None:
        return self.toy.parse(text)

    def act(self, action: Action) -> Outcome:
        return self.toy.act(action)

    def progress(self) -> tuple[int, int]:
        return self.toy.progress()

    def close(self) -> None:
        self.toy.close()


class HalfAnExpert(Bare):
    """Has a plan and no best actions."""

    def plan(self) -> Sequence[Action]:
        return self.toy.plan()


class ToolThatFails(Toy):
    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        raise ValueError("not written yet")


class SharedCounter(Toy):
    """Counts its actions in the class, so that two environments share one number."""

    acted = 0

    def reset(self, task: Task, *, seed: int) -> None:
        SharedCounter.acted = 0
        super().reset(task, seed=seed)

    def act(self, action: Action) -> Outcome:
        SharedCounter.acted += 1
        return super().act(action)

    def observe(self) -> Observation:
        return replace(super().observe(), text=f"You have acted {self.acted} times.")


MISTAKES: Mapping[type[Env], str] = {
    FloatPicture: "Observation.rgb is float32",
    Rgba: "Observation.rgb is uint8 (96, 96, 4); expected uint8 (H, W, 3)",
    EmptyPicture: "Observation.rgb is uint8 (0, 0, 3)",
    GrowingPicture: "The image's size",
    NoText: "Observation.text is None; expected a text",
    SharedPicture: "An earlier Observation.rgb changed",
    FlickeringPicture: "Two images differ",
    TextReason: "expected Reason.",
    NoFeedback: "Outcome.feedback is empty",
    FeedbackIsNone: "Outcome.feedback is None; expected a sentence",
    NegativeCost: "Outcome.cost is -1",
    MoreThanAll: "expected whole numbers with 0 <= met <= total",
    OtherProgress: "Outcome and progress()",
    NeverOver: "Outcome.over is False; expected True when the task is solved",
    NanProgress: "(nan, 1); expected whole numbers",
    SharedCounter: "of one environment, before and after",
    LeakingReset: "at the start of a used and of a new environment",
    LeakingCounter: "The outcomes of the same actions in a used and a new environment",
    WrongBest: "best_actions() holds 'go to the",
    BestIsEmpty: "best_actions() is empty",
    BestWastes: "expected fewer",
    WrongPlan: "which failed in its turn",
    NoScene: "NoScene.Scene is None",
    NoDeterminism: "NoDeterminism.determinism is 'frames'",
    EqualDigests: "expected different digests for different states",
    UnequalDigests: "digest(), asked twice in a row, differ",
    ChangingVocabulary: "vocabulary(), before and after",
    ReorderedVocabulary: "vocabulary(), asked twice in a row, differ",
    DoubledVocabulary: "vocabulary() repeats ['go to the kitchen']",
    ParsesOther: "expected the action of that text",
    ParseRaises: "parse('') raised IndexError",
    UnknownRaises: "act() of an unknown action raised KeyError",
    UnknownWorks: "Outcome.reason of an unknown action differ",
    LookingActs: "digest(), before and after looking, differ",
    AcceptsAnyScene: "reset() accepted a scene with an unknown field",
    OtherSceneError: "reset() of a wrong scene raised RuntimeError",
    SharedFork: "digest(), before and after acting in a fork, differ",
    PursueStartsAfresh: "before and after pursue() of the same task, differ",
    WrongAdmissible: "admissible() holds",
    AdmissibleForgetsTheHand: "admissible() holds 'pick up the",
    StateIsNotJson: "state() is not JSON",
    CloseTwiceRaises: "close() raised RuntimeError",
    UnseededReset: "Observation.text, at the start of the same episode, differ",
    ToolThatFails: "The tool 'object_detection' requires no arguments, and raises ValueError",
    HalfAnExpert: "HalfAnExpert has plan() and no best_actions()",
}
"""Environment -> what the sentence has to say that names its mistake."""
