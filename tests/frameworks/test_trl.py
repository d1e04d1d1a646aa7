from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

from inhabit.envs.core import Action
from inhabit.frameworks.factory import rollouts
from inhabit.frameworks.trl import environment_class, rows, verbs


def _tools(made: type) -> list[str]:
    """As TRL's GRPOTrainer finds them."""
    members = inspect.getmembers(made, predicate=inspect.isfunction)
    return [n for n, _ in members if n not in ("reset", "get_reward") and not n.startswith("_")]


@pytest.mark.parametrize("tools", ["act", "verbs"])
@pytest.mark.parametrize("env", ["toy", "alfred"])
def test_every_tool_has_a_schema(env: str, tools: Any) -> None:
    utils = pytest.importorskip("transformers.utils", reason="needs the extra `local`")
    made = environment_class(rollouts(env, 1), tools=tools)
    names = _tools(made)
    assert (names == ["act"]) if tools == "act" else ({"open", "close", "put"} <= set(names))
    for name in names:
        schema = utils.get_json_schema(getattr(made(), name))["function"]
        assert schema["name"] == name and schema["description"]
        for about in schema["parameters"]["properties"].values():
            assert about["type"] == "string" and about["description"]


def test_other_tools_are_refused() -> None:
    with pytest.raises(ValueError, match="tools is 'verb', and neither 'act' nor 'verbs'"):
        environment_class(rollouts("toy", 1), tools="verb")  # type: ignore[arg-type]


def test_verbs_can_say_every_action_of_choices_and_crafts() -> None:
    crafts = [
        Action(f"craft {thing}", "craft", (thing, table))
        for thing, table in (("boat", "by hand"), ("bow", "crafting_table"))
    ]
    for vocabulary in (crafts, [Action(text, "choose") for text in ("find cow", "find pig")]):
        (verb,) = verbs(vocabulary)
        assert [verb.say(action.text) for action in vocabulary] == [a.text for a in vocabulary]
        assert verb.say("fly") == "fly", "Nothing else happens instead."


@pytest.mark.parametrize("thing", ["pen", "{pen}"])
def test_an_argument_is_found_after_the_verb(thing: str) -> None:
    (verb,) = verbs([Action(f"open the {thing}", "open", (thing,))])
    assert verb.say("box") == "open the box"


def test_an_episode_by_trls_calls() -> None:
    factory = rollouts("toy", 3, reward="success")
    made = environment_class(factory, longest_side=48)
    group = [made() for _ in range(3)]
    row = rows(factory)[1]
    starts = [one.reset(**row) for one in group]
    assert all(start[0] == starts[0][0] for start in starts)
    assert starts[0][1]["type"] == "image" and starts[0][1]["image"].size == (48, 48)
    for text in group[0]._rollout.session.plan():
        shown = group[0].act(action=text)
    assert "goal is reached" in shown[-1]["text"]
    assert "has ended" in group[0].act(action="go to the hall")[0]["text"]
    assert [one.get_reward() for one in group] == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("tools", "call"),
    [("act", {"action": 5}), ("verbs", {"target": "book"}), ("verbs", {"to": ["moon"]})],
)
def test_wrong_arguments_are_an_action_without_effect(tools: Any, call: dict[str, Any]) -> None:
    made = environment_class(rollouts("toy", 1, penalty=0.5), tools=tools)()
    made.reset(task=0)
    getattr(made, "act" if tools == "act" else "put")(**call)
    assert made.get_reward() == -0.5


def test_without_pictures_everything_is_text() -> None:
    factory = rollouts("toy", 1)
    made = environment_class(factory, pictures=False, tools="verbs")()
    assert isinstance(made.reset(**rows(factory, pictures=False)[0]), str)
    assert isinstance(made.go(target="hall"), str)


def test_grpo_steps_a_tiny_multimodal_model_which_depends_on_its_pictures(tmp_path: Any) -> None:
    pytest.importorskip("trl", reason="needs the package trl")
    import torch

    factory = rollouts("toy", 2, max_steps=2, list_candidates=False)
    shown = environment_class(factory)

    class Black(shown):  # type: ignore[misc, valid-type]
        def _picture(self, rgb: Any) -> Any:
            return super()._picture(np.zeros_like(rgb))

    def brightest(environment: Any) -> int:
        blocks = environment().reset(**rows(factory)[0])
        return max(np.asarray(b["image"]).max() for b in blocks if b["type"] == "image")

    assert brightest(Black) == 0 < brightest(shown)

    first, again, black = (_grpo(factory, one, tmp_path) for one in (shown, shown, Black))
    assert any("ToyEnvironment" in key for log in first.state.log_history for key in log)
    weights = [dict(one.model.named_parameters()) for one in (first, again, black)]
    assert all(torch.equal(value, weights[1][name]) for name, value in weights[0].items())
    assert any(not torch.equal(value, weights[2][name]) for name, value in weights[0].items())
    # The value of GRPO's loss is 0 where a group has been sampled by the same weights.
    norms = [[log["grad_norm"] for log in one.state.log_history[:2]] for one in (first, black)]
    assert norms[0] != norms[1]


def _grpo(factory: Any, environment: type, folder: Any) -> Any:
    """A trainer after a few steps on a model of random weights."""
    import torch
    import trl
    from datasets import Dataset
    from tiny_vlm import tiny_vlm

    torch.manual_seed(0)
    model, processor = tiny_vlm()
    before = {name: value.clone() for name, value in model.named_parameters()}
    trainer = trl.GRPOTrainer(
        model=model,
        processing_class=processor,
        train_dataset=Dataset.from_list(rows(factory)),
        environment_factory=environment,
        reward_funcs=[_length],
        args=trl.GRPOConfig(
            output_dir=str(folder),
            max_steps=2,
            per_device_train_batch_size=2,
            num_generations=2,
            max_completion_length=8,
            learning_rate=1e-2,
            logging_steps=1,
            report_to=[],
            use_cpu=True,
            bf16=False,
            save_strategy="no",
        ),
    )
    trainer.train()
    assert trainer.state.global_step == 2
    after = dict(model.named_parameters())
    assert any(not torch.equal(before[name], after[name]) for name in before)
    return trainer


def _length(completions: Any, **_: Any) -> list[float]:
    """Differs within a group, so that there is a gradient, whatever a random model says."""
    return [float(len(str(one)) % 7) for one in completions]
