"""`inhabit validate`: whether an environment can be trusted to train or to measure with."""
