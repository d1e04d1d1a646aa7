"""What a model is told of a moment (`prompt.py`), and what its reply means (`answer.py`)."""
