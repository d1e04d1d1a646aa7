"""Sets made on a Ray cluster: the same bytes as on one machine."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from waiting import PATIENCE

from inhabit.eie.examples.draft import Draft
from inhabit.eie.examples.example import Example, Refused, Rejection
from inhabit.eie.making.runner import AttemptResult
from inhabit.eie.sets.folder import SetFolder

INHABIT = [sys.executable, "-c", "from inhabit.cli import main; main()"]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of a cluster of two nodes with a processor each."""
    pytest.importorskip("ray", reason="needs Ray: pip install 'inhabit[ray]'")
    from ray.cluster_utils import Cluster

    made: Any = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False}
    )
    try:
        made.add_node(num_cpus=1)
        yield made.address
    finally:
        made.shutdown()


def synth(folder: Path, *more: str) -> dict[str, bytes]:
    """Make a set; its files that hold what it is."""
    command = [*INHABIT, "synth", "toy", "--n", "40", "--seed", "2", "--out", str(folder)]
    subprocess.run(
        [*command, "--workers", "2", *more], check=True, timeout=PATIENCE, env=os.environ
    )
    names = [
        "attempts.jsonl",
        "examples.jsonl",
        *(f"images/{p.name}" for p in folder.glob("*/*.png")),
    ]
    return {name: (folder / name).read_bytes() for name in sorted(names)}


@pytest.mark.slow
def test_a_set_from_a_cluster_has_the_same_bytes(tmp_path: Path, address: str) -> None:
    here = synth(tmp_path / "here")
    spread = synth(tmp_path / "spread", "--ray", "--set", f"ray_address={address}")
    assert spread == here
    assert "cluster" not in SetFolder.open(tmp_path / "spread").header.settings


@pytest.mark.slow
def test_a_set_goes_on_wherever_it_was_begun(tmp_path: Path, address: str) -> None:
    here = synth(tmp_path / "here")
    lines = here["attempts.jsonl"].splitlines(keepends=True)
    half = tmp_path / "half"
    synth(half)
    (half / "attempts.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))
    header = SetFolder.open(half).header.model_copy(update={"finished": False})
    (half / "set.json").write_text(header.model_dump_json(), encoding="utf-8")
    assert synth(half, "--ray", "--set", f"ray_address={address}") == here


def test_an_attempt_arrives_as_it_was_made() -> None:
    rgb = np.random.default_rng(0).integers(0, 256, (12, 10, 3), np.uint8)
    example = Example(
        id="a", env="toy", split="train", image="images/0f.png", image_digest="0f",
        question="What now?", candidates=("go", "stay"), answer=1, reason="Because.",
        key_concepts=("mug",), goal="Stay.",
    )  # fmt: skip
    made = AttemptResult(
        3,
        [Draft(example, {"0f": rgb}, 2**255 + 1), Refused(Rejection.HIDDEN, 'Behind {a} "wall".')],
        "toy-1-3",
        {"in": 5},
        1.5,
    )
    back = pickle.loads(pickle.dumps(made))
    draft, refused = back.pieces
    assert (back.number, back.task, back.tokens, back.seconds) == (3, "toy-1-3", {"in": 5}, 1.5)
    assert isinstance(draft, Draft) and draft.example == example
    assert draft.fingerprint == 2**255 + 1 and np.array_equal(draft.pictures["0f"], rgb)
    assert refused == made.pieces[1]
