"""Real Minecraft through the `minedojo` package, in an interpreter of its own."""

from __future__ import annotations

import base64
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import BaseModel, JsonValue

from inhabit.envs.cache import cache_home
from inhabit.envs.core import (
    Action,
    Determinism,
    Env,
    Observation,
    Outcome,
    Reason,
    SceneError,
    SimulatorError,
    Task,
    UnavailableError,
)
from inhabit.envs.extras import make_interpreter
from inhabit.envs.files import expanded
from inhabit.envs.host.pipes import JsonProgram
from inhabit.envs.minedojo.interface.actions import FUNCTIONS, crafts, nothing, sizes
from inhabit.envs.minedojo.tasks.language import names
from inhabit.envs.minedojo.tasks.scene import MineDojoScene, read_scene
from inhabit.envs.minedojo.world.game_state import in_words, read
from inhabit.envs.minedojo.world.settings import MineDojoSettings
from inhabit.envs.registry import Need

_MINEDOJO = "minedojo==0.1"
_STEPS = (
    ("setuptools<66", "wheel<0.40", "pip<24.1"),
    ("--no-build-isolation", "--no-deps", "gym==0.21.0"),
    ("--no-deps", _MINEDOJO),
    ("numpy<2", "pyyaml", "jinja2", "lxml", "coloredlogs", "xmltodict", "psutil",
     "opencv-python-headless", "multiprocess", "tqdm", "requests", "importlib_resources",
     "hydra-core", "Pillow", "jsonlines", "cloudpickle", "daemoniker", "Pyro4",
     "mypy-extensions"),
)  # fmt: skip
"""pip's arguments in order; MineDojo's own requirements cannot be installed (metadata of gym
0.21)."""


def interpreter() -> Path:
    """The Python that setup creates."""
    return cache_home() / "minedojo" / "real" / "bin" / "python"


def needs() -> Sequence[Need]:
    """What MineDojo's own Minecraft lacks on this machine."""
    found = []
    if not interpreter().is_file():
        fix = "inhabit setup minedojo --backend minedojo, or --set python=PATH"
        found.append(Need("an interpreter with MineDojo", fix))
    if shutil.which("java") is None:
        found.append(Need("Java 8, for its Minecraft", "apt-get install openjdk-8-jdk"))
    return found


def prepare(tell: Callable[[str], None]) -> None:
    """Create the interpreter. Safe to run twice.

    Raises:
        UnavailableError: pip failed; names the package.
    """
    python, home = str(interpreter()), interpreter().parent.parent
    if not (interpreter().is_file() and _imports(python)):
        tell(f"Installing MineDojo and its dependencies into an interpreter in {home}.")
        make_interpreter(home, *_STEPS)
    if not _imports(python):
        raise UnavailableError(f"MineDojo was installed in {home} but can't be imported there.")
    tell(f"{_MINEDOJO}: {python}. Its Minecraft needs Java 8 and is built at its first start.")


def _imports(python: str) -> bool:
    return subprocess.run([python, "-c", "import minedojo"], capture_output=True).returncode == 0


_HOST = Path(__file__).parent / "host.py"


class MineDojoError(Exception):
    """MineDojo answered with an error; has its message."""


class HostConnection(JsonProgram):
    """MineDojo in a process group that ends with us.

    Args:
        python: an interpreter that can import `minedojo`; None for the one that `inhabit setup
            minedojo --backend minedojo` makes.

    Raises:
        UnavailableError: there is no such interpreter, or it can't be started.
    """

    def __init__(self, python: str | None) -> None:
        chosen = expanded(python) if python else interpreter()
        if not chosen.is_file():
            raise UnavailableError(
                f"Found no interpreter with MineDojo at {chosen}. Run `inhabit setup minedojo "
                "--backend minedojo`, or pass --set python=PATH."
            )
        try:
            super().__init__("MineDojo", [str(chosen.absolute()), "-u", str(_HOST)])
        except OSError as error:
            raise UnavailableError(
                f"Can't start the interpreter {chosen}: {error.strerror or error}. Pass a Python "
                "that can import minedojo: --set python=PATH."
            ) from error

    def call(self, name: str, seconds: float, **arguments: Any) -> Any:
        """One call.

        Raises:
            MineDojoError: MineDojo raised an error.
            SimulatorError: the program ended, or did not answer in time.
        """
        answer = self.ask({"call": name, **arguments}, seconds)
        if "error" in answer:
            raise MineDojoError(str(answer["error"]))
        return answer["value"]


