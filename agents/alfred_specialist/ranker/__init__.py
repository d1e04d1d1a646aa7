"""A ranker with a few hundred thousand weights: scores actions, given the notes of an episode."""
