"""ALFWorld's text game over the embedded household, with an image of the same state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from pydantic import BaseModel, JsonValue

from inhabit.envs.alfred.alfworld import AlfworldSettings, commands
from inhabit.envs.alfred.alfworld.moment import TREATMENTS, Game, GameMoment
from inhabit.envs.alfred.alfworld.rules import HOLDS, kind, numbered
from inhabit.envs.alfred.env import Alfred
from inhabit.envs.alfred.episode.state import EpisodeState
from inhabit.envs.alfred.scenes.scene import AlfredScene, read_scene
from inhabit.envs.alfred.skills.walking import arrive, vantage
from inhabit.envs.alfred.thor.body import STEP, AgentPose
from inhabit.envs.alfred.thor.objects import ThorObject
from inhabit.envs.alfred.world.things import Rooms
from inhabit.envs.core import (
    Action,
    Determinism,
    Env,
    Observation,
    Outcome,
    Reason,
    SceneError,
    SceneObject,
    Task,
)
from inhabit.envs.plain_data import state_digest
from inhabit.envs.simulators.household.types.things import THINGS

_INTRO = "-= Welcome to TextWorld, ALFRED! =-\n\n{}\n\nYour task is to: {}."
_NOTHING = "Nothing happens."


class Alfworld(Env):
    """ALFWorld's game: an observation is the text that it tells, and the image of that moment."""

    Scene: ClassVar[type[BaseModel]] = AlfredScene
    determinism = Determinism.FRAMES

    def __init__(
        self,
        backend: str = "embedded",
        settings: AlfworldSettings | None = None,
        *,
        house: Alfred | None = None,
    ) -> None:
        """An environment; its simulator starts with the first task.

        Args:
            backend: "embedded".
            settings: how it runs.
            house: the room of a copy, as forks have it.
        """
        self._settings = settings or AlfworldSettings()
        self._house = house or Alfred(backend, self._settings)
        self._game = Game({}, {}, "")
        self._said = ""
        self._planned: Sequence[Action] = ()

    def reset(self, task: Task, *, seed: int) -> None:
        """Start `task`; `seed` decides where the agent stands if the scene leaves it open.

        Raises:
            SceneError: the scene names something that does not exist or cannot be built, or asks
                for what the game does not have.
            SimulatorError: the simulator did not start, or died.
        """
        scene = read_scene(task, Rooms(self._settings.rooms, self._settings.cells).names)
        if scene.also or scene.disturbances or scene.goal.movable or scene.goal.sliced:
            raise SceneError(
                f"Task {task.id!r}, scene: the text game has one goal, without slices and movable "
                "receptacles, and no disturbances."
            )
        self._house.reset(task, seed=seed)
        episode = self._episode
        names = numbered(episode.world)
        spots = {
            name: vantage(episode, episode.world[id]) or _nearest(episode, episode.world[id])
            for name, id in names.items()
            if kind(name) in HOLDS
        }
        self._game = Game(names, spots, (episode.goal.toggle or "").lower())
        self._said = _INTRO.format(self._now.introduction(), task.goal.rstrip("."))
        self._planned = ()

    @property
    def _episode(self) -> EpisodeState:
        return Alfred._episode(self._house)

    @property
    def _now(self) -> GameMoment:
        return GameMoment(self._game, self._episode.world)

    def observe(self) -> Observation:
        """What the last command told (at first the introduction), and the image (H, W, 3)."""
        seen = self._house.observe()
        theirs, ids = self._episode.names.all(), self._names_by_id()
        ours = {name: ids.get(id, name) for id, name in theirs.items()}
        return replace(seen, text=self._said, names=tuple(ours.get(n, n) for n in seen.names))

    def _names_by_id(self) -> Mapping[str, str]:
        return {id: name for name, id in self._game.names.items()}

    def vocabulary(self) -> Sequence[Action]:
        """Every command of this kind of room."""
        rooms = Rooms(self._settings.rooms, self._settings.cells)
        return commands.vocabulary(rooms, rooms.kind(self._episode.body.room))

    def actions(self) -> Sequence[Action]:
        """The game's admissible commands, sorted. The room may refuse some of them."""
        return [self._meant(text) for text in self._now.commands()]

    def parse(self, text: str) -> Action | None:
        """The command that a text means."""
        return commands.understand(text)

    def _meant(self, text: str) -> Action:
        action = commands.understand(text)
        assert action is not None, text
        return action

    def act(self, action: Action) -> Outcome:
        """Carry out a command. "Nothing happens." if it is not admissible, or the room refuses."""
        meant, ahead = self.parse(action.text), self._planned
        self._episode.body.count_from_zero()
        reason, self._said = self._told(meant)
        self._planned = ahead[1:] if ahead and reason is None and meant == ahead[0] else ()
        cost = max(self._episode.body.steps, self._settings.least_cost)
        return self.outcome(reason, self._said, cost=cost)

    def _told(self, meant: Action | None) -> tuple[Reason | None, str]:
        if meant is None:
            return Reason.UNKNOWN_ACTION, _NOTHING
        if meant.verb == commands.THINK:
            return None, "OK."
        said = self._completed(meant)
        if said.text not in self._now.commands():
            return _why_not(said, self._now), _NOTHING
        before = self._house.fork()
        told = self._try(said)
        if told is None:
            self._house.close()
            self._house = before
            return Reason.BLOCKED, _NOTHING
        before.close()
        return None, told

    def _completed(self, action: Action) -> Action:
        """The command in full: with what is held for "it", and where a thing is taken from."""
        names = [self._now.held or one if one == "it" else one for one in action.arguments]
        if action.verb == "take" and len(names) == 1:
            names += [place for name, place in self._now.open_to if name == names[0]][:1]
        return commands.say(action.verb, *names)

    def _try(self, action: Action) -> str | None:
        """What a command tells once it is done; None if the room refuses it."""
        now, names = self._now, action.arguments
        match action.verb:
            case "look":
                return now.look()
            case "help":
                return commands.help_text()
            case "inventory":
                held = f": a {now.held}." if now.held else " anything."
                return f"You are {'' if now.held else 'not '}carrying{held}"
            case "examine":
                at = names[0] in self._game.spots
                return now.receptacle(names[0]) if at else now.described(names[0])
        verbs: Mapping[str, Callable[..., str | None]] = {
            "go to": self._go,
            "open": self._open,
            "close": self._close,
            "take": self._take,
            "move": self._move,
            "use": self._use,
            "slice": self._slice,
        }
        if action.verb in verbs:
            return verbs[action.verb](*names)
        return self._treat(action.verb, *names)

    def _put(self, place: str) -> bool:
        holder = self._now.thing(place)
        # As ALFRED's skill does: what is made for one thing takes it by its own rule.
        force = holder is not None and THINGS[holder.type].capacity is None
        return self._do("PutObject", place, forceAction=force, placeStationary=True)

    def _do(self, action: str, name: str, **arguments: Any) -> bool:
        thing = self._now.thing(name)
        return thing is not None and self._episode.do(
            action, thing, **{"forceAction": True, **arguments}
        )

    def _go(self, place: str) -> str | None:
        pose = self._game.spots[place]
        if not arrive(self._episode, pose):
            return None
        self._game = replace(self._game, at=pose)
        return f"You arrive at {place}. {self._now.receptacle(place)}"

    def _open(self, place: str) -> str | None:
        done = self._do("OpenObject", place)
        return f"You open the {place}. {self._now.receptacle(place)}" if done else None

    def _close(self, place: str) -> str | None:
        return f"You close the {place}." if self._do("CloseObject", place) else None

    def _take(self, name: str, place: str) -> str | None:
        done = self._do("PickupObject", name)
        return f"You pick up the {name} from the {place}." if done else None

    def _move(self, name: str, place: str) -> str | None:
        done = self._put(place)
        return f"You move the {name} to the {place}." if done else None

    def _use(self, lamp: str) -> str | None:
        thing = self._now.thing(lamp)
        if thing is None or not (thing.on or self._do("ToggleObjectOn", lamp)):
            return None
        self._game = self._game.marked(lamp, "on")
        return f"You turn on the {lamp}."

    def _slice(self, name: str, knife: str) -> str | None:
        whole = self._now.thing(name)
        if whole is None or not self._do("SliceObject", name):
            return None
        slices = sorted(one.id for one in self._episode.world if one.id.startswith(whole.id))
        names = {**self._game.names, name: slices[0] if slices else whole.id}
        self._game = replace(self._game, names=names).marked(name, "sliced")
        return f"You sliced the {name} with the {knife}."

    def _treat(self, verb: str, name: str, place: str) -> str | None:
        """Heat, cool or clean as a person does: in the machine or the basin, and out again."""
        shut = self._now.shut(place)
        done = (
            (not shut or self._do("OpenObject", place))
            and self._put(place)
            and self._run(verb, place)
            and self._do("PickupObject", name)
            and (not shut or self._do("CloseObject", place))
        )
        if not done:
            return None
        ends = {"heat": ("cool",), "cool": ("hot",)}.get(verb, ())
        self._game = self._game.marked(name, TREATMENTS[verb].state, *ends)
        return f"You {verb} the {name} using the {place}."

    def _run(self, verb: str, place: str) -> bool:
        """Let a machine or the water run on what is in it."""
        if verb == "clean":
            return self._rinse(place)
        inner = ["ToggleObjectOn", "ToggleObjectOff"] if verb == "heat" else []
        return all(self._do(one, place) for one in ["CloseObject", *inner, "OpenObject"])

    def _rinse(self, place: str) -> bool:
        """Let the nearest tap run, and turn it off."""
        episode, basin = self._episode, self._now.thing(place)
        taps = episode.world.of_type("Faucet")
        if basin is None or not taps:
            return False
        tap = min(taps, key=lambda one: (basin.reach(one.position[0], one.position[2]), one.id))
        turns = ["ToggleObjectOff", "ToggleObjectOn", "ToggleObjectOff"][0 if tap.on else 1 :]
        return all(episode.do(turn, tap, forceAction=True) for turn in turns)

    def progress(self) -> tuple[int, int]:
        """How many conditions of the goal hold, and how many there are. All of them win."""
        return self._now.conditions(self._episode.goal)

    def close(self) -> None:
        """Stop the simulator, unless a copy still uses it."""
        self._house.close()

    def plan(self) -> Sequence[Action]:
        """A plan from the current state, tried out on a copy; empty if solved or none is known."""
        met, total = self.progress()
        if met < total and not self._planned:
            self._planned = next(filter(self._solves, self._drafts()), ())
        return self._planned

    def _drafts(self) -> Sequence[Sequence[Action]]:
        drafts = commands.drafts(self._now, self._episode.goal)
        return [[self._meant(text) for text in draft] for draft in drafts]

    def _solves(self, draft: Sequence[Action]) -> bool:
        with self.fork() as copy:
            outcomes = []
            for action in draft:
                outcomes.append(copy.act(action))
                if outcomes[-1].reason is not None:
                    return False
            return bool(outcomes) and outcomes[-1].over

    def best_actions(self) -> frozenset[Action] | None:
        """Unknown: things of a kind, and receptacles, may serve equally."""
        return None

    def fork(self) -> Alfworld:
        """An independent copy of the current state, in the same simulator."""
        copy = Alfworld(settings=self._settings, house=self._house.fork())
        copy._game, copy._said, copy._planned = self._game, self._said, self._planned
        return copy

    def state(self) -> Mapping[str, JsonValue]:
        """The room, the game's names and marks, and its facts as ALFWorld's expert reads them."""
        at = self._game.at
        return {
            **self._house.state(),
            "names": dict(self._game.names),
            "before": list(self._now.here),
            "marks": [list(mark) for mark in sorted(self._game.marks)],
            "facts": list(self._now.facts()),
            "at": None if at is None else [at.x, at.z, at.rotation, at.horizon],
        }

    def digest(self) -> str:
        """The first 16 hexadecimal digits of the state's SHA-256."""
        return state_digest(self.state())

    def admissible(self) -> Sequence[Action]:
        """The commands that would succeed now."""
        return [action for action in self.actions() if self._works(action)]

    def _works(self, action: Action) -> bool:
        if action.verb in ("look", "inventory", "help", "examine"):
            return True
        with self.fork() as copy:
            return copy.act(action).reason is None

    def things(self) -> Sequence[SceneObject]:
        """Every object that the game names, its states, and how many pixels show it."""
        ids = self._names_by_id()
        ours = {name: ids[id] for id, name in self._episode.names.all().items() if id in ids}
        return [
            replace(one, name=ours[one.name], support=ours.get(one.support or ""))
            for one in self._house.things()
            if one.name in ours
        ]


def _nearest(episode: EpisodeState, thing: ThorObject) -> AgentPose:
    """Where one stands before a receptacle that can be seen from nowhere."""
    x, z = min(episode.grid.places, key=lambda p: (thing.reach(p[0] * STEP, p[1] * STEP), p))
    dx, dz = thing.center[0] - x * STEP, thing.center[2] - z * STEP
    turn = (90 if dx > 0 else 270) if abs(dx) > abs(dz) else (0 if dz > 0 else 180)
    return AgentPose(x * STEP, episode.body.pose.y, z * STEP, turn, 30)


def _why_not(action: Action, now: GameMoment) -> Reason:
    """Why a command is not admissible."""
    names = action.arguments
    if action.verb in ("move", *TREATMENTS) and now.held != names[0]:
        return Reason.HANDS_EMPTY if now.held is None else Reason.MISSING_ITEM
    if any(name not in now.game.names for name in names):
        return Reason.NOT_FOUND
    if action.verb == "take" and now.held is not None:
        return Reason.HANDS_FULL
    if any(name in now.game.spots and name not in now.here for name in names):
        return Reason.OUT_OF_REACH
    if any(name in now.game.spots and now.shut(name) for name in names):
        return Reason.CLOSED
    return Reason.NOT_ALLOWED
