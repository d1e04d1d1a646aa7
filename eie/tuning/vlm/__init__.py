"""How `inhabit-vlm` is made: episodes with labels, rows of tokens, training, and gates."""
