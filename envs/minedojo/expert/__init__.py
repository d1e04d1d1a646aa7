"""The expert: plans for MineDojo's tasks by the recipes."""