_ANSWER, _MAKING = 120.0, 120.0
"""Seconds for a step, and for creating a task."""
_MOVES: Mapping[str, tuple[int, int, int]] = {
    # place in the vector, value there, ticks
    "walk forward": (0, 1, 10),
    "walk back": (0, 2, 10),
    "walk left": (1, 1, 10),
    "walk right": (1, 2, 10),
    "jump": (2, 1, 5),
    "look up": (3, -2, 1),
    "look down": (3, 2, 1),
    "turn left": (4, -3, 1),
    "turn right": (4, 3, 1),
    "use": (5, 1, 1),
    "drop": (5, 2, 1),
    "attack": (5, 3, 20),
    "wait": (0, 0, 20),
}
"""Camera turns, in steps of 15 degrees."""
_WITH_SLOT = ("equip", "place", "destroy")
_ITS_OWN = {"task", "image_size", "cam_interval", "event_level_control", "generate_world_type"}
"""Scene fields that MineDojo's task classes do not take."""


class RealMineDojo(Env):
    """One task in MineDojo's Minecraft."""

    Scene: ClassVar[type[BaseModel]] = MineDojoScene
    determinism = Determinism.NONE

    def __init__(self, settings: MineDojoSettings) -> None:
        self._settings = settings
        self._line: HostConnection | None = None
        self._now: Mapping[str, Any] | None = None
        self._solved = False

    def reset(self, task: Task, *, seed: int) -> None:
        """Start `task`: by MineDojo's own id, or by its class and the fields of the scene.

        Raises:
            SceneError: the scene is wrong, or MineDojo refuses it.
            SimulatorError: Minecraft did not start.
            UnavailableError: there is no interpreter with MineDojo, or no Java.
        """
        scene = read_scene(task)
        if shutil.which("java") is None:
            raise UnavailableError(
                "MineDojo's Minecraft needs Java 8. Run `apt-get install openjdk-8-jdk`; "
                "`java -version` should print 1.8."
            )
        self.close()
        self._line, self._solved = HostConnection(self._settings.python), False
        size = scene.image_size or (self._settings.height, self._settings.width)
        fields = scene.model_dump(mode="json", exclude_unset=True, exclude=_ITS_OWN)
        if scene.target_names:
            fields["target_quantities"] = dict(scene.quantities)
        try:
            made = self._line.call(
                "make", _MAKING, task_id=task.id, kind=scene.task, fields=fields,
                image_size=list(size), seed=seed,
            )  # fmt: skip
        except MineDojoError as error:
            raise SceneError(f"Task {task.id!r}: MineDojo rejects the scene: {error}") from error
        if tuple(made["sizes"]) != sizes():
            raise SimulatorError(f"This MineDojo has an unexpected action space: {made['sizes']}.")
        try:
            self._now = self._line.call("reset", self._settings.launch)
        except MineDojoError as error:
            words = self._line.last_words()
            raise SimulatorError(f"Minecraft did not start: {error} {words}") from error

    def observe(self) -> Observation:
        """The image, uint8 (height, width, 3), and a text about health and inventory."""
        now = self._there()[1]
        flat = np.frombuffer(base64.b64decode(now["picture"]), np.uint8)
        return Observation(text=in_words(read(_game_state(now))), rgb=flat.reshape(now["shape"]))

    def vocabulary(self) -> Sequence[Action]:
        """Movement, and MineDojo's functions for every item."""
        return tuple(_vocabulary().values())

    def actions(self) -> Sequence[Action]:
        """Movement, craftable items according to the action masks, and functions for carried
        items.
        """
        now = self._there()[1]
        held = {name for name, _, quantity, *_ in now["inventory"] if quantity}
        makes = [_making(i) for i, can in enumerate(now["can_make"]) if can]
        using = [f"{verb} {name}" for verb in _WITH_SLOT for name in sorted(held)]
        known = _vocabulary()
        return [known[text] for text in (*_MOVES, *makes, *using) if text in known]

    def parse(self, text: str) -> Action | None:
        """Parse an action."""
        return _vocabulary().get(" ".join(text.strip().strip(".").lower().split()))

    def act(self, action: Action) -> Outcome:
        """Execute one action; the cost is in ticks."""
        line, before = self._there()
        meant = self.parse(action.text)
        if meant is None:
            return self._outcome(Reason.UNKNOWN_ACTION, "There is no such action.", 0)
        vector, ticks = list(nothing()), 1
        if meant.text in _MOVES:
            place, value, ticks = _MOVES[meant.text]
            vector[place] = vector[place] + value if place in (3, 4) else value
        elif meant.verb in _WITH_SLOT:
            slots = [i for i, one in enumerate(before["inventory"]) if one[0] == meant.arguments[0]]
            if not slots:
                return self._outcome(Reason.MISSING_ITEM, f"You have no {meant.arguments[0]}.", 0)
            vector[5], vector[7] = FUNCTIONS.index(meant.verb), slots[0]
        else:
            index = _made()[meant.text]
            if not before["can_make"][index]:
                said = f"You can't {meant.text} here with what you have."
                return self._outcome(Reason.MISSING_ITEM, said, 0)
            vector[5], vector[6] = FUNCTIONS.index("craft"), index
        try:
            self._now = line.call("step", _ANSWER, vector=vector, times=ticks)
        except MineDojoError as error:
            raise SimulatorError(f"MineDojo failed at {meant.text!r}: {error}") from error
        self._solved = bool(self._now["success"])
        dead = self._now["body"]["life"] <= 0
        said = "You died." if dead else f"Done: {meant.text}."
        return self._outcome(Reason.DIED if dead else None, said, int(self._now["ticks"]))

    def progress(self) -> tuple[int, int]:
        """Whether MineDojo reports success."""
        self._there()
        return int(self._solved), 1

    def close(self) -> None:
        """Stop Minecraft. Safe to call twice."""
        if self._line is not None:
            self._line.close()
        self._line = self._now = None

    def _outcome(self, reason: Reason | None, said: str, cost: int) -> Outcome:
        over = bool(self._there()[1].get("done"))
        return self.outcome(reason, said, cost=cost, over=over)

    def _there(self) -> tuple[HostConnection, Mapping[str, Any]]:
        if self._line is None or self._now is None:
            raise SimulatorError("No episode is running. Call reset first.")
        return self._line, self._now


