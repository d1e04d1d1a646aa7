"""Teach a small policy with PPO, from random actions, and plot its learning curve.

    python examples/ppo/ppo.py toy --out curves/toy

For each reward and seed: plays 100 episodes of new tasks at random, trains, and plays the same 100
episodes with the trained policy. Writes curve.csv, results.json and curve.svg. The policy reads
texts only (goal, observation, feedback, names of the plausible actions); it sees no image. PPO is
that of Schulman et al. 2017 with a clipped objective and generalised advantages (Schulman et al.
2016).
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections import deque
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from curve import plot
from policy import Batch, History, Policy, per_state, sample
from torch import nn

import inhabit
import inhabit.gym  # registers the environments


class Player:
    """A vector of episodes, their histories, and the features of their states."""

    def __init__(self, envs: Any, seed: int) -> None:
        self.envs, self.n = envs, envs.num_envs
        self._histories = [History(envs.vocabulary) for _ in range(self.n)]
        self.over = np.ones(self.n, bool)
        seen, infos = envs.reset(seed=seed)
        self.batch = self._features(seen, infos, envs.action_masks())

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, Any]:
        """Rewards, which episodes have just ended, and Gymnasium's infos."""
        begun = self.over.copy()  # These are only reset by this step.
        seen, rewards, ended, cut, infos = self.envs.step(actions)
        for history, action, new, reason in zip(
            self._histories, actions, begun, infos["reason"], strict=True
        ):
            if not new:
                history.note(int(action), worked=reason is None)
        self.over = begun
        self.batch = self._features(seen, infos, self.envs.action_masks())
        self.over = ended | cut
        return rewards, self.over, infos

    def _features(self, seen: Any, infos: Any, masks: np.ndarray) -> Batch:
        masks[~masks.any(1)] = True  # An episode that has ended has no plausible actions.
        found = []
        for i, history in enumerate(self._histories):
            if self.over[i]:
                history.begin(seen["goal"][i])
            found.append(history.features(masks[i], seen["text"][i], infos["feedback"][i]))
        owner, index = np.nonzero(masks)
        return Batch(
            torch.from_numpy(np.stack([state for state, _ in found])),
            torch.from_numpy(np.concatenate([action for _, action in found])),
            torch.from_numpy(owner),
            torch.from_numpy(index),
        )


def train(policy: Policy, player: Player, arguments: Any) -> Iterator[dict[str, float]]:
    """Improve the policy; yields steps, CPU seconds and the success rate of 200 episodes."""
    optimiser = torch.optim.Adam(policy.parameters(), arguments.rate, eps=1e-5)
    ends: deque[bool] = deque(maxlen=200)
    begun, n = time.process_time(), player.n
    updates = arguments.steps // (n * arguments.horizon)
    for update in range(updates):
        optimiser.param_groups[0]["lr"] = arguments.rate * (1 - 0.9 * update / updates)
        kept: list[tuple[Any, ...]] = []
        for _ in range(arguments.horizon):
            batch, skip = player.batch, player.over
            with torch.no_grad():
                logp, value = policy(batch)
            rows = sample(logp, batch)
            rewards, over, infos = player.step(batch.index[rows].numpy())
            ends += [bool(won) for won in np.asarray(infos["success"])[over]]
            chosen = torch.zeros_like(logp).index_fill(0, rows, 1)
            kept.append((batch, chosen, logp[rows], value, torch.from_numpy(rewards).float(),
                         torch.from_numpy(over), torch.from_numpy(skip)))  # fmt: skip
        with torch.no_grad():
            last = policy(player.batch)[1]
        _improve(policy, optimiser, kept, last, arguments)
        rate = float(np.mean(ends)) if ends else 0.0
        steps, seconds = (update + 1) * n * arguments.horizon, time.process_time() - begun
        yield {"steps": steps, "cpu_seconds": round(seconds, 1), "success": rate}
        if len(ends) == 200 and rate >= arguments.until:
            return


