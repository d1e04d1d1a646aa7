"""Tasks, solvers and a scorer for Inspect (extra `inspect`; package inspect_ai 0.3.285).

Inspect finds this module by its entry point: `inspect eval inhabit/toy --model PROVIDER/NAME` plays
sampled tasks, and `-T n=20 -T seed=1 -T tasks=alfred-v1` choose others. With `-T agent=chat` an
agent of this package plays, asks the model through Inspect's bridge, and records its run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.agent import agent_bridge
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, execute_tools, get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, tool

from inhabit.agents.dialogue.prompt import instructions
from inhabit.envs import registry
from inhabit.envs.core import SimulatorError
from inhabit.envs.core import Task as EmbodiedTask
from inhabit.envs.pictures import data_url
from inhabit.episodes.playing.plan import plan
from inhabit.episodes.playing.run import record_run
from inhabit.episodes.recording.folder import held
from inhabit.episodes.recording.index import Index
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import EndLine
from inhabit.episodes.reports.page.writing import Videos, write_run
from inhabit.frameworks.factory import rollouts
from inhabit.frameworks.rollout import Rollout, RolloutFactory
from inhabit.frameworks.turn import Turn

_RESULT = "inhabit"
"""Key of an episode's result in a sample's metadata."""


def embodied(
    env: str,
    n: int = 10,
    seed: int = 0,
    tasks: str | None = None,
    agent: str | None = None,
    out: str = "runs/inspect",
    max_steps: int | None = None,
) -> Task:
    """An evaluation of a model in an environment.

    Args:
        env: a registered name.
        n: tasks.
        seed: of the sampled tasks and of the episodes.
        tasks: where they come from instead of the sampler, as `--tasks` has it.
        agent: an agent of this package that asks the model, such as "chat" or "holmes"; None lets
            the model call a tool `act` itself.
        out: with `agent`, the folder under which each sample's run is recorded, with its pages.
        max_steps: actions an episode may take, instead of each task's own limit.

    Raises:
        UnknownNameError, SettingError, TaskError: a name is wrong, or tasks can't be read.
    """
    factory = rollouts(env, n, tasks=tasks, seed=seed, max_steps=max_steps)
    samples = [
        Sample(
            id=one.id,
            input=one.goal,
            metadata={"index": i, "kind": one.kind, "task": one.model_dump(mode="json")},
        )
        for i, one in enumerate(factory.tasks)
    ]
    how = play(factory) if agent is None else recorded(env, agent, out, seed, max_steps)
    return Task(name=env, dataset=samples, solver=how, scorer=conditions())


@solver
def play(factory: RolloutFactory) -> Solver:
    """The model acts by calling a tool, and sees a picture after each action."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        with factory.open() as rollout:
            turn = await asyncio.to_thread(rollout.reset, state.metadata["index"])
            act = _act(rollout)
            how = ContentText(text=instructions("tools"))
            state.messages = [ChatMessageUser(content=[how, *_content(turn)])]
            try:
                while not rollout.turn.done:
                    await _one_reply(state, rollout, act)
            finally:
                # Inspect scores what was reached when one of its limits ends the sample.
                state.metadata[_RESULT] = _result(rollout.turn)
        return state

    return solve


async def _one_reply(state: TaskState, rollout: Rollout, act: Tool) -> None:
    before = rollout.turn
    state.output = await get_model().generate(state.messages, tools=[act])
    state.messages.append(state.output.message)
    if state.output.message.tool_calls:
        done = await execute_tools(state.messages, [act])
        state.messages.extend(done.messages)
        if rollout.turn is before:
            # Calls that Inspect rejects are an action without effect: a model that repeats them
            # would never end the episode.
            await asyncio.to_thread(rollout.act, "")
        return
    # Words without a call are an action of their own, or none.
    turn = await asyncio.to_thread(rollout.act, state.output.completion)
    state.messages.append(ChatMessageUser(content=_content(turn)))


@solver
def recorded(env: str, agent: str, out: str, seed: int, max_steps: int | None) -> Solver:
    """An agent of this package plays, asks the evaluated model, and records the run as always."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        chosen = plan(
            env,
            agent,
            model="openai:inspect",
            # The bridge answers every request; nothing is sent to this address.
            base_url="http://inspect.invalid/v1",
            assignments={"in_process": True},
            max_steps=max_steps,
            seed=seed,
        )
        # A folder of its own each time: a finished one would be taken for this sample's.
        folder = Path(out) / f"{env}-{agent}-{state.metadata['index']:05d}-{state.uuid[:8]}"
        one = EmbodiedTask.model_validate(state.metadata["task"])
        async with agent_bridge():
            folder.parent.mkdir(parents=True, exist_ok=True)
            with held(folder):
                run = await record_run(chosen, [one], folder, command=["inspect"])
        await asyncio.to_thread(write_run, run, Videos(), lambda episode: None)
        state.metadata[_RESULT] = _recorded(run)
        return state

    return solve


@scorer(metrics=[{"success": [mean(), stderr()], "conditions": [mean(), stderr()]}])
def conditions() -> Scorer:
    """Success, and the share of goal conditions that hold at the end. Both are 0 to 1."""

    async def score(state: TaskState, target: Target) -> Score:
        result = state.metadata.get(_RESULT)
        if result is None:
            return Score(value={"success": 0, "conditions": 0.0}, explanation="It was not played.")
        share = result["met"] / result["total"]
        pages = f" Page: {result['page']}" if "page" in result else ""
        return Score(
            value={"success": int(result["met"] == result["total"]), "conditions": share},
            answer=str(result["ending"]),
            explanation=f"{result['met']} of {result['total']} goal conditions, ended by "
            f"{result['ending']} after {result['steps']} steps.{pages}",
        )

    return score


def _act(rollout: Rollout) -> Tool:
    @tool(name="act")
    def act() -> Tool:
        async def execute(action: str) -> list[ContentText | ContentImage]:
            """Do one thing in the world, and see what it changes.

            Args:
                action: In the words of the list, such as "go to the fridge"; "stop" ends the
                    episode.
            """
            if rollout.turn.done:
                return [ContentText(text="The episode has ended.")]
            return _content(await asyncio.to_thread(rollout.act, action))

        return execute

    return act()


def _content(turn: Turn) -> list[Any]:
    return turn.blocks(
        lambda text: ContentText(text=text), lambda rgb: ContentImage(image=data_url(rgb))
    )


def _result(end: Turn | EndLine) -> Mapping[str, Any]:
    return {"met": end.met, "total": end.total, "ending": end.ending, "steps": end.steps}


def _recorded(run: Run) -> Mapping[str, Any]:
    end = next(iter(Index(run).ends()))
    assert end is not None, "The run has ended."
    if not end.total:
        raise SimulatorError(f"The episode did not begin: {end.error}")
    return {**_result(end), "page": str((run.folder / "index.html").resolve())}


def _registered(name: str) -> Callable[..., Task]:
    def made(**arguments: Any) -> Task:
        return embodied(name, **arguments)

    # Inspect reads a task's arguments from its signature.
    whole = signature(embodied, eval_str=True)
    made.__signature__ = whole.replace(  # type: ignore[attr-defined]
        parameters=[one for one in whole.parameters.values() if one.name != "env"]
    )
    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"Tasks of the environment {name!r}."
    registered: Callable[..., Task] = task(name=name)(made)
    return registered


for _name in registry.names():
    globals()[_name] = _registered(_name)
