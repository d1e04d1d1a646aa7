"""Environments and agents of strangers, each with one mistake, installed for a run."""

from __future__ import annotations

ENV = '''
import dataclasses, os
import numpy as np
from pydantic import BaseModel, ConfigDict
from inhabit.envs.core import Env, Observation, Outcome, Reason
from inhabit.envs.registry import Registration
from inhabit.envs.toy import REGISTRATION as TOY
from inhabit.envs.toy.env import Toy


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    fault: str = ""


def with_picture(rgb):
    return lambda env: Observation("", rgb)


def grown(env):
    side = 8 if env.acted else 4
    return Observation("", np.zeros((side, side, 3), np.uint8))


PICTURES = {
    "empty": np.zeros((0, 0, 3), np.uint8),
    "nan": np.full((4, 4, 3), np.nan),
    "float": np.zeros((4, 4, 3), np.float32),
    "bool": np.zeros((4, 4, 3), bool),
    "int64": np.zeros((4, 4, 3), np.int64),
    "one_channel": np.zeros((4, 4, 1), np.uint8),
    "grey": np.zeros((4, 4), np.uint8),
    "rgba": np.zeros((4, 4, 4), np.uint8),
    "list": [[[0, 0, 0]]],
}
OBSERVE = {name: with_picture(rgb) for name, rgb in PICTURES.items()} | {
    "grown": grown,
    "no_observation": lambda env: None,
    "no_text": lambda env: Observation(None),
    "no_clips": lambda env: Observation("", clips=None),
    "raises": lambda env: 1 / 0,
}
FINE = Outcome(None, "Done.", 0, 1, False)
OUTCOMES = {
    "no_outcome": None,
    "no_feedback": dataclasses.replace(FINE, feedback=None),
    "reason_is_text": dataclasses.replace(FINE, reason="blocked"),
    "reason_is_array": dataclasses.replace(FINE, reason=np.zeros(3)),
    "met_is_nan": dataclasses.replace(FINE, met=float("nan")),
    "met_is_negative": dataclasses.replace(FINE, met=-1),
    "met_is_more": dataclasses.replace(FINE, met=2),
    "no_total": dataclasses.replace(FINE, total=0),
    "cost_is_negative": dataclasses.replace(FINE, cost=-1),
    "cost_is_endless": dataclasses.replace(FINE, cost=10**30),
    "over_is_text": dataclasses.replace(FINE, over="no"),
}
PROGRESS = {"progress_is_nan": (float("nan"), 1), "progress_is_none": None}
ACTIONS = {"no_actions": None, "actions_are_texts": ["go"]}


class Stranger(Toy):
    def __init__(self, fault):
        super().__init__()
        # The last episode of a run is always played without a fault.
        self.fault, self.now, self.acted = fault, "", False

    def reset(self, task, *, seed):
        self.now = "" if task.id.endswith("-1") else self.fault
        self.acted = False
        super().reset(task, seed=seed)
        if self.now == "wanders":
            os.chdir("/")
        if self.now == "no_scene_here":
            raise KeyError("no scene")

    def observe(self):
        return OBSERVE[self.now](self) if self.now in OBSERVE else super().observe()

    def act(self, action):
        self.acted = True
        return OUTCOMES[self.now] if self.now in OUTCOMES else super().act(action)

    def progress(self):
        return PROGRESS.get(self.now, None) if self.now in PROGRESS else super().progress()

    def actions(self):
        return ACTIONS[self.now] if self.now in ACTIONS else super().actions()


class Simple(Env):
    """The same, that can do nothing beyond the bare contract."""
    determinism = Toy.determinism
    def __init__(self):
        self.toy = Toy()
    def reset(self, task, *, seed): self.toy.reset(task, seed=seed)
    def observe(self): return self.toy.observe()
    def vocabulary(self): return self.toy.vocabulary()
    def actions(self): return self.toy.actions()
    def parse(self, text): return self.toy.parse(text)
    def act(self, action): return self.toy.act(action)
    def progress(self): return self.toy.progress()
    def close(self): pass


class NoScene(Simple):
    pass


class PlanAlone(Simple):
    Scene = Toy.Scene
    def plan(self): return self.toy.plan()


def make(backend, settings):
    kinds = {"no_scene": NoScene, "plan_alone": PlanAlone}
    kind = kinds.get(settings.fault)
    return kind() if kind else Stranger(settings.fault)


def sample(n, seed, settings):
    tasks = TOY.sample(n, seed, TOY.settings())
    return [task.model_copy(update={"env": "stranger"}) for task in tasks]


REGISTRATION = Registration(
    name="stranger",
    summary="makes one mistake",
    backends=("only",),
    settings=Settings,
    make=make,
    sample=sample,
    read=lambda source, settings: [],
)
'''

AGENT = """
import os
import numpy as np
from pydantic import BaseModel, ConfigDict
from inhabit.agents.core import Agent, Decision, Ranked
from inhabit.agents.registry import AgentRegistration
from inhabit.envs.core import Action


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    fault: str = ""


FAULTS = {
    "returns_none": lambda: None,
    "returns_text": lambda: "go to the hall",
    "action_is_text": lambda: Decision("go to the hall"),
    "raw_is_none": lambda: Decision(None, raw=None),
    "stop_is_text": lambda: Decision(None, stop="yes"),
    "ranked_is_list": lambda: Decision(None, ranked=["a"]),
    "ranked_is_nan": lambda: Decision(None, ranked=(Ranked("a", float("nan"), 1),)),
    "bad_image": lambda: Decision(None, images={"../x": np.zeros((1, 1, 3), np.uint8)}),
    "raises": lambda: 1 / 0,
}


class Stranger(Agent):
    def __init__(self, fault):
        self.fault = fault

    async def decide(self, view):
        if self.fault == "wanders":
            os.chdir("/")
        elif self.fault == "parses_none":
            await view.parse(None)
        elif self.fault in FAULTS and "fridge" in view.goal:
            return FAULTS[self.fault]()
        return Decision(view.candidates[0])


REGISTRATION = AgentRegistration(
    name="stranger",
    summary="makes one mistake",
    settings=Settings,
    make=lambda settings, model: 7 if settings.fault == "no_agent" else Stranger(settings.fault),
)
"""
