"""What each recorded action cost that the best one would not have cost."""
