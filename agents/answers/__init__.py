"""What a model said, matched with what can be done."""
