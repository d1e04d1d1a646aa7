"""How the planner of ALFRED is trained; `train_planner`, `train_reader` and `make_vlm` call it."""
