"""Sets and runs in the forms that other people's training code reads."""
