"""Episodes on a cluster of several nodes on this machine come to what they come to here."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue
from toy_runs import play_toy, results, toy_tasks
from waiting import PATIENCE, wait_for

from inhabit.envs.core import Determinism, SceneError
from inhabit.episodes.cluster.jobs import LostError, NodeResources, connected, dispatch
from inhabit.episodes.cluster.workers import _plan, files_of
from inhabit.episodes.playing.plan import plan
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.scoring.scores import score

INHABIT = [sys.executable, "-c", "from inhabit.cli import main; main()"]


def test_an_episode_is_its_files_that_are_whole(tmp_path: Path) -> None:
    episode = play_toy(tmp_path / "run", tasks=toy_tasks(1)).episode(0)
    (episode.folder / "frames" / "0099.jpg.half").write_bytes(b"half")
    files = files_of(episode.folder)
    assert files["episode.jsonl"] == episode.file.read_bytes()
    frames = sorted(path.name for path in episode.folder.glob("frames/*.jpg"))
    assert sorted(name for name in files if name != "episode.jsonl") == [
        f"frames/{name}" for name in frames
    ]


def test_a_node_takes_the_plan_of_the_command() -> None:
    said = ["model.trust_remote_code=true", "run.max_invalid=3", "env.pixels=32"]
    made = plan("toy", "rank", model="local:smollm2", assignments=said, max_steps=4, seed=7)
    assert _plan(made.header(Determinism.NONE, toy_tasks(1), [])) == made


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Three nodes with a processor each, of which two offer what the toy's backend is called."""
    pytest.importorskip("ray", reason="needs Ray: pip install 'inhabit[ray]'")
    from ray.cluster_utils import Cluster

    # Nodes import the job worker of these tests.
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    made = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "include_dashboard": False, "resources": {"grid": 1}},
    )
    try:
        made.add_node(num_cpus=1, resources={"grid": 1})
        made.add_node(num_cpus=1)
        yield made
    finally:
        made.shutdown()


def squares(cluster: Any, jobs: list[JsonValue], settings: str = "") -> list[int]:
    """What became of `jobs`, in the order in which they were done."""
    found: list[int] = []

    async def work() -> None:
        async with connected(cluster.address):
            await dispatch(
                "counting:Counting", settings, jobs,
                lambda job, result: found.append(json.loads(result)),
                workers=3, resources=NodeResources(),
            )  # fmt: skip

    asyncio.run(work())
    return found


@pytest.mark.slow
def test_every_job_is_done_once(cluster: Any, tmp_path: Path) -> None:
    dying: list[JsonValue] = [[7, str(tmp_path / "died")]]
    found = squares(cluster, [[n, ""] for n in range(6)] + dying)
    assert sorted(found) == [0, 1, 4, 9, 16, 25, 49]
    with pytest.raises(SceneError, match=r"no such \{scene\}"):
        squares(cluster, [[1, "fails"]])
    with pytest.raises(SceneError, match=r"no such \{scene\}"):
        squares(cluster, [[1, ""]], settings="fails")
    with pytest.raises(LostError, match="lost with its node 6 times"):
        squares(cluster, [[1, "dies"]])


@pytest.mark.slow
def test_two_hundred_episodes_while_a_node_dies(cluster: Any, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    words = ["run", "toy", "--agent", "random", "--n", "200", "--seed", "3", "--workers", "3"]
    words += ["--ray", "--set", f"ray_address={cluster.address}", "--set", "in_process=true"]
    words += ["--set", "delay=0.02", "--json", "--out", str(folder)]
    running = subprocess.Popen([*INHABIT, *words], stdout=subprocess.PIPE, text=True)
    wait_for(lambda: len(list(folder.glob("episodes/*/episode.jsonl"))) > 30)
    cluster.remove_node(cluster.list_all_nodes()[1])
    told, _ = running.communicate(timeout=PATIENCE)
    assert running.returncode == 0
    figures = json.loads(told.splitlines()[-1])
    assert figures["episodes"] == 200 == sum(figures["endings"].values())
    run = Run.open(folder)
    here = play_toy(tmp_path / "here", tasks=toy_tasks(200, seed=3), seed=3)
    assert results(run) == results(here)
    assert score(run).attempts == 200, "What was lost with the node left no trace."
    assert len((folder / "index.jsonl").read_bytes().splitlines()) == 200


@pytest.mark.slow
def test_ray_is_started_again_where_the_machine_was_too_busy(tmp_path: Path) -> None:
    first, tried = tmp_path / "first", tmp_path / "tried"
    (first / "ray").mkdir(parents=True)
    # In the first node's process Ray gives up as it does after half a minute; elsewhere it is Ray.
    (first / "ray" / "__init__.py").write_text(
        "import importlib, pathlib, sys\n"
        f"tried = pathlib.Path({str(tried)!r})\n"
        "if sys.argv[0] == '-c' and not tried.exists():\n"
        "    tried.touch()\n"
        "    raise Exception('The current node timed out during startup.')\n"
        f"sys.path.remove({str(first)!r})\n"
        "del sys.modules['ray']\n"
        "importlib.import_module('ray')\n"
    )
    paths = os.pathsep.join([str(first), os.environ.get("PYTHONPATH", "")])
    words = ["run", "toy", "--agent", "expert", "--n", "1", "--ray", "--out", "run"]
    played = subprocess.run(
        [sys.executable, "-m", "inhabit", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert played.returncode == 0, played.stderr
    assert tried.exists()
