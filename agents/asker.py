"""An agent that asks a model."""

from __future__ import annotations

from agents.core import Agent
from agents.models.core import Model


class Asker(Agent):
    """Has one model, whose budget is its own, and which it lets go of in the end."""

    def __init__(self, model: Model) -> None:
        """Ask `model`."""
        self._model = model

    def check_budget(self) -> None:
        """Raises BudgetError where the model has nothing left to spend."""
        self._model.check_budget()

    async def close(self) -> None:
        """Let go of the model."""
        await self._model.close()
