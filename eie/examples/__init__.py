"""Examples cut out of episodes: question, candidates, answer, reason."""
