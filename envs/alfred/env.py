"""ALFRED as an environment, over the unmodified `ai2thor` client."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
from pydantic import BaseModel, JsonValue

from inhabit.envs.alfred.episode import build
from inhabit.envs.alfred.episode.state import (
    EpisodeState,
    in_view,
    in_words,
    note_reached,
    progress,
)
from inhabit.envs.alfred.expert import shortest
from inhabit.envs.alfred.expert.planner import AlfredPlanner, RecordedPlanner, Searcher, StepPlanner
from inhabit.envs.alfred.language import verbs
from inhabit.envs.alfred.language.verbs import vocabulary
from inhabit.envs.alfred.scenes import layout
from inhabit.envs.alfred.scenes.scene import AlfredScene, read_scene
from inhabit.envs.alfred.skills.acting import act, plausible, succeeding
from inhabit.envs.alfred.thor.session import SharedSimulator
from inhabit.envs.alfred.world.settings import AlfredSettings, FilmSettings
from inhabit.envs.alfred.world.things import Rooms
from inhabit.envs.core import (
    Action,
    Clip,
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
from inhabit.envs.world import tools


class Alfred(Env):
    """ALFRED's seven task types in iTHOR's rooms, with high-level actions in English."""

    Scene: ClassVar[type[BaseModel]] = AlfredScene

    def __init__(
        self,
        backend: str = "embedded",
        settings: AlfredSettings | None = None,
        *,
        session: SharedSimulator | None = None,
    ) -> None:
        """An environment; its simulator starts with the first task.

        Args:
            backend: "embedded", or "unity" for a user's own build.
            settings: how it runs.
            session: a simulator to share, as forks do.
        """
        self._settings = settings or AlfredSettings()
        self._rooms = Rooms(self._settings.rooms, self._settings.cells)
        self._backend = backend
        self._session = session or SharedSimulator(backend, self._settings)
        self._owner = self._session.join()
        self._state: EpisodeState | None = None
        self._planner = AlfredPlanner()
        self.determinism = Determinism.FRAMES if backend == "embedded" else Determinism.NONE

    def reset(self, task: Task, *, seed: int) -> None:
        """Start `task`; `seed` decides where the agent starts if the scene leaves it open.

        Raises:
            SceneError: the scene names something that does not exist or cannot be built.
            SimulatorError: the simulator did not start, or died.
            UnavailableError: this machine lacks something for the simulator.
        """
        scene = read_scene(task, self._rooms.names)
        try:
            if scene.recording is None:
                room = self._rooms.load(scene.room)
                layout.check(scene, room.objects, room.cells)
            self._state = None
            body = self._session.start(self._owner, scene.room)
            if isinstance(self._settings, FilmSettings):
                body.film_size = self._settings.film_width, self._settings.film_height
            teleport = self._settings.navigation == "teleport"
            self._state = build.build(
                body,
                scene,
                seed=seed,
                teleport=teleport,
                filming=self._settings.clips,
                unnumbered=self._settings.unnumbered,
            )
        except SceneError as error:
            raise SceneError(f"Task {task.id!r}, scene, {error}") from error
        self._state.field_of_view = self._settings.narrow_view
        if isinstance(self._settings, FilmSettings):
            self._state.film[:] = [body.filmed]
        self._planner = Searcher() if self._settings.expert == "searching" else AlfredPlanner()
        if self._settings.expert == "recorded" and scene.recording is not None:
            self._planner = RecordedPlanner(self._state, scene.recording.plan)
        if self._settings.replay != "off" and scene.recording is not None:
            self._planner = StepPlanner(scene.recording.steps, self._settings.replay)

    def observe(self) -> Observation:
        """The camera image, uint8 (height, width, 3), and a sentence about the held object."""
        episode = self._episode()
        ids, names = episode.body.instances() if self._settings.instances else (None, ())
        film = episode.film if self._settings.clips else []
        return Observation(
            text=in_words(episode, view=self._settings.text == "view"),
            rgb=episode.body.frame,
            clips=(Clip(np.stack(film), "What you saw on the way."),) if film else (),
            depth=episode.body.depth if self._settings.depth else None,
            instances=ids,
            names=tuple(episode.names.all().get(id, id) for id in names),
        )

    def vocabulary(self) -> Sequence[Action]:
        """Every action of this room type, at most 250."""
        return vocabulary(self._rooms.kind(self._episode().body.room), self._oracle)

    def actions(self) -> Sequence[Action]:
        """Navigation to objects seen so far, and interactions with objects within reach."""
        find = [a for a in self.vocabulary() if a.verb == "find"]
        return plausible(self._episode(), find)

    def parse(self, text: str) -> Action | None:
        """Parse an action. Without the oracle, "find" means "go to"."""
        action = verbs.understand(text)
        if action is not None and action.verb == "find" and not self._oracle:
            return verbs.say("go to", *action.arguments)
        return action

    def act(self, action: Action) -> Outcome:
        """Execute one action, which may take several low-level steps."""
        episode = self._episode()
        meant = self.parse(action.text)
        episode.body.count_from_zero()
        filmed = self._settings.clips and self._settings.film == "whole"
        episode.body.film = episode.film if filmed else None
        if meant is None:
            feedback = "There is no such action. Say for example: go to the fridge."
            least = self._settings.least_cost
            return self.outcome(Reason.UNKNOWN_ACTION, feedback, cost=least)
        result = act(episode, meant)
        self._planner.note(episode, meant, result)
        build.disturb(episode)
        note_reached(episode)
        cost = max(episode.body.steps, self._settings.least_cost)
        return self.outcome(result.reason, result.feedback, cost=cost)

    def progress(self) -> tuple[int, int]:
        """ALFRED's goal conditions: how many hold, and how many there are."""
        episode = self._episode()
        return progress(episode)

    def close(self) -> None:
        """Stop the simulator, unless a fork still uses it."""
        self._state = None
        self._session.leave(self._owner)

    def plan(self) -> Sequence[Action]:
        """A plan from the current state; empty if the task is solved or no plan is known."""
        return self._planner.plan(self._episode())

    def best_actions(self) -> frozenset[Action] | None:
        """Every action that starts a shortest plan of at most two actions. None if all plans are
        longer, and on Unity, whose state cannot be copied.
        """
        return (
            shortest.first_actions(self, Alfred._episode) if self._backend == "embedded" else None
        )

    def fork(self) -> Alfred:
        """An independent copy of the current state, in the same simulator.

        Raises:
            SimulatorError: the simulator has no snapshots, as Unity.
        """
        episode = self._episode()
        twin = Alfred(self._backend, self._settings, session=self._session)
        self._session.copy(self._owner, twin._owner)
        twin._state, twin._planner = episode.copy(), self._planner.copy()
        return twin

    def pursue(self, task: Task) -> None:
        """Take on the goal of `task`, which has the same room and start.

        Raises:
            SceneError: a field of its scene is unknown, missing or out of its range.
        """
        scene, episode = read_scene(task, self._rooms.names), self._episode()
        episode.goal, episode.also, episode.in_order = scene.goal, scene.also, scene.in_order
        episode.reached, episode.disturbances = (), scene.disturbances
        note_reached(episode)
        self._planner = Searcher() if self._settings.expert == "searching" else AlfredPlanner()

    def tools(self) -> Sequence[Mapping[str, JsonValue]]:
        """The functions that an agent without images may call."""
        return tools.described("in the present view", "the agent's hand")

    def call(self, name: str, arguments: Mapping[str, JsonValue]) -> JsonValue:
        """Call one of these functions.

        Raises:
            KeyError: there is no such tool.
        """
        episode = self._episode()
        seen = [episode.names.of(id) for id in in_view(episode)]
        held = [episode.names.of(episode.held.id)] if episode.held is not None else []
        return tools.answer(name, seen, held)

    def state(self) -> Mapping[str, JsonValue]:
        """The agent, every object, and the agent's memory."""
        return build.state(self._episode())

    def digest(self) -> str:
        """The first 16 hexadecimal digits of the state's SHA-256."""
        return state_digest(self.state())

    def admissible(self) -> Sequence[Action]:
        """The actions that would succeed now.

        Whether there is room for what is put down only trying shows, which only the embedded
        household allows; on Unity it is taken to be so.
        """
        found = succeeding(self._episode(), self.actions())
        if self._backend != "embedded":
            return found
        tried = ("put", "put down")
        return [action for action in found if action.verb not in tried or self._works(action)]

    def things(self) -> Sequence[SceneObject]:
        """Every named object, its states, and how many pixels of the image show it."""
        return build.things(self._episode())

    def _works(self, action: Action) -> bool:
        with self.fork() as twin:
            return twin.act(action).reason is None

    @property
    def _oracle(self) -> bool:
        return self._settings.find == "oracle"

    def _episode(self) -> EpisodeState:
        if self._state is None:
            raise RuntimeError("No episode is running. Call reset first.")
        self._session.enter(self._owner)
        return self._state