def _improve(policy: Policy, optimiser: Any, kept: Any, last: Any, arguments: Any) -> None:
    batches, chosen, logp, values, rewards, over, skip = zip(*kept, strict=True)
    advantages, following = [], torch.zeros(len(last))
    for t in reversed(range(len(kept))):
        following_value = values[t + 1] if t + 1 < len(kept) else last
        goes_on = (~over[t]).float()
        error = rewards[t] + arguments.gamma * goes_on * following_value - values[t]
        following = error + arguments.gamma * 0.9 * goes_on * following
        advantages.insert(0, following)
    every, chosen = Batch.join(batches), torch.cat(chosen)
    keep, old, advantage = ~torch.cat(skip), torch.cat(logp), torch.cat(advantages)
    returns = advantage + torch.cat(values)
    advantage = (advantage - advantage[keep].mean()) / (advantage[keep].std() + 1e-6)
    states = torch.nonzero(keep)[:, 0]
    for _ in range(arguments.epochs):
        for some in states[torch.randperm(len(states))].split(128):
            batch, rows = every.take(some)
            logp, value = policy(batch)
            pick = chosen[rows]
            ratio = (per_state(logp * pick, batch) - old[some]).exp()
            gain = torch.minimum(ratio * advantage[some], ratio.clamp(0.8, 1.2) * advantage[some])
            entropy = -per_state(logp.exp() * logp, batch)
            miss = (value - returns[some]).pow(2)
            if (old[some] - per_state(logp * pick, batch)).mean() > arguments.divergence:
                return  # The policy has moved as far as its data allow.
            loss = (0.5 * miss - gain - arguments.entropy * entropy).mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), 0.5)
            optimiser.step()


def evaluate(policy: Policy, envs: Any, episodes: int, seed: int) -> float:
    """Success rate of the first `episodes` episodes, with actions sampled from the policy."""
    torch.manual_seed(seed)
    player, won = Player(envs, seed), []
    while len(won) < episodes:
        with torch.no_grad():
            rows = sample(policy(player.batch)[0], player.batch)
        _, over, infos = player.step(player.batch.index[rows].numpy())
        won += [bool(one) for one in np.asarray(infos["success"])[over]]
    return float(np.mean(won[:episodes]))


def make(arguments: Any, tasks: Any, reward: str) -> Any:
    """A vector of environments that play these tasks."""
    return gymnasium.make_vec(
        f"inhabit/{arguments.env}-v0", num_envs=arguments.envs, tasks=tasks, keep=len(tasks),
        reward=reward, settings=json.loads(arguments.settings), threads=1,
        max_steps=arguments.max_steps, max_invalid=1000, penalty=0.01,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    add = parser.add_argument
    add("env", help="a registered environment, such as toy")
    add("--tasks", type=int, default=300, help="number of tasks to train on")
    add("--test-tasks", type=int, default=100, help="number of other tasks to evaluate on")
    add("--task-file", help="where tasks come from instead of the sampler")
    add("--settings", default="{}", help="of the environment, as JSON")
    add("--reward", nargs="+", default=["progress"], help="success, conditions, progress, regret")
    add("--max-steps", type=int, help="actions per episode")
    add("--envs", type=int, default=32, help="episodes at once")
    add("--horizon", type=int, default=32, help="steps of each between updates")
    add("--steps", type=int, default=300_000, help="in all, at most")
    add("--until", type=float, default=0.92, help="success rate of 200 episodes to stop at")
    add("--rate", type=float, default=1e-3, help="learning rate at first; it falls to a tenth")
    add("--entropy", type=float, default=0.01, help="weight of the entropy")
    add("--gamma", type=float, default=0.9, help="discount for each step")
    add("--epochs", type=int, default=6, help="passes over the steps of an update")
    add("--divergence", type=float, default=0.03, help="KL divergence that ends an update")
    add("--first-seed", type=int, default=0, help="of the independent trainings")
    add("--seeds", type=int, default=3, help="number of independent trainings")
    add("--out", type=Path, default=Path("curves"), help="folder for the results")
    arguments = parser.parse_args()
    tasks = inhabit.tasks(
        arguments.env, arguments.tasks + arguments.test_tasks, source=arguments.task_file
    )
    arguments.out.mkdir(parents=True, exist_ok=True)
    rows, results = [], []
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    for reward, seed in product(arguments.reward, seeds):
        torch.manual_seed(seed)
        envs = make(arguments, tasks[: arguments.tasks], reward)
        test = make(arguments, tasks[arguments.tasks :], "success")
        player = Player(envs, seed)
        policy = Policy(player.batch)
        before = evaluate(policy, test, 100, seed)
        print(f"{reward}, seed {seed}: random {before:.2f}", flush=True)
        for row in train(policy, player, arguments):
            rows.append({"reward": reward, "seed": seed, **row})
            print(*(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
        after = evaluate(policy, test, 100, seed)
        results.append({**rows[-1], "random": before, "trained": after})
        print(results[-1], flush=True)
        envs.close()
        test.close()
        write(rows, results, arguments)


def write(rows: Any, results: Any, arguments: Any) -> None:
    """The curves and results of the seeds so far."""
    with (arguments.out / "curve.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    (arguments.out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    plot(rows, results, arguments.env, arguments.out / "curve.svg")


if __name__ == "__main__":
    main()
