"""A model of some hundred thousand weights that ranks actions after the notes of an episode."""
