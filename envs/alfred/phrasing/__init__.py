"""How people word goals, learnt from ALFRED's training set, for the tasks of EIE."""
