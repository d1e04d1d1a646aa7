"""An endpoint that is asked in the way that it takes: learned from its refusals, for the run."""

from __future__ import annotations

from collections.abc import Sequence
from warnings import warn

from inhabit.agents.core import ModelError, RequestError
from inhabit.agents.models.core import Ability, UnsupportedError
from inhabit.agents.models.endpoints.completion import Completion
from inhabit.agents.models.endpoints.endpoint import Endpoint
from inhabit.agents.models.endpoints.refusals import Change, RefusalError, change_for, lacking
from inhabit.agents.models.endpoints.wire import Body, holds_image

_INSTEAD = {
    Ability.TOOLS: "tools are described in the prompt instead",
    Ability.LOGPROBS: "letters are generated instead",
}


class AdaptingEndpoint:
    """Sends requests; what is refused for a field is sent again without it, then and later.

    Every refused request counts towards `budget_calls`. A change is warned of once, and recorded
    with every call that it affects.
    """

    def __init__(self, endpoint: Endpoint, name: str) -> None:
        """Send to `endpoint`, for the model `name`."""
        self._endpoint = endpoint
        self._name = name
        self._changes: list[Change] = []
        self._took_image = False
        self.lacks: dict[Ability, str] = {}
        """Abilities that it was found to lack, with what is done instead."""

    @property
    def notes(self) -> Sequence[str]:
        """What was learned so far, in sentences without a full stop."""
        return (*self._changes, *self.lacks.values())

    def knows(self, change: Change) -> bool:
        """Whether `change` was learned."""
        return change in self._changes

    def learn(self, change: Change) -> None:
        """Make `change` from now on."""
        if change not in self._changes:
            self._changes.append(change)
            warn(f"{self._name}: {change}.", stacklevel=2)

    async def ask(self, body: Body, extra: Body) -> Completion:
        """The answer to `body`, changed as the endpoint wants it.

        Raises:
            UnsupportedError: it turned out to lack tools or letters' probabilities.
            RequestError: it takes no image, and has never taken one.
            ModelError: it refuses something else, or fails as often as it may.
        """
        while True:
            made = tuple(self._changes)  # Another request may learn something meanwhile.
            sent = body
            for change in made:
                sent = change.apply(sent)
            try:
                answer = await self._endpoint.ask(sent, extra)
            except RefusalError as error:
                found = change_for(error, sent, made)
                if found is None:
                    raise self._explained(error, sent) from error
                self.learn(found)
            else:
                self._took_image = self._took_image or holds_image(sent)
                return answer

    def _explained(self, error: RefusalError, sent: Body) -> ModelError | RequestError:
        ability = lacking(error, sent)
        if ability is None or (ability is Ability.IMAGES and self._took_image):
            return error
        if ability is Ability.IMAGES:
            return RequestError(
                f"{self._name} takes no images; it says: {error.said}. Ask it without them: "
                "--set image=false for chat, --sight none for any agent; or start the server "
                "with a model that sees."
            )
        why = f"the endpoint refuses {ability.value} ({error.said}): {_INSTEAD[ability]}"
        if ability not in self.lacks:
            self.lacks[ability] = why
            warn(f"{self._name}: {why}.", stacklevel=2)
        return UnsupportedError(f"{self._name}: {why}.", ability)
