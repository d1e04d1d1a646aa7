"""High-level skills, each of which takes as many low-level steps as needed."""
