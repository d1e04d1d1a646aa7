"""A second model says an author's goals again, in plain steps that can be checked.

It sees neither the scene nor what the goal is wanted to mean, so it can't say what is hoped for.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace

from inhabit.agents.core import ModelError
from inhabit.agents.dialogue.answer import without_thoughts
from inhabit.agents.models.core import Message, Model
from inhabit.eie.making.author import Author, AuthorReply, AuthorRequest, SilentAuthorError
from inhabit.eie.making.llm_author import out_of_reach
from inhabit.envs.template import Template

_SAMPLED = 24
"""Tasks whose steps show how steps are worded."""
_LONGEST = 1200
"""Maximum number of tokens of an answer: a model may think first."""
_ORDER = (
    "You say instructions for a household robot again in plain steps, for somebody who checks "
    "them. Answer with one line: the steps in the order in which they are to be done, with a comma "
    'and "then" between steps whose order the instruction fixes, and "and" between others. Word '
    "them like the samples wherever they say the same. Keep every number, negation, condition, "
    "exception and time, and everything else that is asked for, in the instruction's own words. "
    "Leave out politeness, reasons, where something is now, and words that change nothing. Add "
    "nothing that is not asked for."
)


class ReadBack(Author):
    """An author whose goals a second model reads."""

    def __init__(self, author: Author, template: Template, reader: Model) -> None:
        """`close` closes both."""
        self._author, self._reader = author, reader
        self._told = f"{_samples(template)}\n\nNames: {', '.join(sorted(template.lexicon.kinds))}."
        self.name, self.takes_feedback = author.name, author.takes_feedback
        self._answered = False

    async def propose(self, request: AuthorRequest) -> AuthorReply:
        """What the author writes, with its goal as the reader says it."""
        reply = await self._author.propose(request)
        goal = reply.raw.get("goal") if isinstance(reply.raw, dict) else None
        if not isinstance(goal, str):
            return reply
        asked = f"{self._told}\n\nInstruction: {json.dumps(goal, ensure_ascii=False)}"
        prompt = [Message("system", (_ORDER,)), Message("user", (asked,))]
        try:
            answer = await self._reader.generate(
                prompt, max_tokens=_LONGEST, seed=2 * request.number + bool(request.feedback)
            )
        except ModelError as error:
            if out_of_reach(error, answered=self._answered):
                raise
            raise SilentAuthorError(f"The reader: {error}", reply.tokens) from error
        self._answered = True
        tokens = Counter(reply.tokens) + Counter(
            {"in": answer.call.tokens_in, "out": answer.call.tokens_out}
        )
        said = " ".join(without_thoughts(answer.texts[0] if answer.texts else "").split())
        if answer.call.finish == "length":
            raise SilentAuthorError("The reader did not finish.", tokens)
        if not said:
            raise SilentAuthorError("The reader said nothing.", tokens)
        return replace(reply, reading=said, tokens=tokens)

    async def close(self) -> None:
        """Close the author and the reader."""
        try:
            await self._author.close()
        finally:
            await self._reader.close()


def _samples(template: Template) -> str:
    """One step for each verb of sampled tasks, as the environment words them."""
    rng, shown = random.Random("reader"), dict[str, str]()
    for number in range(_SAMPLED):
        for event in template.events(template.seed(rng, f"sample-{number}")):
            shown.setdefault(event.wish.partition(" ")[0], event.wish)
    return "Sample steps, one a line:\n" + "\n".join(shown.values())
