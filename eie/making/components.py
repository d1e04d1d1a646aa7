"""The components that make a set, loaded from its header on any machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pydantic import BaseModel

from inhabit.agents.models import registry as models
from inhabit.eie.examples.settings import SynthSettings
from inhabit.eie.making.author import Author, Procedural
from inhabit.eie.making.llm_author import LlmAuthor
from inhabit.eie.making.pipeline import Pipeline
from inhabit.eie.sets.folder import SetHeader
from inhabit.envs.core import Env, UnavailableError
from inhabit.envs.entries import PluginError, raised
from inhabit.envs.errors import UserError
from inhabit.envs.marks import as_recorded
from inhabit.envs.registry import find
from inhabit.episodes.playing.plan import make_env
from inhabit.episodes.playing.settings import RunSettings


@dataclass(frozen=True, slots=True)
class Components:
    """An author, the pipeline that checks its tasks, and the environment."""

    author: Author
    pipeline: Pipeline
    make: Callable[[], Env]
    settings: SynthSettings


def load_components(header: SetHeader) -> Components:
    """Create the components; the author's model is loaded.

    Raises:
        UnavailableError: something is missing on this machine, or the environment has no template.
        ModelError: the model can't be loaded.
        PluginError: the template raised.
    """
    registration = find(header.env)
    if registration.template is None:
        raise UnavailableError(f"{registration.name} offers no template for tasks to be written.")
    of_env = registration.settings.model_validate(
        as_recorded(registration.settings, header.settings["env"])
    )
    chosen = SynthSettings.model_validate(header.settings["synth"])
    run = RunSettings(deadline=chosen.deadline, in_process=chosen.in_process)
    with faults_of_template(header.env):
        template = registration.template(of_env)
        pipeline = Pipeline(header.env, template, chosen, header.seed)
    if header.author == Procedural.name:
        author: Author = Procedural(header.env, template)
    else:
        kind = models.find(header.author)[0].settings
        model = models.load(header.author, kind.model_validate(header.settings["model"]))
        author = LlmAuthor(header.env, template, model)
    return Components(
        author,
        pipeline,
        lambda: make_env(registration, header.backend, of_env, run),
        chosen,
    )


@contextmanager
def faults_of_template(env: str) -> Iterator[None]:
    """Say in a sentence what the template of `env` raises, which anybody may have written."""
    try:
        yield
    except (UserError, OSError):
        raise
    except Exception as error:
        raise PluginError(f"The template of {env!r} {raised(error)}.") from error


def owners(env: str, author: str) -> dict[str, type[BaseModel]]:
    """The groups of settings for `--set`: "env", "synth", and "model" if the author is a model."""
    found: dict[str, type[BaseModel]] = {"env": find(env).settings, "synth": SynthSettings}
    if author != Procedural.name:
        found["model"] = models.find(author)[0].settings
    return found
