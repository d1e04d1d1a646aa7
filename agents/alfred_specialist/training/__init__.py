"""How the parts of the planner are trained; `scripts/train_planner` and `train_reader` call it."""
