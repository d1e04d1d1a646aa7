"""What a model is sent: the goal, the history and this moment."""
