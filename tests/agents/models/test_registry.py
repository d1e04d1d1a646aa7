"""Kinds of models, and what each needs."""

from __future__ import annotations

import subprocess
import sys


def test_every_kind_is_known_without_optional_packages() -> None:
    """As after `pip install inhabit`: what lacks a package says so when a model is loaded."""
    hidden = ("openai", "tenacity", "torch", "transformers", "safetensors", "gguf", "vllm", "peft")
    code = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({hidden!r}))\n"
        "from inhabit.agents.models import registry\n"
        "print([registry.find(f'{kind}:m')[0].kind for kind in registry.kinds()])\n"
        "registry.load('openai:m')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "openai" in done.stdout, done.stderr
    assert "UnavailableError: Chat endpoints need the package 'openai'" in done.stderr
