"""Every planner against one endpoint: it plays, or says in one sentence what is missing."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from inhabit.cli import main
from inhabit.episodes.recording.reader import Run
from inhabit.episodes.recording.schema import Ending

PLANNERS: Mapping[str, Sequence[str]] = {
    "chat": ("chat", "image=false"),
    "images": ("chat",),
    "letters": ("chat", "image=false", "letters=true", "reason=false"),
    "votes": ("chat", "image=false", "votes=2", "temperature=0.7"),
    "llm": ("llm",),
    "holmes": ("holmes", "turns=1"),
    "rank": ("rank", "prompt_logprobs=true"),
    "beam": ("beam", "prompt_logprobs=true"),
    "free beam": ("beam", "free=true", "width=2", "words=8"),
}
"""Name -> agent and settings."""
WORKS = "works"


def play(base_url: str, planner: str, folder: Path, model: str = "m") -> str:
    """`WORKS`, or the sentence that says why not."""
    agent, *sets = PLANNERS[planner]
    command = ["run", "toy", "--agent", agent, "--model", f"openai:{model}", "--n", "1"]
    command += ["--base-url", base_url, "--max-steps", "1", "--out", str(folder)]
    sets += ["timeout=250", "attempts=1", "in_process=true", "max_tokens=24"]
    if agent not in ("rank", "beam"):
        sets.append("repairs=0")
    if planner == "images" or agent in ("rank", "beam"):
        command += [] if planner == "images" else ["--sight", "none"]
    for one in sets:
        command += ["--set", one]
    said = io.StringIO()
    code: object = None
    with redirect_stderr(said), redirect_stdout(io.StringIO()):
        try:
            main(command)
        except SystemExit as left:
            code = left.code
    if code != 0:
        return " ".join(said.getvalue().split())
    end = Run.open(folder).episode(0).end()
    assert end is not None
    return str(end.error) if end.ending is Ending.MODEL_FAULT else WORKS
