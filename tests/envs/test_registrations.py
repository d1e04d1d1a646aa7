"""Registrations name functions that exist, and import nothing heavy before one is called."""

import subprocess
import sys
from dataclasses import fields

import pytest

from inhabit.envs import registry
from inhabit.envs.entries import LazyFunction, resolve

OURS = ("toy", "alfred", "virtualhome", "minedojo", "pca_bench", "egoplan", "iwisdm")


@pytest.mark.parametrize("name", OURS)
def test_every_lazy_function_exists(name: str) -> None:
    registration = registry.find(name)
    values = [getattr(registration, field.name) for field in fields(registration)]
    lazy = [value for value in values if isinstance(value, LazyFunction)]
    assert len(lazy) >= 3
    assert all(callable(resolve(value.target)) for value in lazy)


def test_a_registration_imports_no_environment() -> None:
    code = (
        "import sys; from inhabit.envs import registry;"
        f"[registry.find(name) for name in {OURS}];"
        "print([m for m in sys.modules if m.endswith('.env') or m.partition('.')[0] in "
        "('PIL', 'numba', 'networkx', 'ai2thor', 'procthor', 'av')])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
