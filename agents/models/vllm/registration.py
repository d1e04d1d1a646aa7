"""`--model vllm:NAME`: vLLM in this process, for a model from a folder or a hub."""

from __future__ import annotations

import os

from inhabit.agents.core import ModelError
from inhabit.agents.models.core import Model
from inhabit.agents.models.local.registration import recommended, resolve, weights_of
from inhabit.agents.models.registry import ModelRegistration
from inhabit.agents.models.vllm.settings import VLLMSettings
from inhabit.envs.extras import imports


def _load(name: str, settings: VLLMSettings) -> Model:
    source, adapters = resolve(name)
    if adapters:
        raise ModelError(
            f"vllm:{name} has adapters, which vLLM would not score as `local:` does: merge them "
            f"with `inhabit merge`, and name the folder that it writes."
        )
    # vLLM reads these when it is imported. It tells its makers of each start unless it is told not
    # to; with one GPU the engine needs no process of its own.
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    if settings.tensor_parallel == 1:
        os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    own = " in a virtual environment of its own (docs/models.md)."
    with imports("Models of the kind vllm", "vllm", own):
        from inhabit.agents.models.vllm.model import load
    return load(source, f"vllm:{name}", settings, weights=lambda: weights_of(source))


REGISTRATION = ModelRegistration(
    kind="vllm",
    summary="a model in this process, run by vLLM: by folder or hub name; needs a GPU to be fast",
    settings=VLLMSettings,
    load=_load,
    recommended=recommended,
)
