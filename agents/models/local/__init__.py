"""Models of the `transformers` package in this process."""
