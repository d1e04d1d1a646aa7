"""Examples extracted from episodes: question, candidates, answer, reason."""
