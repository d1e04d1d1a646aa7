"""A second model says an author's goals again, in plain steps that can be checked.

It sees neither the scene nor what the goal is wanted to mean, so it can't say what is hoped for.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from inhabit.agents.core import ModelError
from inhabit.agents.dialogue.answer import without_thoughts
from inhabit.agents.models.core import Message, Model
from inhabit.eie.checking.meaning import changing_words, unknown_words
from inhabit.eie.making.author import SilentAuthorError
from inhabit.eie.making.llm_author import out_of_reach
from inhabit.envs.template import Template

_SAMPLED = 24
"""Tasks whose steps show how steps are worded."""
_LONGEST = 1200
"""Maximum number of tokens of an answer: a model may think first."""
_ORDER = (
    "You say instructions for an agent again in plain steps, for somebody who checks "
    "them. Answer with one line: the steps in the order in which they are to be done, with a comma "
    'and "then" between steps whose order the instruction fixes, and "and" between others. Word '
    "them like the samples wherever they say the same. Keep every number, negation, condition and "
    "exception, the place that a thing is to be taken from, when and how long something is to be "
    "done, and everything else that is asked for, in the instruction's own words. Leave out "
    "politeness, reasons, deadlines, and words that change nothing. Add nothing that is not asked "
    "for."
)
_REWORD = (
    "Somebody who checks these steps does not know these words: {words}. Say the steps again. "
    "Replace such a word by a name of the list or by a wording of the samples that means the same, "
    "and leave it out if it asks for nothing. Keep it if it changes what is to be done, with what, "
    "where, when, how often or for how long. Answer with one line."
)
_COMPARE = (
    "You compare an instruction for an agent with steps that somebody made of it. Do the "
    "steps leave out or change anything that the instruction asks for, forbids, counts, or makes "
    "depend on something? Politeness, reasons and deadlines do not matter. Answer "
    "with one word: yes or no."
)


@dataclass(slots=True)
class GoalReading:
    """A goal as a second model says it."""

    text: str = ""
    """The goal in plain steps."""
    incomplete: bool = False
    """Whether the model says that the steps leave something of the goal out."""
    tokens: Counter[str] = field(default_factory=Counter)
    """Tokens used: "in" and "out"."""


class GoalReader:
    """Asks a model to say goals again."""

    def __init__(self, template: Template, model: Model) -> None:
        """Read goals of the environment of `template`; `close` closes `model`."""
        self._model = model
        self._lexicon = template.lexicon
        self._samples = _samples(template)
        names = ", ".join(sorted(template.lexicon.kinds))
        self._told = f"Sample steps, one a line:\n{self._samples}\n\nNames: {names}."
        self._answered = False

    async def read(self, goal: str, seed: int) -> GoalReading:
        """Say a goal again.

        Where the steps have words that no scene explains, the model is asked to do without them.
        Then, and where they lack a word of the goal that may change its meaning, such as "not", it
        is asked whether they leave anything out.

        Raises:
            SilentAuthorError: the model did not answer.
            ModelError: it can't be asked any more.
        """
        reading, instruction = GoalReading(), f"Instruction: {json.dumps(goal, ensure_ascii=False)}"
        prompt = [_ORDER, f"{self._told}\n\n{instruction}"]
        reading.text = _steps(await self._ask(prompt, seed, reading))
        unknown = unknown_words(reading.text, self._lexicon, self._samples)
        if unknown:
            prompt += [
                reading.text,
                _REWORD.format(words=json.dumps(unknown, ensure_ascii=False)[1:-1]),
            ]
            reading.text = _steps(await self._ask(prompt, seed, reading))
        if unknown or set(changing_words(goal)) - set(changing_words(reading.text)):
            steps = f"{instruction}\nSteps: {json.dumps(reading.text, ensure_ascii=False)}"
            answer = await self._ask([_COMPARE, steps], seed, reading)
            reading.incomplete = {*re.findall(r"\b(?:yes|no)\b", answer.lower())} != {"no"}
        return reading

    async def _ask(self, said: Sequence[str], seed: int, reading: GoalReading) -> str:
        """The answer on one line to an order, and to what both sides said in turn after it.

        Its tokens are added to those of `reading`.
        """
        prompt = [
            Message("assistant" if n % 2 == 0 else "user", (text,)) for n, text in enumerate(said)
        ]
        prompt[0] = Message("system", (said[0],))
        try:
            answer = await self._model.generate(prompt, max_tokens=_LONGEST, seed=seed)
        except ModelError as error:
            if out_of_reach(error, answered=self._answered):
                raise
            raise SilentAuthorError(f"The reader: {error}", reading.tokens) from error
        self._answered = True
        reading.tokens.update({"in": answer.call.tokens_in, "out": answer.call.tokens_out})
        line = " ".join(without_thoughts(answer.texts[0] if answer.texts else "").split())
        if answer.call.finish == "length":
            raise SilentAuthorError("The reader did not finish.", reading.tokens)
        if not line:
            raise SilentAuthorError("The reader said nothing.", reading.tokens)
        return line

    async def close(self) -> None:
        """Close the model."""
        await self._model.close()


def _steps(answer: str) -> str:
    """Without what some models put before steps."""
    return re.sub(r"^steps?:\s*|(?:(?<=\s)|^)\d+[.)]\s+", "", answer, flags=re.I)


def _samples(template: Template) -> str:
    """One step for each verb of sampled tasks, as the environment words them, one a line."""
    rng, shown = random.Random("reader"), dict[str, str]()
    for number in range(_SAMPLED):
        for event in template.events(template.seed(rng, f"sample-{number}")):
            verb = re.match(r"turn (?:on|off)\b|\w+", event.wish)
            shown.setdefault(verb[0] if verb else "", event.wish)
    return "\n".join(shown.values())
