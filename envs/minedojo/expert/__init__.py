"""Plans for MineDojo's tasks, from the recipes."""
