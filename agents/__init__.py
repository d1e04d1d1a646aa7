"""Who decides: planners, and the models they ask."""