@cache
def _vocabulary() -> Mapping[str, Action]:
    found = {text: Action(text, text) for text in _MOVES}
    for text in _made():
        verb, name = text.split(" ")
        found[text] = Action(text, verb, (name,))
    for verb in _WITH_SLOT:
        for name in names("item"):
            found[f"{verb} {name}"] = Action(f"{verb} {name}", verb, (name,))
    return found


@cache
def _made() -> Mapping[str, int]:
    """Craftable item -> its number."""
    return {_making(i): i for i in range(len(crafts()))}


def _making(index: int) -> str:
    name, station = crafts()[index]
    return f"{'smelt' if station == 'in_furnace' else 'craft'} {name}"


def _game_state(now: Mapping[str, Any]) -> Mapping[str, JsonValue]:
    """MineDojo's report in the form of our world's; it lacks the time of day."""
    keys = ("name", "variant", "quantity", "durability", "lasts")
    return {
        "inventory": [dict(zip(keys, one, strict=True)) for one in now["inventory"]],
        "equipment": [dict(zip(keys, one, strict=True)) for one in now["equipment"]],
        "life": now["body"]["life"],
        "food": now["body"]["food"],
        "dead": now["body"]["life"] <= 0,
        "table_near": now["table"],
        "furnace_near": now["furnace"],
    }
