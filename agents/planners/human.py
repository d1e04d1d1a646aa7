"""A person at the terminal chooses the actions. Output goes to stderr, input comes from stdin."""

from __future__ import annotations

import asyncio
import contextlib
import io
import sys
import threading
from typing import TextIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from pydantic import Field
from rich.columns import Columns
from rich.console import Console
from rich.rule import Rule
from rich.style import Style
from rich.text import Text

from inhabit.agents.core import Agent, Decision, UndoError, View
from inhabit.agents.models.core import Model
from inhabit.agents.registry import AgentRegistration
from inhabit.envs.printable import printable
from inhabit.envs.settings import SettingsModel


def blocks(rgb: NDArray[np.uint8], *, width: int) -> Text:
    """The image `rgb`, uint8 (H, W, 3), as upper half blocks, `width` characters wide."""
    height = max(2, round(rgb.shape[0] * width / rgb.shape[1] / 2) * 2)
    small = np.asarray(Image.fromarray(rgb).resize((width, height), Image.Resampling.BOX))
    text = Text()
    for upper, lower in zip(small[0::2], small[1::2], strict=True):
        for above, below in zip(upper.tolist(), lower.tolist(), strict=True):
            style = Style(color=_colour(above), bgcolor=_colour(below))
            text.append("▀", style)
        text.append("\n")
    text.rstrip()
    return text


def _colour(rgb: list[int]) -> str:
    red, green, blue = rgb
    return f"#{red:02x}{green:02x}{blue:02x}"


HINT = "A number or words; Enter: more; help; q: end the episode."
HELP = """\
12            do action 12 of the list
open it       do an action in words, whether or not it is listed
(Enter)       show more of the list
look          show image, goal and list again
help          show this
undo          take back the last step
q             end the episode
Ctrl-C        pause the run; the same command resumes it"""
NO_UNDO = (
    "This environment does not repeat itself, so it can't return to an earlier state. To try "
    "something else, end the episode with q and run the task again."
)
NOTHING_TO_UNDO = "There is no step to take back yet."
_END = ("stop", "q", "quit", "exit")
_LINES = 7
"""Lines of a step besides image and list: rule, goal, last, now, hint and prompt, some long."""


class HumanSettings(SettingsModel):
    """What the terminal shows."""

    page: int = Field(default=60, ge=1)
    """Candidates listed at a time, at most; fewer where the terminal is small."""
    picture: int = Field(default=72, ge=0, le=400)
    """Width of the image, in characters, at most; 0 shows none. It takes half of the terminal's
    lines and needs colours. The live page shows it in full size."""


class Human(Agent):
    """Asks about one step at a time, however many episodes wait."""

    interactive = True

    def __init__(self, settings: HumanSettings, *, stdin: TextIO, console: Console) -> None:
        self._settings = settings
        self._stdin = stdin
        self._console = console
        self._turn = asyncio.Lock()

    async def decide(self, view: View) -> Decision:
        """Ask until the input is understood; stops at the end of input.

        Raises:
            UndoError: the person takes back the last step.
        """
        async with self._turn:
            self._show(view)
            following = self._list(view, 0)
            while True:
                self._console.print("[bold]>[/bold] ", end="")
                line = await _read_line(self._stdin)
                said = line.strip()
                if not line or said.casefold() in _END:
                    return Decision(None, stop=True, raw=said)
                match said.casefold():
                    case "":
                        following = self._list(view, following)
                    case "help" | "?":
                        self._console.print(HELP, markup=False, highlight=False)
                    case "undo":
                        if view.history and view.can_undo:
                            raise UndoError
                        why = NO_UNDO if view.history else NOTHING_TO_UNDO
                        self._console.print(why, style="yellow", markup=False)
                    case "look":
                        self._show(view)
                        following = self._list(view, 0)
                    case _:
                        decision = await _understand(said, view)
                        if decision is not None:
                            return decision
                        self._console.print(f"No candidate matches that. {HINT}", style="red")

    def _show(self, view: View) -> None:
        console, now = self._console, view.observation
        console.print(Rule(f"step {len(view.history) + 1}"))
        if now.rgb is not None and self._settings.picture and console.color_system is not None:
            console.print(blocks(now.rgb, width=self._width(now.rgb)))
        console.print(Text.assemble(("Goal  ", "bold"), printable(view.goal)))
        if view.history:
            last = view.history[-1]
            colour = "green" if last.reason is None else "red"
            done, feedback = printable(last.action), printable(last.feedback)
            console.print(Text.assemble(("Last  ", "bold"), done, ": ", (feedback, colour)))
        if now.text:
            console.print(Text.assemble(("Now   ", "bold"), printable(now.text)))

    def _width(self, rgb: NDArray[np.uint8]) -> int:
        """Characters of the image's width: it takes half of the terminal's lines at most."""
        height, width = map(int, rgb.shape[:2])
        fitting = (self._console.height // 2) * 2 * width // height
        return max(2, min(self._settings.picture, self._console.width, fitting))

    def _list(self, view: View, first: int) -> int:
        """Show candidates from number `first` on, and return where the next page begins."""
        page = view.candidates[first : first + self._room(view)]
        width = len(str(len(view.candidates)))
        numbered = (
            Text.assemble((f"{number:>{width}} ", "cyan"), printable(action.text))
            for number, action in enumerate(page, start=first + 1)
        )
        self._console.print(Columns(numbered, column_first=True, padding=(0, 3)))
        shown = f"{first + 1} to {first + len(page)} of {len(view.candidates)}. " if page else ""
        self._console.print(f"{shown}{HINT}", style="dim", highlight=False)
        following = first + len(page)
        return following if following < len(view.candidates) else 0

    def _room(self, view: View) -> int:
        """How many candidates fit under the image."""
        longest = max((len(action.text) for action in view.candidates), default=0)
        columns = max(1, self._console.width // (longest + 8))
        drawn = view.observation.rgb is not None and self._console.color_system is not None
        picture = self._console.height // 2 if drawn and self._settings.picture else 0
        lines = max(3, self._console.height - picture - _LINES)
        return min(self._settings.page, columns * lines)


async def _understand(said: str, view: View) -> Decision | None:
    """Interpret a number of the list, or a text by the environment's parser."""
    if said.isascii() and said.isdecimal():
        index = int(said) - 1
        if not 0 <= index < len(view.candidates):
            return None
        return Decision(view.candidates[index], raw=said)
    action = await view.parse(said)
    return None if action is None else Decision(action, raw=said)


async def _read_line(stream: TextIO) -> str:
    """The next line, or "" at the end. Waits in a daemon thread, which ends with the program."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str] = loop.create_future()

    def deliver(line: str) -> None:
        if not answer.cancelled():
            answer.set_result(line)

    def wait() -> None:
        try:
            line = stream.readline()
        except (OSError, ValueError):  # the terminal is gone
            line = ""
        with contextlib.suppress(RuntimeError):  # the program has ended without an answer
            loop.call_soon_threadsafe(deliver, line)

    threading.Thread(target=wait, name="stdin", daemon=True).start()
    return await answer


def _make(settings: HumanSettings, model: Model | None) -> Agent:
    stdin = sys.stdin or io.StringIO()  # none where it was closed
    if isinstance(stdin, io.TextIOWrapper):
        stdin.reconfigure(errors="replace")  # bytes of another encoding are no action
    return Human(settings, stdin=stdin, console=Console(stderr=True))


REGISTRATION = AgentRegistration(
    name="human",
    summary="asks a person at the terminal",
    settings=HumanSettings,
    make=_make,
    candidates="seen",
)
