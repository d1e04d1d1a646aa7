"""Who decides: agents, and the models they ask."""
