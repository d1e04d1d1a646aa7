"""How the planner and its model join: the entry points in `pyproject.toml` name both."""

from __future__ import annotations

from inhabit.agents.alfred_specialist.settings import PlannerSettings, RankerSettings
from inhabit.agents.core import Agent
from inhabit.agents.models.core import Ability, Model
from inhabit.agents.models.local.registration import WITHOUT, let_idle_threads_sleep
from inhabit.agents.models.registry import ModelRegistration, require
from inhabit.agents.registry import AgentRegistration
from inhabit.envs.extras import imports
from inhabit.envs.files import expanded

KIND, BUNDLED = "alfred_specialist", "bundled"


def _make(settings: PlannerSettings, model: Model | None) -> Agent:
    chooser = require(model, "planner", Ability.BEAM if settings.width else Ability.RANK)
    with imports("Planners", "local", WITHOUT):  # Here: agents are listed without torch.
        from inhabit.agents.alfred_specialist.planner import Planner
        from inhabit.agents.alfred_specialist.ranker.model import Ranker
        from inhabit.agents.alfred_specialist.reading.reader import load_reader
    eyes = chooser.eyes if isinstance(chooser, Ranker) else None
    return Planner(chooser, eyes, settings, load_reader())


def _load(name: str, settings: RankerSettings) -> Model:
    let_idle_threads_sleep()
    with imports("Planners", "local", WITHOUT):
        from inhabit.agents.alfred_specialist.ranker.model import load
    folder = None if name == BUNDLED else expanded(name)
    return load(folder, f"{KIND}:{name}", threads=settings.threads)


PLANNER = AgentRegistration(
    name="planner",
    summary="reads goals and follows skills, with a small detector and ranker of this package",
    settings=PlannerSettings,
    make=_make,
    model=f"{KIND}:{BUNDLED}",
    earlier_models={"local:inhabit": f"{KIND}:{BUNDLED}"},
    wants={"clips": "true"},
)
MODEL = ModelRegistration(
    kind=KIND,
    summary="the model of --agent planner: bundled, or a folder of scripts/train_planner",
    settings=RankerSettings,
    load=_load,
    is_place=lambda name: name != BUNDLED,
)
